"""`python -m benchscribe` and the `benchscribe` command."""

from __future__ import annotations

import gc
import os
import sys


def main() -> None:
    """Run the command line; errors a user can cause end in their message and exit code, bugs in a trace."""
    # Pydantic would look through every installed package for plugins of its own.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # A command is short and makes few cycles; looking for them costs a tenth of it. The TUI turns this on again.
    gc.disable()
    from .cli import benchscribe
    from .schema.errors import BenchscribeError

    try:
        benchscribe(prog_name="benchscribe")
    except BenchscribeError as error:
        from .commands.output import say

        say(f"benchscribe: {error}")
        sys.exit(error.exit_code)
    except BrokenPipeError:
        # The reader went away, as `| head` does; there is nobody left to tell.
        sys.stderr.close()
        sys.exit(0)


if __name__ == "__main__":
    main()
