"""Numba loops, each beside its readable NumPy reference. Nothing is compiled before it is first called."""
