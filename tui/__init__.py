"""The terminal UI: it fills in a spec, plans it as `--from-spec` does, and shows what follows. No domain logic."""

import os

# Textual draws at the next tick of its clock: at 120 ticks a second a key waits for 4 ms on average, not for 8.
os.environ.setdefault("TEXTUAL_FPS", "120")
