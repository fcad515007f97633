"""Small checkouts of our own making in either layout, as files, for the tests of claims and rules."""

from __future__ import annotations

import json

LINK = "https://github.com/SemiAnalysisAI/InferenceX/pull/"
OLD_ENTRY = f'- config-keys:\n    - kept\n  description:\n    - "One."\n  pr-link: {LINK}1\n'
RUNNERS_ROOT = """\
labels:
  mi355x: [mi355x_0]
hardware:
  cluster:mi355x-amds:
    available-cpu-dram-mib: 3_095_781
    gpus-per-node: 8
  mi355x:
    available-cpu-dram-mib: 3_095_781
    gpus-per-node: 8
"""
RUNNERS_E2E = """\
labels:
  mi355x: [mi355x_0]
clusters:
  mi355x-amds:
    available-cpu-dram-mib: 3_095_781
    gpus-per-node: 8
"""
# GLM-5.2 MTP and DeepSeek-V4-Pro MTP, source: FACTS §5.
GLM_CURVE = "glm-5.2:\n  thinking_on:\n    1: 1.84\n    2: 2.50\n    3: 2.99\n    4: 3.33\n    5: 3.61\n"
DSV4_CURVE = "deepseek-v4-pro:\n  thinking_on:\n    2: 2.27\n    3: 2.49\n"


def entry(*lines: str, keys: tuple[str, ...] = ("key",), flags: str = "") -> str:
    """One changelog entry of the branch."""
    named = "".join(f"    - {key}\n" for key in keys)
    told = "".join(f"    - {json.dumps(line, ensure_ascii=False)}\n" for line in lines)
    return f"- config-keys:\n{named}  description:\n{told}  pr-link: {LINK}XXX\n{flags}"


def master(
    rows: str,
    *,
    key: str = "key",
    image: str = "rocm/atom-dev:nightly_202608201032",
    framework: str = "atom",
    model: str = "amd/GLM-5.2-MXFP4",
    prefix: str = "glm5.2",
    runner: str = "cluster:mi355x-amds",
    precision: str = "fp4",
    utilization: str = "",
    scenario: str = "agentic-coding",
    multinode: bool = False,
    head: str = "",
) -> str:
    """One config key; `rows` are the rows' lines without their indentation."""
    share = f"      dram-utilization: {utilization}\n" if utilization else ""
    lengths = "      isl: 8192\n      osl: 1024\n" if scenario == "fixed-seq-len" else ""
    body = (
        share + lengths + "      search-space:\n" + "".join(f"      {line}\n" for line in rows.strip("\n").split("\n"))
    )
    return (
        f"{head}{key}:\n  image: {image}\n  model: {model}\n  model-prefix: {prefix}\n  runner: {runner}\n"
        f"  precision: {precision}\n  framework: {framework}\n  multinode: {str(multinode).lower()}\n"
        f"  scenarios:\n    {scenario}:\n    - {body[6:]}"
    )


def root(configs: str, *entries: str, more: dict[str, str] | None = None) -> dict[str, str | bytes]:
    """The files of a root checkout."""
    files: dict[str, str | bytes] = {
        "perf-changelog.yaml": "\n".join([OLD_ENTRY, *entries]),
        "configs/amd-master.yaml": configs,
        "configs/nvidia-master.yaml": "",
        "configs/runners.yaml": RUNNERS_ROOT,
        "golden_al_distribution/glm5.2_mtp.yaml": GLM_CURVE,
        "golden_al_distribution/dsv4_mtp.yaml": DSV4_CURVE,
    }
    return {**files, **(more or {})}


def e2e(configs: str, *entries: str, more: dict[str, str] | None = None) -> dict[str, str | bytes]:
    """The files of an e2e checkout, below its project root; so are the paths in `more`."""
    files = {
        "perf-changelog.yaml": "\n".join([OLD_ENTRY, *entries]),
        "configs/amd-master.yaml": configs,
        "configs/nvidia-master.yaml": "",
        "configs/runners.yaml": RUNNERS_E2E,
        "infx/golden_al_distribution/glm5.2_mtp.yaml": GLM_CURVE,
        **(more or {}),
    }
    return {f"inferencex-e2e/{path}": text for path, text in files.items()}


RECIPE = "benchmarks/single_node/srt-slurm-recipes/agentic.yaml"


def recipe(*variants: str, base_args: str = "method: mtp", base: str = "") -> str:
    """A schema-2 ATOM recipe: `base` and the given override blocks."""
    args = "".join(f"        {line}\n" for line in base_args.split("\n"))
    head = "base:\n  schema: 2\n  engine: atom\n" + base + "  roles:\n    agg:\n      nodes: 1\n      args:\n" + args
    return "\n".join([head, *variants])


def variant(
    name: str, gpus: int, conc: int, *, args: str = "num-speculative-tokens: 3", env: str = "", dram: bool = False
) -> str:
    """One override block."""
    told = "".join(f"        {line}\n" for line in args.split("\n"))
    block = f"override_{name}:\n  roles:\n    agg:\n      gpus: {gpus}\n      args:\n{told}"
    if env:
        block += "      env:\n" + "".join(f"        {line}\n" for line in env.split("\n"))
    block += f"  benchmark:\n    env:\n      CONC: '{conc}'\n"
    return block + ("      KV_OFFLOADING: dram\n" if dram else "")
