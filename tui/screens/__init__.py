"""One screen per step, each with one purpose."""
