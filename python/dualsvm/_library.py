"""libdualsvm by ctypes: finding it, its structs and functions, and its errors as exceptions.

What is here mirrors include/dualsvm.h, which says what each function does. ctypes lets go of the
interpreter's lock during each call, so that several threads may be in the library at once.
"""
import ctypes
import ctypes.util
import os
from ctypes import (CFUNCTYPE, POINTER, Structure, byref, c_char, c_char_p, c_double, c_int,
                    c_size_t, c_uint, c_uint64, c_void_p)

from ._errors import DualsvmError

NAME = "libdualsvm.so.0"
TRAIN, PREDICT, CANDIDATES = 0, 1, 2
FLOAT, DOUBLE = 0, 1
LENT = 1


class Error(Structure):
    _fields_ = [("kind", c_int), ("text", c_char * 1024)]


class Option(Structure):
    _fields_ = [("name", c_char_p), ("letter", c_char), ("type", c_int), ("is_list", c_int),
                ("initial", c_char_p), ("absent", c_char_p), ("value", c_char_p),
                ("help", c_char_p), ("choices", POINTER(c_char_p)),
                ("meanings", POINTER(c_char_p)), ("low", c_double), ("high", c_double),
                ("low_excluded", c_int)]


class Progress(Structure):
    _fields_ = [("size", c_size_t), ("iteration", c_uint64), ("primal", c_double),
                ("dual", c_double), ("gap", c_double), ("seconds", c_double)]


ON_PROGRESS = CFUNCTYPE(c_int, c_void_p, POINTER(Progress))
ON_ROW = CFUNCTYPE(c_int, c_void_p, c_void_p, c_size_t)
ON_MESSAGE = CFUNCTYPE(None, c_void_p, c_char_p)
ON_WRITE = CFUNCTYPE(c_int, c_void_p, c_void_p, c_size_t)


class Watch(Structure):
    _fields_ = [("size", c_size_t), ("context", c_void_p), ("progress", ON_PROGRESS),
                ("row", ON_ROW), ("message", ON_MESSAGE)]


class Report(Structure):
    _fields_ = [("primal", c_double), ("dual", c_double), ("gap", c_double),
                ("certified", c_int), ("converged", c_int), ("iterations", c_uint64),
                ("seconds", c_double), ("reason", c_char_p), ("lines", c_char_p)]


class View(Structure):
    """dualsvm_rows"""

    _fields_ = [("rows", c_size_t), ("features", c_size_t), ("columns", c_size_t),
                ("feature", c_void_p), ("start", c_void_p), ("index", c_void_p),
                ("value", c_void_p), ("number", c_void_p), ("label_start", c_void_p),
                ("label", c_void_p), ("name", POINTER(c_char_p)), ("names", c_size_t),
                ("query", c_void_p), ("query_name", POINTER(c_char_p)), ("query_names", c_size_t)]


OUT = POINTER(c_void_p)
ERROR = POINTER(Error)

# Name: (result, arguments). `call` checks the status that functions return.
FUNCTIONS = {
    "version": (c_char_p, []),
    "options_create": (c_int, [OUT, c_char_p, c_int, ERROR]),
    "options_free": (None, [c_void_p]),
    "options_set": (c_int, [c_void_p, c_char_p, c_char_p, ERROR]),
    "options_set_number": (c_int, [c_void_p, c_char_p, c_double, ERROR]),
    "options_describe": (c_int, [c_void_p, c_size_t, POINTER(Option), c_size_t]),
    "data_dense": (c_int, [OUT, c_char_p, c_void_p, c_int, c_size_t, c_size_t, c_size_t, c_uint,
                           ERROR]),
    "data_csr": (c_int, [OUT, c_char_p, c_void_p, c_void_p, c_int, c_void_p, c_int, c_size_t,
                         c_size_t, c_uint, ERROR]),
    "data_read": (c_int, [OUT, c_void_p, c_char_p, ERROR]),
    "data_view": (None, [c_void_p, POINTER(View), c_size_t]),
    "data_free": (None, [c_void_p]),
    "data_set_label_numbers": (c_int, [c_void_p, c_void_p, ERROR]),
    "data_set_label_codes": (c_int, [c_void_p, c_void_p, c_void_p, POINTER(c_char_p), c_size_t,
                                     ERROR]),
    "data_set_queries": (c_int, [c_void_p, c_void_p, ERROR]),
    "data_set_query_words": (c_int, [c_void_p, POINTER(c_char_p), ERROR]),
    "data_set_weights": (c_int, [c_void_p, c_void_p, ERROR]),
    "data_set_precomputed": (c_int, [c_void_p, c_void_p, ERROR]),
    "train": (c_int, [OUT, c_void_p, c_void_p, POINTER(Watch), ERROR]),
    "model_free": (None, [c_void_p]),
    "model_save": (c_int, [c_void_p, c_char_p, ERROR]),
    "model_load": (c_int, [OUT, c_char_p, c_char_p, ERROR]),
    "model_bytes": (c_void_p, [c_void_p, POINTER(c_size_t)]),
    "model_from_bytes": (c_int, [OUT, c_char_p, c_char_p, c_size_t, ERROR]),
    "model_family": (c_char_p, [c_void_p]),
    "model_value": (c_char_p, [c_void_p, c_char_p]),
    "model_scores": (c_size_t, [c_void_p]),
    "model_features": (c_size_t, [c_void_p]),
    "model_labels": (c_size_t, [c_void_p]),
    "model_label": (c_char_p, [c_void_p, c_size_t]),
    "model_weights": (c_int, [c_void_p, c_void_p, c_void_p, ERROR]),
    "model_report": (None, [c_void_p, POINTER(Report), c_size_t]),
    "predict_scores": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p, ERROR]),
    "predict_labels": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p, ERROR]),
    "predict_sets": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p, ERROR]),
    "predict_probabilities": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p, ERROR]),
    "predict_text": (c_int, [c_void_p, c_void_p, c_void_p, ON_WRITE, c_void_p, ERROR]),
    "rank_candidates": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p, POINTER(c_char_p), c_void_p,
                                c_void_p, c_void_p, ERROR]),
    "measure": (c_int, [OUT, c_void_p, c_void_p, c_void_p, ERROR]),
    "measures_free": (None, [c_void_p]),
    "measures_count": (c_size_t, [c_void_p]),
    "measures_name": (c_char_p, [c_void_p, c_size_t]),
    "measures_value": (c_double, [c_void_p, c_size_t]),
}


def places():
    """Where the library may be, the first that is there: what DUALSVM_LIBRARY says; beside the
    package, in a wheel; in PREFIX/lib, for a package in PREFIX/lib/python3/dist-packages; in the
    folder `build` of a checkout; where the loader looks."""
    named = os.environ.get("DUALSVM_LIBRARY")
    if named:
        yield named
        return
    here = os.path.dirname(os.path.abspath(__file__))
    for folder in ("", "../../..", "../../build"):
        path = os.path.normpath(os.path.join(here, folder, NAME))
        if os.path.exists(path):
            yield path
    yield NAME
    found = ctypes.util.find_library("dualsvm")
    if found:
        yield found


def load():
    reasons = []
    for place in places():
        try:
            return ctypes.CDLL(place)
        except OSError as error:
            reasons.append(str(error))
    raise ImportError("libdualsvm was not found (%s): run `make` in the checkout, install the "
                      "library, or name its file in the environment variable DUALSVM_LIBRARY"
                      % "; ".join(reasons))


def declare(loaded):
    for name, (result, arguments) in FUNCTIONS.items():
        try:
            function = getattr(loaded, "dualsvm_" + name)
        except AttributeError:
            raise ImportError("%s is not libdualsvm, or an older one: it has no dualsvm_%s"
                              % (loaded._name, name)) from None
        function.restype = result
        function.argtypes = arguments
    return loaded


library = declare(load())


def call(name, *arguments):
    """Calls a function that returns a status and takes an error struct as its last argument."""
    error = Error()
    if getattr(library, "dualsvm_" + name)(*arguments, byref(error)) < 0:
        raise DualsvmError(error.text.decode("ascii", "replace"), error.kind)


def create(name, *arguments):
    """The same for a function that returns an object through its first argument: its pointer."""
    made = c_void_p()
    call(name, byref(made), *arguments)
    return made


def version():
    """The version of the loaded library."""
    return library.dualsvm_version().decode()


class Handle:
    """An object of the library, freed with the last reference to it."""

    free = None  # the function's name

    def __init__(self, pointer):
        self.pointer = pointer

    @property
    def _as_parameter_(self):
        return self.pointer

    def __del__(self, library=library):
        pointer = getattr(self, "pointer", None)
        if pointer:
            self.pointer = None
            getattr(library, "dualsvm_" + self.free)(pointer)


def address(array):
    """The address of a NumPy array; None is NULL."""
    return None if array is None else array.ctypes.data_as(c_void_p)


def decoded(text):
    """Bytes of a file as a text: UTF-8, with surrogate escapes for other bytes, as in file names."""
    return text.decode("utf-8", "surrogateescape")


def whole(text):
    """Bytes for C; a NUL, which ends a C string, is refused."""
    if b"\0" in text:
        raise ValueError("embedded null byte")
    return text


def encoded(text):
    """The bytes of such a text."""
    return whole(text.encode("utf-8", "surrogateescape"))


def words(texts):
    """An array of C strings; None is NULL."""
    return (c_char_p * len(texts))(*(None if t is None else encoded(t) for t in texts))
