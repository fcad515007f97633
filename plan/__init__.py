"""The pipeline: a spec and a checkout in, a plan of edits, derived values, lines and findings out."""

from .applying import Blocked, apply_edits, apply_plan, interrupted, recover
from .diff import FileChange, unified_diff
from .judging import judged
from .model import Plan
from .planner import make_plan

__all__ = [
    "Blocked",
    "FileChange",
    "Plan",
    "apply_edits",
    "apply_plan",
    "interrupted",
    "judged",
    "make_plan",
    "recover",
    "unified_diff",
]
