"""Rule `comment-provenance`: comments that the branch adds do not say where something came from."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..schema.errors import Place
from ..schema.results import Finding, Severity
from .branch_comments import added_comments, changed_sources
from .model import Rule, Subject

_REQUEST = re.compile(
    r"(?<![\w/-])(?:PR|pull request|MR)s?\s*#?\d+|(?<![\w/&.-])#\d{3,6}(?!\w)|SemiAnalysisAI/InferenceX\S*/pull/\d+",
    re.IGNORECASE,
)
_ORIGIN = re.compile(
    r"(?<![\w-])(?:copied|cloned|ported|lifted|borrowed|adapted|taken|inherited|carried over)\s+(?:over\s+)?from"
    r"(?![\w-])"
    r"|(?<![\w-])(?:match(?:es|ing)?|mirror(?:s|ed|ing)?|identical to|same as|as in|aligned with|in line with"
    r"|follow(?:s|ing)|from)\s+"
    r"(?:the\s+|its\s+|our\s+)?(?:[\w.-]+\s+){0,3}?(?:standalone|sibling|original|upstream|reference|official"
    r"|launcher)?\s*"
    r"(?:recipe|script|sibling|cookbook)s?(?![\w-])",
    re.IGNORECASE,
)

_ELSEWHERE = re.compile(
    r"(?:[\w.]+[-/][\w./-]+|vllm|sglang|atom|aiter|dynamo|tensorrt-llm|trtllm|mori|lmcache|mooncake|flashinfer"
    r"|aiperf|pytorch)"
    r"['’s]*\s+(?:upstream\s+)?$|upstream\s+$",
    re.IGNORECASE,
)


def judge(subject: Subject) -> Iterator[Finding]:
    """One finding per comment line that names a pull request, or what something was copied from."""
    for path in changed_sources(subject):
        for number, comment, _ in added_comments(subject, path):
            match = _own_request(comment) or _ORIGIN.search(comment)
            if match:
                message = f"the comment says where it comes from: {match[0]!r}"
                hint = "say why in a word or two, or drop it: the pull request and git blame keep the history"
                yield RULE.finding(Place(path, number), message, hint, text=match[0])


def _own_request(comment: str) -> re.Match[str] | None:
    """A pull request of this repository; `srt-slurm PR #278` is another's."""
    found = (match for match in _REQUEST.finditer(comment) if not _ELSEWHERE.search(comment[: match.start()]))
    return next(found, None)


RULE = Rule(
    id="comment-provenance",
    severity=Severity.WARNING,
    title="comments do not say where something came from",
    explanation=(
        "'from PR 2345' or 'matching the standalone recipe' tells a reader of the config nothing about why a value "
        "is as "
        "it is, and is wrong as soon as the other side changes. A bug of another repository (vllm-project/vllm#123) "
        "is a "
        "reason and left alone. Only comments that the branch adds or rewrites are judged."
    ),
    example_before="max-num-seqs: 4   # matching the standalone recipe (PR 2632)",
    example_after="max-num-seqs: 4   # 8 runs out of memory",
    judge=judge,
)
