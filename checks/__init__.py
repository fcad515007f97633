"""What must hold: one rule per module, a registry, findings. Pure functions over a change."""
