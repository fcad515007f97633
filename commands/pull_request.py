"""`benchscribe pr`: title and body for the pull request, as text for the clipboard or for `gh pr create`."""

from __future__ import annotations

import sys
from pathlib import Path

from ..checkout.checkout import Checkout
from ..plan.branch import read_branch
from ..plan.pull_requests import pull_request
from ..schema.errors import StateError
from ..schema.visible import visible
from .output import print_json, say


def run(
    repo: Path, *, base: str, number: int | None, spec_path: str, ai_model: str, part: str, output_format: str
) -> int:
    """Print title and body; with `part` only one of them. Raises StateError where the branch changes nothing."""
    spec = None
    if spec_path:
        from .from_spec import read

        spec = read(spec_path, "<stdin>" if spec_path == "-" else spec_path).require()
    branch = read_branch(Checkout.open(repo, base=base))
    if not branch.files:
        raise StateError(
            f"nothing differs from {branch.checkout.base}",
            hint="name another base with --base REF, or make a change first",
        )
    found = pull_request(branch, spec=spec, ai_model=ai_model, number=number)
    if not (ai_model or (spec and spec.ai_model)):
        say('the AI model disclosure is missing: --ai-model "…" (or ai-model: in the spec); "No AI used" is an answer')
    if output_format == "json":
        items = [
            {"what": item.what, "holds": item.holds, "judged": item.judged, "how": item.how} for item in found.checklist
        ]
        print_json(
            {
                "ok": True,
                "base": branch.checkout.base.commit,
                "title": found.title,
                "body": found.body,
                "checklist": items,
            }
        )
        return 0
    texts = {"title": f"{found.title}\n", "body": found.body, "both": f"{found.title}\n\n{found.body}"}
    _write(texts[part])
    return 0


def _write(text: str) -> None:
    """UTF-8 whatever the locale: the text goes into a file or a pipe as often as onto a terminal."""
    if sys.stdout.isatty():
        text = visible(text)
    binary = getattr(sys.stdout, "buffer", None)
    if binary is None:
        sys.stdout.write(text)
        return
    sys.stdout.flush()
    binary.write(text.encode("utf-8", "backslashreplace"))
    binary.flush()
