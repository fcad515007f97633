"""Variables that the harness owns and nothing reads (C02), and those that are nobody's business."""

from __future__ import annotations

from pathlib import Path

import pytest
from branches import findings, make_branch
from small_checkout import entry, master, root

LIB = {
    "benchmarks/benchmark_lib.sh": '#!/usr/bin/env bash\naiperf --grace "${AGENTIC_WARMUP_GRACE_PERIOD:-1800}"\n',
    "utils/agentic/run.py": "import os\nPREFIX = os.environ.get('AIPERF_REQUIRED_SERVER_METRIC_PREFIX')\nos.environ['AGENTIC_WRITTEN_ONLY'] = '1'\n",
}
KEPT = master("- { tp: 8, kv-offloading: none, conc-list: [1] }")
SCRIPT_PATH = "benchmarks/single_node/agentic/glm5.2_fp4_mi355x_atom.sh"
SCRIPT = "#!/usr/bin/env bash\nexport AGENTIC_OLD_AND_DEAD=1\n"


def branch(tmp_path: Path, line: str, lib: dict[str, str] | None = None) -> Path:
    more = {**(LIB if lib is None else lib), SCRIPT_PATH: SCRIPT}
    return make_branch(
        tmp_path, root(KEPT, more=more), {**root(KEPT, entry("Set a variable.")), SCRIPT_PATH: SCRIPT + line}
    )


def test_c02_a_dead_name_with_the_one_that_was_meant(tmp_path: Path) -> None:
    path = branch(tmp_path, "\nexport AIPERF_BENCHMARK_GRACE_PERIOD=30\n")
    (found,) = findings(path, "harness-variable")
    assert (found.path, found.line, found.text) == (SCRIPT_PATH, 4, "AIPERF_BENCHMARK_GRACE_PERIOD")
    assert found.message == (
        "nothing in this checkout reads AIPERF_BENCHMARK_GRACE_PERIOD; did you mean AGENTIC_WARMUP_GRACE_PERIOD, "
        "which is read at benchmarks/benchmark_lib.sh:2?"
    )


def test_a_default_for_itself_is_no_read_and_neither_is_writing(tmp_path: Path) -> None:
    lines = 'export AGENTIC_SOMETHING="${AGENTIC_SOMETHING:-1}"\nexport AGENTIC_WRITTEN_ONLY=1\n'
    found = findings(branch(tmp_path, lines), "harness-variable")
    assert [one.text for one in found] == ["AGENTIC_SOMETHING", "AGENTIC_WRITTEN_ONLY"]


@pytest.mark.parametrize(
    "line",
    [
        "export AGENTIC_WARMUP_GRACE_PERIOD=3600",
        "export AIPERF_REQUIRED_SERVER_METRIC_PREFIX=atom:",
        "export AIPERF_HTTP_TCP_USER_TIMEOUT=900000",
        "export AIPERF_SERVICE_REGISTRATION_TIMEOUT=30",
        "export VLLM_NOTHING_READS_ME=1 ATOM_MONO_ENABLE=1",
        "# export AIPERF_BENCHMARK_GRACE_PERIOD=30",
        'export AGENTIC_LOCAL=3\npython3 client.py --local "$AGENTIC_LOCAL"',
    ],
)
def test_what_is_read_or_somebody_elses_is_quiet(tmp_path: Path, line: str) -> None:
    assert findings(branch(tmp_path, line + "\n"), "harness-variable") == []


def test_without_files_that_read_any_nothing_is_judged(tmp_path: Path) -> None:
    assert findings(branch(tmp_path, "export AIPERF_BENCHMARK_GRACE_PERIOD=30\n", lib={}), "harness-variable") == []


def test_a_newer_checkout_may_read_it(tmp_path: Path) -> None:
    lib = {**LIB, "utils/new.py": "import os\nos.getenv('AIPERF_BENCHMARK_GRACE_PERIOD')\n"}
    assert findings(branch(tmp_path, "export AIPERF_BENCHMARK_GRACE_PERIOD=30\n", lib=lib), "harness-variable") == []


def test_the_same_in_a_rows_settings_and_in_yaml(tmp_path: Path) -> None:
    rows = (
        "- conc-list: [1]\n  prefill:\n    num-worker: 1\n    tp: 8\n    ep: 1\n    dp-attn: false\n    additional-settings:\n"
        '    - "AIPERF_BENCHMARK_GRACE_PERIOD=30"\n  decode: { num-worker: 0, tp: 8, ep: 1, dp-attn: false }\n'
    )
    recipe = "benchmarks/multi_node/srt-slurm-recipes/r.yaml"
    new = root(
        KEPT + master(rows, key="second", multinode=True),
        entry("Add."),
        more={recipe: "benchmark:\n  env:\n    AGENTIC_DEAD_NAME: '1'\n"},
    )
    found = findings(make_branch(tmp_path, root(KEPT, more=LIB), new), "harness-variable")
    assert sorted(one.text for one in found) == ["AGENTIC_DEAD_NAME", "AIPERF_BENCHMARK_GRACE_PERIOD"]
