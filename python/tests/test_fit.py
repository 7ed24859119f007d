"""Fits: their attributes, what ends them, several concurrently, many in a row; and the package without
scikit-learn or scipy, and with the library in another place or missing."""
import contextlib
import io
import os
import shutil
import signal
import subprocess
import sys
import threading
import unittest
import warnings

import numpy as np
from support import BIN, Case, problem

import dualsvm
from dualsvm import (ConvergenceWarning, DualsvmError, MultiClassSVM, MultiLabelRankSVM, RankSVM,
                     SupportMatrixMachine, TopClassifier)

ALL = (MultiClassSVM, TopClassifier, SupportMatrixMachine, MultiLabelRankSVM, RankSVM)
PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(dualsvm.__file__)))


def long_fit():
    """A fit that takes longer than a test should."""
    rng = np.random.RandomState(0)
    return (RankSVM(kernel="rbf", gamma=.01, C=1e9, tol=1e-12, solver="fw", step="diminishing"),
            rng.randn(1000, 10), rng.randint(0, 3, 1000))


class Alarm(Exception):
    pass


class Fits(Case):
    def test_what_is_known(self):
        x, _ = problem()
        for cls in ALL:
            fitted = cls(C=2).fit(x, x[:, 0] > 0)
            self.assertIs(type(fitted.certified_), bool)
            self.assertGreaterEqual(fitted.n_iter_, 1)
            self.assertLessEqual(fitted.dual_, fitted.primal_)
            self.assertAlmostEqual(fitted.gap_, (fitted.primal_ - fitted.dual_) / fitted.primal_)
            self.assertEqual(fitted.n_features_in_, 6)
        self.assertFalse(TopClassifier("grill", starts=1).fit(x, x[:, 0] > 0).certified_)

    def test_tol(self):
        x, rng = problem()
        fitted = MultiClassSVM(tol=1e-7).fit(x, rng.randint(0, 3, 80))
        self.assertLessEqual(fitted.gap_, 1e-7)
        self.assertTrue(fitted.certified_)

    def test_not_converged(self):
        x, rng = problem()
        y = rng.randint(0, 3, 80)
        with self.assertWarnsRegex(ConvergenceWarning, "before it reached tol: .*gap") as warned:
            fitted = MultiClassSVM(C=100, max_iter=2).fit(x, y)
        self.assertEqual(warned.filename, __file__)
        self.assertEqual(len(warned.warnings), 1)
        self.assertGreater(fitted.gap_, 1e-3)
        for no_limit in (-1, 0):
            MultiClassSVM(C=100, max_iter=no_limit).fit(x, y)

    def test_verbose(self):
        x, _ = problem()
        for cls in ALL:
            with contextlib.redirect_stdout(io.StringIO()) as told:
                cls(verbose=True).fit(x, x[:, 0] > 0)
            self.assertRegex(told.getvalue(), "(?m)^iterations = [1-9]")
            with contextlib.redirect_stdout(io.StringIO()) as told:
                cls().fit(x, x[:, 0] > 0)
            self.assertEqual(told.getvalue(), "")
        estimator, x, y = long_fit()
        with contextlib.redirect_stdout(io.StringIO()) as told, self.assertWarns(ConvergenceWarning):
            estimator.set_params(verbose=True, max_time=1.5).fit(x, y)
        self.assertRegex(told.getvalue(), r"iteration \d+, primal \S+, gap \S+, 1 s\n")

    def test_a_signal_ends_a_fit(self):
        estimator, x, y = long_fit()

        def ring(*_):
            raise Alarm

        before = signal.signal(signal.SIGALRM, ring)
        self.addCleanup(signal.signal, signal.SIGALRM, before)
        threads = threading.active_count()
        plain = estimator.get_params()
        estimator.set_params(C=1, tol=.1).fit(x, y == 1)
        known = dict(vars(estimator), **plain)
        estimator.set_params(**plain)
        signal.setitimer(signal.ITIMER_REAL, .3)
        with self.assertRaises(Alarm):
            estimator.fit(x, y)
        self.assertEqual({name: str(value) for name, value in vars(estimator).items()},
                         {name: str(value) for name, value in known.items()})
        self.assertEqual(threading.active_count(), threads)

    def test_an_interrupt_ends_a_fit(self):
        script = ("import signal, sys, threading\n"
                  "sys.path.insert(0, %r)\n"
                  "import test_fit\n"
                  "estimator, x, y = test_fit.long_fit()\n"
                  "threading.Timer(.3, signal.raise_signal, [signal.SIGINT]).start()\n"
                  "try:\n"
                  "    estimator.fit(x, y)\n"
                  "except KeyboardInterrupt:\n"
                  "    print('stopped')\n" % os.path.dirname(os.path.abspath(__file__)))
        self.assertEqual(subprocess.check_output([sys.executable, "-c", script]), b"stopped\n")

    def test_several_threads(self):
        """Several threads fit the same rows, and predict with one model, concurrently."""
        x, rng = problem(rows=300)
        y = rng.randint(0, 2, 300)
        x = x.astype(np.float32)
        alone = [cls(n_jobs=2).fit(x, y).model_.bytes() for cls in ALL]
        shared = MultiClassSVM(kernel="rbf").fit(x, y)
        scores, wrong = shared.decision_function(x), []

        def work(k):
            for cls, expected in list(zip(ALL, alone))[k:] + list(zip(ALL, alone))[:k]:
                if cls(n_jobs=2).fit(x, y).model_.bytes() != expected:
                    wrong.append(cls)
                if (shared.decision_function(x) != scores).any():
                    wrong.append(k)

        threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_errors_in_threads(self):
        x, _ = problem()
        told = []

        def work():
            try:
                MultiClassSVM(C=-1).fit(x, x[:, 0] > 0)
            except DualsvmError as error:
                told.append(str(error))

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        self.assertRegex(told[0], "cost")


def kilobytes_of_fits(warm, rounds):
    """The growth of memory in this many repetitions of fits, predictions and errors in all families."""
    x, _ = problem()
    y = (x[:, 0] > 0).astype(int)
    warnings.simplefilter("ignore")

    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE") // 1024

    def fits(n):
        for _ in range(n):
            for cls in ALL:
                fitted = cls(kernel="rbf") if cls is not SupportMatrixMachine else cls()
                fitted.fit(x, y).predict(x)
                fitted.predict_text(x)
                fitted.measures(x, y)
                for cost, rows in ((-1, x), (1e300, 1e37 * x)):
                    try:
                        cls(C=cost).fit(rows, y)
                    except DualsvmError:
                        pass

    fits(warm)
    before = resident()
    fits(rounds)
    return resident() - before


class Ground(Case):
    def run_python(self, script, package=PACKAGE, **environment):
        environment = {**os.environ, "PYTHONPATH": package, **environment,
                       "PYTHONWARNINGS": "ignore:each row of X is a matrix of one row"}
        return subprocess.run([sys.executable, "-c", script], env=environment, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              universal_newlines=True).stdout

    @unittest.skipUnless(os.path.exists("/proc/self/statm"), "memory is read from /proc")
    def test_many_fits(self):
        """Five hundred fits do not increase memory. A kilobyte per fit would be detected; large blocks
        are returned to the system at once."""
        told = self.run_python("import test_fit; print(test_fit.kilobytes_of_fits(30, 100))",
                               PACKAGE + ":" + os.path.dirname(os.path.abspath(__file__)),
                               MALLOC_ARENA_MAX="1", MALLOC_MMAP_THRESHOLD_="65536")
        self.assertLess(int(told), 500)

    def test_without_others(self):
        """Without scikit-learn and scipy the results are the same."""
        told = self.run_python("""
import sys
for name in ("sklearn", "sklearn.base", "sklearn.exceptions", "scipy", "scipy.sparse"):
    sys.modules[name] = None
import pickle, warnings
import numpy as np
import dualsvm
x = np.random.RandomState(0).randn(50, 4)
y = (x[:, 0] > 0).astype(int)
for cls in (dualsvm.MultiClassSVM, dualsvm.TopClassifier, dualsvm.SupportMatrixMachine,
            dualsvm.MultiLabelRankSVM, dualsvm.RankSVM):
    fitted = cls(C=3, solver="auto").fit(x, y)
    assert fitted.score(x, y) > .8
    copy = cls(**fitted.get_params()).set_params(C=2)
    assert copy.get_params() == {**fitted.get_params(), "C": 2}
    assert (pickle.loads(pickle.dumps(fitted)).predict(x) == fitted.predict(x)).all()
    print(repr(fitted))
    for wrong in (lambda: copy.set_params(nothing=1), lambda: copy.predict(x)):
        try:
            wrong()
        except ValueError:
            pass
        else:
            raise AssertionError
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    dualsvm.MultiClassSVM(C=1000, max_iter=1).fit(x, y)
print(caught[0].category.__name__)
""")
        self.assertEqual(told, "".join("%s(C=3, solver='auto')\n" % cls.__name__ for cls in ALL) +
                         "ConvergenceWarning\n")

    def test_where_the_library_is(self):
        told = self.run_python("import dualsvm", DUALSVM_LIBRARY="/no/such/file")
        self.assertRegex(told, "ImportError: libdualsvm was not found .*DUALSVM_LIBRARY")
        told = self.run_python("import dualsvm", DUALSVM_LIBRARY="libm.so.6")
        self.assertRegex(told, "ImportError: libm.so.6 is not libdualsvm")
        script = "import dualsvm; print(dualsvm.library_version(), dualsvm.__version__)"
        for package, library in (("beside", "beside/dualsvm"),
                                 ("prefix/lib/python3/dist-packages", "prefix/lib"),
                                 ("checkout/python", "checkout/build")):
            os.makedirs(library if library.endswith("build") else ".", exist_ok=True)
            shutil.copytree(os.path.join(PACKAGE, "dualsvm"), os.path.join(package, "dualsvm"),
                            ignore=shutil.ignore_patterns("__pycache__"))
            shutil.copy(os.path.join(BIN, "libdualsvm.so.0"), library)
            told = self.run_python(script, os.path.abspath(package), DUALSVM_LIBRARY="")
            self.assertEqual(told, "%s %s\n" % (dualsvm.library_version(), dualsvm.__version__))


if __name__ == "__main__":
    unittest.main()
