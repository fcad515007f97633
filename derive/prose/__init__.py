"""The changelog's prose, derived: one `Line` per fact, in English and Chinese, most important first."""

from .lines import derived_lines

__all__ = ["derived_lines"]
