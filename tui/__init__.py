"""The terminal UI: it fills in a spec, plans it as `--from-spec` does, and shows what follows. No domain logic."""
