"""`python -m benchscribe` and the `benchscribe` command."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    """Run the command line; errors a user can cause end in their message and exit code, bugs in a trace."""
    # A run is short and makes few cycles; collecting them while the modules load costs a tenth of it.
    gc.set_threshold(50_000)
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
