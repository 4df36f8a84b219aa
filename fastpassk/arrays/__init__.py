"""Array functions: one dispatch over scalars, sequences, NumPy, Arrow and Polars."""

from fastpassk.arrays.functions import pass_at_k, pass_curve, pass_hat_k, plug_in

__all__ = ["pass_at_k", "pass_curve", "pass_hat_k", "plug_in"]
