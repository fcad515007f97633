"""A sample checkout of our own making, and a spec that retunes one of its keys."""
