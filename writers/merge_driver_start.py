"""Starts the merge driver as a plain file, with the interpreter's `site` switched off.

Git runs the driver once per commit of a rebase. Started as a module, half of its time goes into `site` and the
import hook of an editable install; started as this file with `-I -S`, nothing of the environment is read, so it
also runs the same under another PYTHONPATH or inside another virtual environment.
"""

import os
import sys
from types import ModuleType


def start() -> int:
    """Make the package known under its name, whatever its folder is called, and run the driver."""
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 -- pathlib is slow to load
    package = ModuleType("benchscribe")
    package.__path__ = [root]
    sys.modules["benchscribe"] = package
    from benchscribe.writers.merge_driver import main

    return main(sys.argv[1:], os.environ)


if __name__ == "__main__":
    sys.exit(start())
