"""sample_weight: a row of weight 2 is equivalent to two equal rows."""
import numpy as np

from ._labels import finite_numbers


def weights_of(weight, n_rows):
    """The weights of rows as doubles."""
    weight = np.asarray(weight)
    if weight.ndim == 0:
        weight = np.full(n_rows, weight)
    if weight.ndim != 1:
        raise ValueError("Sample weights must be 1D array or scalar")
    if len(weight) != n_rows:
        raise ValueError("sample_weight.shape == %s, expected %s!" % (weight.shape, (n_rows,)))
    weight = finite_numbers(weight, "sample_weight")
    if (weight < 0).any():
        raise ValueError("sample_weight has a negative weight")
    return weight
