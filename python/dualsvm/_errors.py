"""Errors and warnings. If scikit-learn is installed, its own classes."""
import os
import sys
import warnings


class DualsvmError(ValueError):
    """An error of the library: its one line of text. `kind` is 1 (input, a model, a file, memory),
    2 (options and arguments) or 4 (stopped), as include/dualsvm.h has them."""

    def __init__(self, text, kind=1):
        super().__init__(text)
        self.kind = kind

    def __reduce__(self):
        return type(self), (self.args[0], self.kind)


class DualsvmWarning(UserWarning):
    """A warning of the library about data or options."""


try:
    from sklearn.exceptions import (ConvergenceWarning as ConvergenceBase, DataConversionWarning,
                                    NotFittedError)
except ImportError:
    ConvergenceBase = UserWarning

    class DataConversionWarning(UserWarning):
        """Labels have another shape than expected."""

    class NotFittedError(ValueError, AttributeError):
        """fit has not been called."""


class ConvergenceWarning(ConvergenceBase):
    """A fit ended before it reached `tol`; gap_ is the gap that it reached."""


def warn(text, category):
    """Warns at the line that called the package."""
    here = os.path.dirname(os.path.abspath(__file__))
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and \
            os.path.dirname(os.path.abspath(frame.f_code.co_filename)) == here:
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)
