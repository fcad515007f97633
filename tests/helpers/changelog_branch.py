"""A small checkout of our own making with an eventful changelog, in either layout, for the changelog's rules."""

from __future__ import annotations

LINK = "https://github.com/SemiAnalysisAI/InferenceX/pull/"
ALPHA, BETA = "alpha-fp4-mi355x-atom-agentic", "beta-fp4-mi355x-atom-agentic"

MASTER = f"""\
{ALPHA}:
  image: rocm/atom:v1
  model: vendor/Alpha
  model-prefix: alpha
  runner: cluster:mi355x-amds
  precision: fp4
  framework: atom
  multinode: false
  scenarios:
    agentic-coding:
    - dram-utilization: 0.60
      search-space:
      - {{ tp: 4, conc-list: [1, 2], kv-offloading: none }}
      - {{ tp: 4, conc-list: [16], kv-offloading: dram, kv-offload-backend: {{ name: lmcache }} }}
    fixed-seq-len:
    - isl: 8192
      osl: 1024
      search-space:
      - {{ tp: 4, conc-list: [4, 8] }}

{BETA}:
  image: rocm/atom:v1
  model: vendor/Beta
  model-prefix: beta
  runner: cluster:mi355x-amds
  precision: fp4
  framework: atom
  multinode: false
  scenarios:
    agentic-coding:
    - search-space:
      - {{ tp: 8, conc-list: [1], kv-offloading: none }}
"""
RUNNERS = "hardware:\n  cluster:mi355x-amds:\n    available-cpu-dram-mib: 3_095_781\n    gpus-per-node: 8\n"


def entry(number: int | str, *keys: str, text: str = "Retune.", more: str = "", scenario: str = "") -> str:
    """An entry's canonical text; `number` may be any ending of the link, or a whole link."""
    is_whole = isinstance(number, str) and (number == "XXX" or number.startswith("https:"))
    link = number if is_whole else f"{LINK}{number}"
    lines = ["- config-keys:", *(f"    - {key}" for key in keys or (ALPHA,))]
    if scenario:
        lines += ["  scenario-type:", f"    - {scenario}"]
    lines += ["  description:", f'    - "{text}"', f"  pr-link: {link}"]
    return "\n".join(lines) + "\n" + more


# As in the real file, empty lines, lines of two spaces, and both stand between old entries.
HISTORY = (
    entry(2643, ALPHA, text="One.")
    + "  \n"
    + entry(2660, BETA, text="Two.")
    + "\n"
    + entry(2639, ALPHA, BETA, text="Three.")
    + "\n  \n"
    + entry(2677, BETA, text="Four.")
)
NEW_IMAGE = MASTER.replace("atom:v1\n  model: vendor/Alpha", "atom:v2\n  model: vendor/Alpha")


def root_files(changelog: str = HISTORY, master: str = MASTER) -> dict[str, str]:
    """A checkout of the layout `root` with the scripts its rows run."""
    scripts = "benchmarks/single_node"
    return {
        "perf-changelog.yaml": changelog,
        "configs/amd-master.yaml": master,
        "configs/runners.yaml": RUNNERS,
        "golden_al_distribution/alpha_mtp.yaml": "alpha:\n  thinking_on:\n    3: 2.50\n",
        f"{scripts}/agentic/alpha_fp4_mi355x_atom.sh": "#!/bin/bash\nserve --tp $TP\n",
        f"{scripts}/agentic/beta_fp4_mi355x_atom.sh": "#!/bin/bash\nserve --tp $TP\n",
        f"{scripts}/fixed_seq_len/alpha_fp4_mi355x_atom.sh": "#!/bin/bash\nserve --tp $TP\n",
    }


SRT = "srt-recipe: benchmarks/single_node/agentic/alpha.yaml"
RECIPE = """\
base:
  engine: atom
  roles:
    agg: { gpus: 4, args: { block-size: 16 }, env: { LMCACHE_MAX_LOCAL_CPU_SIZE: '64' } }

override_c1:
  benchmark: { env: { CONC: '1' } }

override_c2:
  benchmark: { env: { CONC: '2' } }

override_c16:
  benchmark: { env: { CONC: '16', KV_OFFLOADING: dram } }
"""
E2E_MASTER = f"""\
{ALPHA}:
  image: rocm/atom:v1
  model: vendor/Alpha
  model-prefix: alpha
  runner: cluster:mi355x-amds
  precision: fp4
  framework: atom
  multinode: false
  scenarios:
    agentic-coding:
    - dram-utilization: 0.10
      search-space:
      - {{ tp: 4, conc-list: [1, 2], kv-offloading: none, {SRT} }}
      - {{ tp: 4, conc-list: [16], kv-offloading: dram, kv-offload-backend: {{ name: lmcache }}, {SRT} }}
"""


def e2e_files(changelog: str = HISTORY, master: str = E2E_MASTER) -> dict[str, str]:
    """A checkout of the layout `e2e`."""
    root = "inferencex-e2e"
    return {
        f"{root}/perf-changelog.yaml": changelog,
        f"{root}/configs/amd-master.yaml": master,
        f"{root}/configs/runners.yaml": RUNNERS.replace("hardware:", "clusters:").replace("cluster:mi355x", "mi355x"),
        f"{root}/infx/matrix/generate.py": "MAX_AGENTIC_AVAILABLE_CPU_DRAM_MIB = 2_861_022\n",
        f"{root}/benchmarks/single_node/agentic/alpha.yaml": RECIPE,
    }
