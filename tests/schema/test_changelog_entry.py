"""The changelog entry: canonical text, tolerant reading, links."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from benchscribe.schema.changelog import (
    PULL_REQUESTS,
    Entry,
    entry_problems,
    is_accepted_link,
    is_placeholder,
    link_number,
    parse_entry,
    pull_request_link,
    quoted,
    render,
)
from benchscribe.schema.errors import UsageError
from benchscribe.schema.yaml_text import YamlTextError

LINK = "https://github.com/SemiAnalysisAI/InferenceX/pull/4308"
ENTRY = Entry(("glm5.2-fp4-mi355x-atom-agentic-mtp",), ("New image.",), LINK)


def entry(**changes: object) -> Entry:
    fields = {"config_keys": ("a-b",), "description": ("Text.",), "pr_link": LINK}
    return Entry(**{**fields, **changes})  # type: ignore[arg-type]


def test_the_canonical_text_has_its_fields_in_order_and_its_flags_behind_the_link() -> None:
    full = Entry(
        config_keys=("glm5.2-fp4-*", "70b-fp8-h200-vllm"),
        description=("First.", "Second."),
        pr_link=LINK,
        scenario_type=("agentic-coding",),
        flags=(("eval-min-prefill-ep", 4), ("evals-only", True)),
    )
    assert render(full) == (
        "- config-keys:\n"
        "    - glm5.2-fp4-*\n"
        "    - 70b-fp8-h200-vllm\n"
        "  scenario-type:\n"
        "    - agentic-coding\n"
        "  description:\n"
        '    - "First."\n'
        '    - "Second."\n'
        f"  pr-link: {LINK}\n"
        "  evals-only: true\n"
        "  eval-min-prefill-ep: 4\n"
    )


@pytest.mark.parametrize(
    ("prose", "line"),
    [
        ("both \"quotes\" and 'these'", r'''    - "both \"quotes\" and 'these'"'''),
        ("a \\ backslash", r'    - "a \\ backslash"'),
        ("TP4: C1 # no comment", '    - "TP4: C1 # no comment"'),
        ("基准测试 🚀 fast", '    - "基准测试 🚀 fast"'),
        (" blanks around ", '    - " blanks around "'),
        ("next\x85line", r'    - "next\x85line"'),
        ("line\u2028sep\u2029par\ufeffbom", r'    - "line\u2028sep\u2029par\uFEFFbom"'),
        ("right\u202eto left", r'    - "right\u202Eto left"'),
        ("del\x7f", r'    - "del\x7F"'),
        ("not a character \U0010ffff", r'    - "not a character \U0010FFFF"'),
        ("", '    - ""'),
    ],
)
def test_prose_is_double_quoted_on_one_line(prose: str, line: str) -> None:
    assert render(entry(description=(prose,))).split("\n")[3] == line
    assert YAML(typ="safe").load(render(entry(description=(prose,))))[0]["description"] == [prose]


def test_a_long_description_stays_on_one_line() -> None:
    prose = "Raise the concurrency list of the DEP8 arm, see 说明. " * 100
    lines = render(entry(description=(prose,))).split("\n")
    assert len(prose) > 4000
    assert lines[3] == f'    - "{prose}"'
    assert len(lines) == 6


@pytest.mark.parametrize("character", ["\n", "\r", "\t", "\0", "\x1b", "\ud800"])
@pytest.mark.parametrize("field", ["config_keys", "scenario_type", "description", "pr_link"])
def test_what_one_line_cannot_carry_is_refused_with_its_place(character: str, field: str) -> None:
    text = f"ab{character}- config-keys:"
    with pytest.raises(UsageError, match=f"U\\+{ord(character):04X} at position 3"):
        render(entry(**{field: text if field == "pr_link" else (text,)}))


@pytest.mark.parametrize("key", ["*", "1e5", "true", "null", "a: b", "a #b", "", "0x1f", "- a", "é"])
def test_a_key_that_would_read_as_something_else_is_quoted(key: str) -> None:
    text = render(entry(config_keys=(key,)))
    assert text.split("\n")[1].startswith('    - "')
    assert YAML(typ="safe").load(text)[0]["config-keys"] == [key]


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters=list(map(chr, range(32)))), max_size=200))
@settings(max_examples=150, deadline=None)
def test_any_prose_comes_back_as_it_was(prose: str) -> None:
    text = render(entry(description=(prose, "second")))
    assert text.count("\n") == 6
    assert YAML(typ="safe", pure=True).load(text)[0]["description"] == [prose, "second"]
    assert parse_entry(text) == entry(description=(prose, "second"))
    assert entry_problems(text) == ()


def test_what_no_entry_may_have_is_not_rendered() -> None:
    with pytest.raises(UsageError, match="no field `colour`"):
        render(entry(unknown=(("colour", "red"),)))
    with pytest.raises(UsageError, match="no field `evals`"):
        render(entry(flags=(("evals", True),)))
    with pytest.raises(UsageError, match="at least one item in `description`"):
        render(entry(description=()))
    with pytest.raises(UsageError, match="at least one item in `config-keys`"):
        render(entry(config_keys=()))


def test_a_hand_written_block_is_read_as_meant() -> None:
    read = parse_entry(
        b"- config-keys:\n"
        b"  # NVIDIA\n"
        b"  - a-b\n"
        b"  description:\n"
        b"  - Image: new one\n"
        b"  - 'it''s ''fine'''\n"
        b"  - 0.60\n"
        b"  append-only: true\n"
        b"  pr-link:\n"
        b"    https://github.com/SemiAnalysisAI/InferenceX/pull/12\n"
        b"  colour: {red: 1}\n"
    )
    assert read == Entry(
        config_keys=("a-b",),
        description=("Image: new one", "it's 'fine'", "0.60"),
        pr_link=f"{PULL_REQUESTS}12",
        flags=(("append-only", True),),
        unknown=(("colour", {"red": 1}),),
    )
    assert read.flag("append-only") is True
    assert read.flag("no-evals") is None


@pytest.mark.parametrize("text", ["- a\n- b\n", "config-keys: [a]\n", "", "- x: [\n", b"- config-keys:\n    - \xff\n"])
def test_a_block_that_is_no_entry_is_refused(text: str | bytes) -> None:
    with pytest.raises(YamlTextError):
        parse_entry(text)
    assert len(entry_problems(text)) == 1


def problems(text: str, **options: object) -> list[tuple[int, str, str]]:
    return [(p.line, p.field, p.what) for p in entry_problems(text, **options)]  # type: ignore[arg-type]


def test_the_problems_of_an_entry_are_named_with_their_lines() -> None:
    text = (
        "- config-keys:\n"  # 1
        "    - a\n"
        "  descriptions:\n"  # 3
        '    - "x"\n'
        f"  pr-link: {LINK}\n"
        "  scenario-type:\n"  # 6
        "    - agentic\n"
        f"  pr-link: {LINK}\n"  # 8
        "  append-only: 1\n"  # 9
        "  eval-min-prefill-ep: 0\n"  # 10
    )
    assert problems(text) == [
        (1, "description", "`description` is missing"),
        (3, "descriptions", "`descriptions` is no field of a changelog entry"),
        (6, "scenario-type", "`scenario-type` is out of order"),
        (7, "scenario-type", "no scenario type `agentic`"),
        (8, "pr-link", "`pr-link` stands twice"),
        (9, "append-only", "`append-only` is true or false"),
        (10, "eval-min-prefill-ep", "`eval-min-prefill-ep` is a whole number from 1"),
    ]
    assert entry_problems(text)[1].hint == "did you mean `description`?"


def test_flags_that_exclude_each_other_are_named() -> None:
    def flags(*lines: str) -> str:
        return render(entry()) + "".join(f"  {line}\n" for line in lines)

    assert problems(flags("append-only: true", "evals-only: true")) == [
        (7, "evals-only", "`append-only` excludes `evals-only`")
    ]
    assert problems(flags("all-evals: true", "no-evals: true")) == [(6, "all-evals", "`no-evals` excludes `all-evals`")]
    assert problems(flags("evals-only: true", "eval-min-prefill-ep: 2")) == []
    assert problems(flags("append-only: true", "evals-only: false")) == []


def test_a_layout_knows_its_own_flags_only() -> None:
    root = ("append-only", "evals-only", "all-evals", "eval-min-prefill-ep")
    text = render(entry(flags=(("no-evals", True),)))
    assert problems(text) == []
    assert problems(text, flags=root) == [(6, "no-evals", "`no-evals` is no field of a changelog entry")]


def test_types_in_lists_are_judged() -> None:
    text = f"- config-keys: a\n  description:\n    - Image: new\n    - yes\n  pr-link: {LINK}\n"
    assert [(line, field) for line, field, _ in problems(text)] == [
        (1, "config-keys"),
        (3, "description"),
        (3, "description"),
    ]


def test_links() -> None:
    assert pull_request_link(4308) == LINK
    assert pull_request_link(None) == "https://github.com/SemiAnalysisAI/InferenceX/pull/XXX"
    with pytest.raises(UsageError):
        pull_request_link(0)


@pytest.mark.parametrize(
    ("link", "number", "accepted", "placeholder"),
    [
        (f"{PULL_REQUESTS}4308", 4308, True, False),
        (f"{PULL_REQUESTS}XXX", None, True, True),
        ("XXX", None, True, True),
        (f"{PULL_REQUESTS}2305/changes", 2305, False, False),
        (f"{PULL_REQUESTS}TBD", None, False, False),
        (f"{PULL_REQUESTS}PLACEHOLDER", None, False, False),
        (f"{PULL_REQUESTS}xxxx", None, False, False),
        (f"{PULL_REQUESTS}xxx", None, False, False),
        (f"{PULL_REQUESTS}YYYY", None, False, False),
        (f"{PULL_REQUESTS}XXXX", None, False, False),
        (f"{PULL_REQUESTS}", None, False, False),
        (f"{PULL_REQUESTS}0", None, False, False),
        (f"{PULL_REQUESTS}12 ", 12, False, False),
        (f"{PULL_REQUESTS}12\n", 12, False, False),
        ("https://github.com/someone/InferenceX/pull/3", None, False, False),
        ("http://github.com/SemiAnalysisAI/InferenceX/pull/3", None, False, False),
        ("", None, False, False),
    ],
)
def test_what_a_link_says(link: str, number: int | None, accepted: bool, placeholder: bool) -> None:
    assert (link_number(link), is_accepted_link(link), is_placeholder(link)) == (
        number,
        accepted,
        placeholder,
    )


def test_quoting_names_the_field() -> None:
    with pytest.raises(UsageError, match=r"`notes\[1\]`"):
        quoted("a\nb", "notes[1]")


def test_every_real_entry_survives_reading_and_rendering(shared) -> None:  # type: ignore[no-untyped-def]
    text = (shared / "upstream/root/perf-changelog.yaml").read_text(encoding="utf-8")
    blocks = text.split("\n- config-keys:")
    for block in [blocks[0], *("- config-keys:" + rest for rest in blocks[1:])]:
        read = parse_entry(block)
        assert entry_problems(block) == ()
        assert parse_entry(render(read)) == read


def test_the_newest_real_entries_are_already_canonical(shared) -> None:  # type: ignore[no-untyped-def]
    text = (shared / "upstream/root/perf-changelog.yaml").read_text(encoding="utf-8")
    for rest in text.split("\n- config-keys:")[-60:]:
        block = "- config-keys:" + rest.rstrip() + "\n"
        assert render(parse_entry(block)) == block
