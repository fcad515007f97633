"""What follows from a change: values with their reasons, and prose. Pure functions."""
