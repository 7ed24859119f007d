"""Shared by the tests: small problems, files of rows, and the programs.

DUALSVM_BIN is the folder of the programs; what a program computes is compared bit by bit, so BLAS
has to compute here as it does there (see doc/python.md), which tests/python.bats sees to.
"""
import os
import subprocess
import tempfile
import unittest
import warnings

import numpy as np

BIN = os.environ.get("DUALSVM_BIN", os.path.join(os.path.dirname(__file__), "../../build"))


def problem(rows=80, features=6, seed=1):
    """X with zeros and single-precision values, which files represent exactly."""
    rng = np.random.RandomState(seed)
    x = rng.randn(rows, features)
    x[rng.rand(rows, features) < 0.3] = 0
    return x.astype(np.float32).astype(np.float64), rng


def write_rows(path, labels, x, qid=None):
    """A file of rows: a label is a number, a text, or a set."""
    with open(path, "w") as file:
        for i, row in enumerate(x):
            label = labels[i]
            words = [",".join(sorted(map(str, label))) if isinstance(label, set) else str(label)]
            if qid is not None:
                words.append("qid:%s" % qid[i])
            words += ["%d:%r" % (j + 1, float(row[j])) for j in np.flatnonzero(row)]
            file.write(" ".join(words) + "\n")


def program(name, *arguments):
    """Runs a program, which must succeed, and returns its output."""
    ran = subprocess.run([os.path.join(BIN, name), "-q"] + list(arguments), check=False,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    if ran.returncode != 0:
        raise AssertionError("%s %s: %s" % (name, arguments, ran.stderr))
    return ran.stdout


def content(path):
    with open(path, "rb") as file:
        return file.read()


class Case(unittest.TestCase):
    """A test in its own folder; unexpected warnings are errors."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        context = warnings.catch_warnings()
        context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "each row of X is a matrix of one row")
