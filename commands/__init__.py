"""One module per command: call the plan, print. No domain logic."""
