"""Rule `harness-variable`: a variable that the harness owns and a recipe sets is read somewhere in this checkout."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from ..schema.errors import Place
from ..schema.results import Finding, Severity
from .model import Rule, Subject

# AIPerf reads its own `AIPERF_<SUBSYSTEM>_*` inside the image (source: FACTS §8).
SUBSYSTEMS = [
    "AGENTX",
    "API_SERVER",
    "COMPRESSION",
    "CONFIG",
    "DAG",
    "DATASET",
    "DEV",
    "GPU",
    "HTTP",
    "LOGGING",
    "METRICS",
    "RECORD",
    "SERVER_METRICS",
    "SERVICE",
    "TIMING",
    "UI",
]
_NAME = re.compile(r"(?<![A-Za-z0-9_])(?:AIPERF|AGENTIC)_[A-Z0-9_]*[A-Z0-9](?![A-Za-z0-9_])")
_SET = re.compile(
    r"(?<![A-Za-z0-9_${])(?P<name>(?:AIPERF|AGENTIC)_[A-Z0-9_]*[A-Z0-9])(?:=|[\"']?\s*:\s|[\"']?\s*:$|[\"']\]\s*=(?!=))"
)
_EXPANDED = re.compile(r"\$\{?[!#]?((?:AIPERF|AGENTIC)_[A-Z0-9_]*[A-Z0-9])")
_PYTHON_READ = re.compile(r"[\"']((?:AIPERF|AGENTIC)_[A-Z0-9_]*[A-Z0-9])[\"']")
_WRITTEN = re.compile(r"environ\s*\[\s*[\"'](\w+)[\"']\s*\]\s*=(?!=)")
_READERS = ("*.sh", "*.slurm", "*.py", "*.yaml", "*.yml", "*.jinja", "*.j2", "*.bash")


def judge(subject: Subject) -> Iterator[Finding]:
    """One finding per line that sets a dead name. Where no file here reads any such name, nothing is judged."""
    settings = [found for path in sorted(_recipe_files(subject)) for found in _settings(subject, path)]
    if not settings:
        return
    reads = _reads(subject)
    if not reads:
        return
    for name, place in settings:
        if name not in reads:
            near = _near(name, reads)
            meant = f"; did you mean {near}, which is read at {reads[near]}?" if near else ""
            hint = f"set {near} instead, or drop the line" if near else "drop the line, or make the harness read it"
            yield RULE.finding(place, f"nothing in this checkout reads {name}{meant}", hint, text=name)


def _recipe_files(subject: Subject) -> Iterator[str]:
    """Recipes and configs that the branch changes; where old debts are asked for, every one."""
    layout = subject.after.layout
    roots = (*(f"{root}/" for root in layout.recipe_roots), layout.at("benchmarks/"))
    paths = _listed(subject, "") if subject.everything else subject.files
    for path in paths:
        if path in layout.masters or (path.startswith(roots) and path.endswith((".sh", ".yaml", ".yml"))):
            yield path


def _settings(subject: Subject, path: str) -> Iterator[tuple[str, Place]]:
    """The harness's names that a file sets on lines of the branch, AIPerf's own left out."""
    for number, line in subject.judged_lines(path):
        for match in _SET.finditer(_without_comment(line)):
            if not _is_aiperfs_own(match["name"]):
                yield match["name"], Place(path, number)


def _is_aiperfs_own(name: str) -> bool:
    return any(name.startswith(f"AIPERF_{subsystem}_") for subsystem in SUBSYSTEMS)


def _without_comment(line: str) -> str:
    return re.sub(r"(?:^|\s)#.*$", "", line)


def _reads(subject: Subject) -> dict[str, str]:
    """Every such name that a shell, Python or YAML file here reads, with the first place.

    Setting a name is not reading it, and neither is a default for itself: `X=${X:-30}`.
    """
    found: dict[str, str] = {}
    for path in _listed(subject, "AIPERF_", "AGENTIC_"):
        python = path.endswith(".py")
        for number, line in enumerate(subject.lines(path), 1):
            for name in _read_in(_without_comment(line), python):
                found.setdefault(name, str(Place(path, number)))
    return found


def _read_in(line: str, python: bool) -> set[str]:
    if python:
        return set(_PYTHON_READ.findall(line)) - set(_WRITTEN.findall(line))
    own = {match["name"] for match in _SET.finditer(line)}
    names = set(_EXPANDED.findall(line))
    if "check_env_vars" in line:
        names |= set(_NAME.findall(line))
    return names - own


def _listed(subject: Subject, *words: str) -> list[str]:
    """Files of the checkout that may read or set variables, found by git, the branch's own changes included."""
    git = subject.checkout.git
    commit = [git.head] if subject.checkout.committed else ["--untracked"]
    patterns = [part for word in (words or ("AIPERF_", "AGENTIC_")) for part in ("-e", word)]
    answer = git.try_run("grep", "-I", "-l", "-z", "-F", *patterns, *commit, "--", *_READERS)
    names = [name for name in answer.stdout.decode("utf-8", "surrogateescape").split("\0") if name]
    names = [name.removeprefix(f"{git.head}:") for name in names]
    below = subject.after.layout.project_root
    planned = [path for path in subject.planned or () if path not in names]
    return [name for name in (*names, *planned) if not below or name.startswith(f"{below}/")]


def _near(name: str, reads: dict[str, str]) -> str:
    """The name that is read and was probably meant: the most words in common, then the likest spelling."""
    words = set(name.split("_")[1:])

    def likeness(other: str) -> tuple[int, float]:
        return len(words & set(other.split("_")[1:])), difflib.SequenceMatcher(None, name, other).ratio()

    best = max(reads, key=likeness)
    common, ratio = likeness(best)
    return best if common >= 2 or ratio >= 0.8 else ""


RULE = Rule(
    id="harness-variable",
    severity=Severity.ERROR,
    title="a variable that the harness owns and a recipe sets is read in this checkout",
    explanation=(
        "Engines read their own variables inside the image, and AIPerf its AIPERF_<SUBSYSTEM>_* ones, so only other "
        "AIPERF_* and AGENTIC_* names can be judged: against what the shell, Python and YAML files of this checkout "
        "read. "
        "A name that nothing reads does nothing, and the entry that boasts of it is wrong as well. Where those "
        "files are "
        "not in the checkout nothing is judged."
    ),
    example_before="export AIPERF_BENCHMARK_GRACE_PERIOD=30   # nothing reads it",
    example_after="export AGENTIC_WARMUP_GRACE_PERIOD=3600",
    judge=judge,
)
