"""What a repository says now: layout, files, hardware, curves, recipes, and what stood at the base. Read-only."""
