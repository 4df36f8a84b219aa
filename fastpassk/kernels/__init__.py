"""Kernels: NumPy arrays in, NumPy arrays out. The only room that imports numba, and never at its own import.

`integers` and `references` need no numba; the other modules do, and are imported inside the functions that call them.
"""
