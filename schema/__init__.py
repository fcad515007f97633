"""What may be said: the spec, master entries, recipes, changelog entries, units. No I/O, no git."""
