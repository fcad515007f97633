"""Benchscribe: add and retune InferenceX benchmark recipes, byte for byte."""

__version__ = "0.1.0"
