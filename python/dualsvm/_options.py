"""Options of the trainers and predictors, from the library's table."""
import difflib
import functools
import itertools
import numbers
import os
from ctypes import byref, sizeof
from typing import NamedTuple, Optional, Tuple

from . import _library as lib
from ._labels import word_of
from ._library import call, create, library


class OptionInfo(NamedTuple):
    """An option, as described by `svm-FAMILY-train --help`."""

    name: str
    type: str  # flag, number, count, choice, text, window, weights
    default: Optional[str]
    choices: Tuple[str, ...]
    help: str


# DUALSVM_FLAG and so on
TYPES = ("flag", "number", "count", "choice", "text", "window", "weights")


# Options of cross-validation, which fit does not do, and of its measures.
OF_FOLDS = ("folds", "fold-file", "validate", "select")
OF_MEASURES = ("tpr", "pauc", "precision", "ndcg", "err", "psp", "propensity-a", "propensity-b", "min-group",
               "empty", "threshold-grade", "max-grade")


class Options(lib.Handle):
    free = "options_free"

    def __init__(self, family, role):
        super().__init__(create("options_create", family.encode(), role))
        self.family, self.role = family, role

    def set(self, name, value):
        """Sets an option to a Python value: a number, True, "rbf", (1, 5) for a window,
        {label: weight}, a list of several values. None leaves it unchanged."""
        if value is None:
            return
        kind = table(self.family, self.role)[name].type
        if isinstance(value, dict):
            for label, weight in value.items():
                self.set(name, "%s:%s" % (word_of(label), text_of(weight)))
        elif isinstance(value, float):
            call("options_set_number", self, name.encode(), value)
        elif isinstance(value, numbers.Real):
            call("options_set", self, name.encode(), text_of(value).encode())
        elif isinstance(value, (list, tuple)) and kind == "weights":
            for one in value:
                self.set(name, one)
        elif isinstance(value, (list, tuple)):
            self.set(name, (":" if kind == "window" else ",").join(text_of(v) for v in value))
        else:
            call("options_set", self, name.encode(), lib.encoded(text_of(value)))


def make(family, role, values):
    """Options of a family ({name on the command line: value})."""
    options = Options(family, role)
    for name, value in values.items():
        options.set(name, value)
    return options


def text_of(value):
    """A value as on the command line."""
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        return "1" if value else "0"
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        value = float(value)
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


@functools.lru_cache(maxsize=None)
def table(family, role):
    """{name on the command line: OptionInfo} of a family's trainer or predictor."""
    described = {}
    handle = Options(family, role)
    option = lib.Option()
    for i in itertools.count():
        if not library.dualsvm_options_describe(handle, i, byref(option), sizeof(option)):
            return described
        choices = []
        while option.choices and option.choices[len(choices)] is not None:
            choices.append(option.choices[len(choices)].decode())
        name = option.name.decode()
        if role == lib.TRAIN and name in OF_FOLDS + OF_MEASURES:
            continue
        default = option.initial or option.absent
        described[name] = OptionInfo(name, TYPES[option.type], default and default.decode(),
                                     tuple(choices), (option.help or b"").decode())


def named(family, role, keyword, taken, who, elsewhere=None):
    """The option that a keyword argument names (row_weights, or lambda_ for a word that Python
    keeps), but for `taken` {option: the parameter that it is}. Raises TypeError if there is none;
    elsewhere: the option that other estimators have a parameter of this name for, or None.
    """
    name = keyword.rstrip("_").replace("_", "-")
    if name in taken:
        raise TypeError("%s has no option %r: it is the parameter %s" % (who, keyword, taken[name]))
    options = table(family, role)
    if name in options:
        return name
    if keyword in taken.values():
        raise TypeError("%s has no option %r: it is a parameter of the estimator" % (who, keyword))
    if role == lib.TRAIN and name in OF_FOLDS:
        raise TypeError("%s has no option %r: cross-validation is scikit-learn's, by GridSearchCV or "
                        "cross_val_score" % (who, keyword))
    if role == lib.TRAIN and name in OF_MEASURES and name in table(family, lib.PREDICT):
        raise TypeError("%s has no option %r: measures(X, y, %s=...) takes it" % (who, keyword, keyword))
    known = [n.replace("-", "_") for n in options if n not in taken] + list(taken.values())
    near = [elsewhere] if elsewhere in known else difflib.get_close_matches(keyword, known, 1)
    raise TypeError("%s has no parameter or option %r%s"
                    % (who, keyword, ": did you mean %r?" % near[0] if near else ""))
