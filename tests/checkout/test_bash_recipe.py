"""Bash recipes as the facts they set, for one run of them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchscribe.checkout.bash_recipe import Script, read_script
from benchscribe.schema.errors import StateError

AGENTIC = r"""#!/usr/bin/env bash
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../benchmark_lib.sh"

check_env_vars \
    MODEL \
    TP \
    TOTAL_CPU_DRAM_GB

export ENGINE_FUSED_MOE=1 ENGINE_NAME='a b'
export AIPERF_BENCHMARK_GRACE_PERIOD=30
PORT=${PORT:-8888}
export PORT

# Deep drafts pay only while few requests run.
case "$CONC" in
    1|2) DRAFTS=7; ACCEPTED=3.91 ;;
    4|8|[1][0-6]) DRAFTS=3; ACCEPTED=2.99 ;;
    *) DRAFTS=0 ;;
esac

SERVER_ARGS=(
    --tensor-parallel-size "$TP"   # the whole node
    --max-num-seqs $((CONC * 2))
    --trust-remote-code
)
if (( DRAFTS > 0 )); then
    SPEC="{\"method\":\"mtp\",\"num_speculative_tokens\":$DRAFTS}"
    SERVER_ARGS+=(--speculative-config "$SPEC")
    if [[ "${EVAL_ONLY}" != "true" ]]; then
        SERVER_ARGS+=(--spec-decode-acceptance-length $ACCEPTED)
    fi
fi
if [ "$DP_ATTENTION" = "true" ]; then
    SERVER_ARGS+=(--enable-dp-attention)
elif [[ $TP -le 4 ]]; then
    SERVER_ARGS+=(--small)
fi

if [ "$KV_OFFLOADING" = "dram" ]; then
    export LMCACHE_MAX_LOCAL_CPU_SIZE=256
    SERVER_ARGS+=(--kv-transfer-config '{"kv_connector":"lmcache"}')
fi

cat > engine.yaml <<EOF
max_batch_size: $((CONC * 2))
name: "${MODEL_NAME}"
EOF

start_server() {
    local log=$1
    VLLM_LOGGING=debug vllm serve "$MODEL" --host 0.0.0.0 --port "$PORT" \
        --gpu-memory-utilization=0.9 \
        "${SERVER_ARGS[@]}" $EXTRA_ARGS > "$log" 2>&1 &
}

start_server /tmp/server.log
wait_for_server_ready --port "$PORT"
run_benchmark --duration 3600 || exit 1
"""


def script(text: str) -> Script:
    return read_script(text.encode(), "benchmarks/single_node/agentic/x.sh")


def values(facts: dict[str, object]) -> dict[str, object]:
    return {name: fact.value for name, fact in facts.items()}


@pytest.fixture(scope="module")
def agentic() -> Script:
    return script(AGENTIC)


GIVEN = {"TP": "8", "DP_ATTENTION": "false", "KV_OFFLOADING": "none"}


def test_what_is_written(agentic: Script) -> None:
    assert agentic.problems == ()
    written = {found.name: (found.value, found.line, found.exported) for found in agentic.assignments}
    assert written["AIPERF_BENCHMARK_GRACE_PERIOD"] == ("30", 11, True)
    assert written["ENGINE_NAME"] == ("a b", 10, True)
    assert written["PORT"] == (None, 12, False)
    assert written["VLLM_LOGGING"] == ("debug", 52, True)
    assert [found.value for found in agentic.assignments if found.name == "DRAFTS"] == ["7", "3", "0"]
    assert agentic.exports == {
        "ENGINE_FUSED_MOE",
        "ENGINE_NAME",
        "AIPERF_BENCHMARK_GRACE_PERIOD",
        "PORT",
        "LMCACHE_MAX_LOCAL_CPU_SIZE",
        "VLLM_LOGGING",
    }
    assert agentic.requires == {"MODEL", "TP", "TOTAL_CPU_DRAM_GB"}


def test_what_is_read(agentic: Script) -> None:
    assert {"CONC", "TP", "EVAL_ONLY", "KV_OFFLOADING", "DRAFTS", "SERVER_ARGS", "EXTRA_ARGS"} <= agentic.reads
    for only_set in ("AIPERF_BENCHMARK_GRACE_PERIOD", "LMCACHE_MAX_LOCAL_CPU_SIZE", "TOTAL_CPU_DRAM_GB"):
        assert only_set not in agentic.reads


def test_flags_as_written(agentic: Script) -> None:
    flags = {fact.name: (fact.value, fact.line) for fact in agentic.flags}
    assert flags["--gpu-memory-utilization"] == ("0.9", 53)
    assert flags["--trust-remote-code"] == ("", 25)
    assert flags["--max-num-seqs"] == (None, 24)
    assert flags["--kv-transfer-config"] == ('{"kv_connector":"lmcache"}', 42)


@pytest.mark.parametrize(
    ("concurrency", "drafts", "accepted", "seqs"),
    [
        (1, "7", "3.91", "2"),
        (2, "7", "3.91", "4"),
        (8, "3", "2.99", "16"),
        (12, "3", "2.99", "24"),
        (64, "0", None, "128"),
    ],
)
def test_a_run_at_one_concurrency(
    agentic: Script, concurrency: int, drafts: str, accepted: str | None, seqs: str
) -> None:
    facts = agentic.per_concurrency(concurrency, environment=GIVEN)
    assert facts.variables["DRAFTS"].value == drafts
    server = facts.server
    assert server is not None
    assert server.line == 52
    assert [(fact.name, fact.value) for fact in server.env] == [("VLLM_LOGGING", "debug")]
    flags = values(server.flags)
    assert flags["max-num-seqs"] == seqs
    assert flags["tensor-parallel-size"] == "8"
    assert flags.get("spec-decode-acceptance-length") == accepted
    assert flags["gpu-memory-utilization"] == "0.9"
    assert flags["port"] is None
    assert flags["host"] == "0.0.0.0"
    assert "enable-dp-attention" not in flags
    assert "small" not in flags
    assert facts.heredocs[0].text is None


def test_an_eval_leaves_the_forced_length_out(agentic: Script) -> None:
    facts = agentic.per_concurrency(2, eval_only=True, environment=GIVEN)
    assert facts.flag("spec-decode-acceptance-length") is None
    spoken = facts.flag("speculative_config")
    assert spoken is not None
    assert (spoken.value, spoken.line) == ('{"method":"mtp","num_speculative_tokens":7}', 29)


def test_what_the_environment_decides(agentic: Script) -> None:
    given = {**GIVEN, "DP_ATTENTION": "true", "KV_OFFLOADING": "dram", "MODEL_NAME": "m", "EXTRA_ARGS": "--one --two 2"}
    facts = agentic.per_concurrency(4, environment=given)
    assert facts.flag("enable-dp-attention") is not None
    assert facts.exports["LMCACHE_MAX_LOCAL_CPU_SIZE"].value == "256"
    assert facts.exports["LMCACHE_MAX_LOCAL_CPU_SIZE"].line == 41
    server = facts.server
    assert server is not None
    assert values(server.flags)["two"] == "2"
    assert facts.heredocs[0].text == 'max_batch_size: 8\nname: "m"\n'


def test_what_nothing_decides_is_not_known(agentic: Script) -> None:
    facts = agentic.per_concurrency(4)
    for name in ("enable-dp-attention", "small", "kv-transfer-config", "tensor-parallel-size"):
        fact = facts.flag(name)
        assert fact is not None
        assert fact.value is None
    assert facts.exports["LMCACHE_MAX_LOCAL_CPU_SIZE"].value is None
    assert facts.exports["ENGINE_FUSED_MOE"].value == "1"
    found = facts.flag("max-num-seqs")
    assert found is not None and found.value == "8"


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("X=1\nX=2\n", "X", "2"),
        ("X=a\nX+=b\n", "X", "ab"),
        ("X=\n", "X", ""),
        ("Y='a b'; X=$Y\n", "X", "a b"),
        ('Y=7; X="v${Y}w"\n', "X", "v7w"),
        ('X="a\\"b\\$c\\\\"\n', "X", 'a"b$c\\'),
        ("X=a\\ b\n", "X", "a b"),
        ("Y=; X=${Y:-d}\n", "X", "d"),
        ("Y=; X=${Y-d}\n", "X", ""),
        ("Y=q; X=${Y:+set}\n", "X", "set"),
        ("X=${NEVER:-d}\n", "X", None),
        ("X=$(nproc)\n", "X", None),
        ("Y=abc; X=${Y%c}\n", "X", None),
        ("X=$((2 + 3 * 4))\n", "X", "14"),
        ("X=$(( (CONC + 1) / 2 ))\n", "X", "4"),
        ("X=$(( CONC > 4 ? 1 : 2 ))\n", "X", "1"),
        ("X=$((1 / 0))\n", "X", None),
        ("X=$((-7 % 3))\n", "X", "-1"),
        ("X=$((08))\n", "X", None),
        ("X=1; unset X\n", "X", None),
        ("X=1; read -r X\n", "X", None),
        ("X=1; printf -v X '%s' a\n", "X", None),
        ('X=1; eval "$Z"\n', "X", None),
        ("X=1; (( X++ ))\n", "X", None),
        ("X=1; (X=2)\n", "X", "1"),
        ("X=1; echo a | while read -r y; do X=2; done\n", "X", "1"),
        ("[[ $CONC -eq 8 ]] && X=yes || X=no\n", "X", "yes"),
        ("[[ $CONC -ne 8 ]] && X=yes || X=no\n", "X", "no"),
        ("X=1; [[ $Z == a ]] && X=2\n", "X", None),
        ("X=1; [[ $Z == a ]] && X=1\n", "X", "1"),
        ("[ $CONC -ge 8 ] && [ $CONC -lt 9 ] && X=in\n", "X", "in"),
        ("if ! [[ $CONC == 8 ]]; then X=a; else X=b; fi\n", "X", "b"),
        ("if [[ $CONC == 8 || $Z == 1 ]]; then X=a; fi\n", "X", "a"),
        ("if [[ $CONC == 9 && $Z == 1 ]]; then X=a; else X=b; fi\n", "X", "b"),
        ("if [[ -z $Z ]]; then X=a; else X=b; fi\n", "X", None),
        ("if curl -s x; then X=a; else X=a; fi\n", "X", "a"),
        ("if curl -s x; then X=a; else exit 1; fi\n", "X", "a"),
        ("X=1; curl -s x || exit 1\n", "X", "1"),
        ("X=1; exit 0; X=2\n", "X", "1"),
        ("case $CONC in 4) X=a;; [5-9]) X=b;; *) X=c;; esac\n", "X", "b"),
        ("case $CONC in 4) X=a;; esac; : ${X}\n", "X", None),
        ('case "$Z" in 4) X=a;; *) X=c;; esac\n', "X", None),
        ('case "$Z" in 4) X=a;; *) X=a;; esac\n', "X", "a"),
        ('case x in "*") X=a;; x*) X=b;; esac\n', "X", "b"),
        ("X=0; for i in 1 2 3; do X=$((X + i)); done\n", "X", "6"),
        ("X=0; for i in $Z; do X=$((X + 1)); done\n", "X", None),
        ("X=0; for i in 1 2; do X=5; break; done\n", "X", None),
        ("X=0; while true; do X=1; done\n", "X", None),
        ("f() { X=in; }\nX=out; f\n", "X", "in"),
        ("f() { local X=in; }\nX=out; f\n", "X", "out"),
        ("f() { return 1; X=never; }\nX=out; f; Y=1\n", "X", "out"),
        ("exec > log 2>&1\nX=1\n", "X", "1"),
        ("X=1 some command\n", "X", None),
        ("X=${CONC}\n", "X", "8"),
    ],
)
def test_single_statements(text: str, name: str, expected: str | None) -> None:
    facts = script(text).per_concurrency(8)
    found = facts.variables.get(name)
    assert (found.value if found else None) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('A=(--x 1)\nA+=(--y)\nvllm serve m "${A[@]}"\n', {"x": "1", "y": ""}),
        ('A=(vllm serve m)\n"${A[@]}" --x=1\n', {"x": "1"}),
        ("vllm serve m --sizes 1 2 4 --last\n", {"sizes": "1 2 4", "last": ""}),
        ("vllm serve m --x 1 --x 2\n", {"x": "2"}),
        ("vllm serve m --x -1\n", {"x": "-1"}),
        ('vllm serve m --x ""\n', {"x": ""}),
        ("vllm serve m --x 1 $EXTRA\n", {"x": "1"}),
        ("vllm serve m --x 1 2 $EXTRA\n", {"x": None}),
        ("vllm serve m --x $EXTRA --y\n", {"x": None, "y": ""}),
        ('vllm serve m --x="$Z" --y 1\n', {"x": None, "y": "1"}),
        ('A=()\n[[ $Z == 1 ]] && A+=(--x 1)\nvllm serve m "${A[@]}" --y 2\n', {"x": None, "y": "2"}),
        ('A=(--x 1)\n[[ $Z == 1 ]] && A=(--y 2)\nvllm serve m "${A[@]}"\n', {"x": None, "y": None}),
        ('A=(--x 1)\nfor i in $Z; do A+=(--y $i); done\nvllm serve m "${A[@]}"\n', {"x": "1", "y": None}),
        ('A=(--x 1)\nA[0]=--y\nvllm serve m "${A[@]}" --z 1\n', {"z": "1"}),
        ('set -- --x 1\nvllm serve m "$@"\n', {"x": "1"}),
        ("python3 -m sglang.launch_server --tp_size 8 2>&1 | tee log\n", {"m": "sglang.launch_server", "tp-size": "8"}),
        ("/usr/bin/trtllm-serve m --max_batch_size 4 &\n", {"max-batch-size": "4"}),
        ("nohup vllm serve m --x 1 > log 2>&1 &\n", {"x": "1"}),
        ("if curl -s a; then vllm serve m --x 1; fi\n", {"x": None}),
    ],
)
def test_flags_of_the_server(text: str, expected: dict[str, str | None]) -> None:
    server = script(text).per_concurrency(8).server
    assert server is not None
    assert values(server.flags) == expected


def test_two_servers_are_not_chosen_between() -> None:
    facts = script("vllm serve a --x 1\nvllm serve b --x 2\n").per_concurrency(1)
    assert facts.server is None
    assert len([command for command in facts.commands if command.serves]) == 2


def test_a_server_in_each_of_two_unknown_branches() -> None:
    text = "if [[ $Z == 1 ]]; then vllm serve m --x 1; else vllm serve m --y 2; fi\n"
    facts = script(text).per_concurrency(1)
    assert facts.server is None
    assert [command.certain for command in facts.commands] == [False, False]


def test_other_commands_have_flags_too() -> None:
    facts = script("lmcache server --l1-size-gb 1000 --port 5555 &\nvllm serve m --x 1\n").per_concurrency(1)
    assert values(facts.commands[0].flags) == {"l1-size-gb": "1000", "port": "5555"}
    assert facts.flag("l1-size-gb") is None


def test_quoted_heredoc_is_literal() -> None:
    facts = script("cat <<'EOF' > x\na: $CONC\nEOF\n").per_concurrency(1)
    assert [(found.text, found.line) for found in facts.heredocs] == [("a: $CONC\n", 2)]


def test_what_is_no_bash_is_listed_and_the_rest_read() -> None:
    found = script("X=1\nif [[ $X == 1 ]; then\nY=2\n")
    assert found.problems
    assert found.assignments[0].name == "X"
    assert script("").per_concurrency(1).variables == {}


def test_endless_scripts_end() -> None:
    assert script("f() { f; }\nX=1; f\n").per_concurrency(1).variables["X"].value is None
    calls = "; ".join(["g"] * 40)
    functions = "\n".join(f"f{n}() {{ {calls.replace('g', f'f{n + 1}')}; }}" for n in range(8))
    with pytest.raises(StateError, match="too often"):
        script(f"{functions}\nf0\n").per_concurrency(1)
    deep = "if true; then " * 3000 + ":" + "; fi" * 3000
    with pytest.raises(StateError, match="nested too deeply"):
        script(deep).per_concurrency(1)


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=300) | st.text(alphabet="$(){}[]<>|&;\"'\\ \nabX=1if thenfido", max_size=120).map(str.encode))
def test_any_bytes_are_survived(data: bytes) -> None:
    found = read_script(data, "x.sh")
    assert all(line > 0 for line in found.problems)
    facts = found.per_concurrency(4)
    assert all(fact.line > 0 for fact in facts.variables.values())
    assert found.reads is not None and found.flags is not None and found.exports is not None


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=0x2FF, exclude_characters="'"), max_size=40))
def test_single_quotes_keep_every_character(text: str) -> None:
    facts = script(f"X='{text}'\nvllm serve m --x '{text}'\n").per_concurrency(1)
    assert facts.variables["X"].value == text
