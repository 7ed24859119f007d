"""Models: fits that can be interrupted, scores, and the bytes of the model's file."""
import os
import threading
from ctypes import byref, c_size_t, sizeof, string_at

import numpy as np

from . import _library as lib
from ._errors import ConvergenceWarning, DualsvmWarning, NotFittedError, warn
from ._library import address, call, create, library

NOT_CONVERGED = "warning: not converged: "


class Model(lib.Handle):
    """A fitted model. Pickles and copies use its bytes."""

    free = "model_free"

    def __init__(self, pointer):
        super().__init__(pointer)
        self.family = library.dualsvm_model_family(self).decode()

    def __reduce__(self):
        return from_bytes, (self.bytes(), self.family)

    def bytes(self):
        """The bytes of the model file, without gzip."""
        size = c_size_t()
        begin = library.dualsvm_model_bytes(self, byref(size))
        return string_at(begin, size.value)

    def save(self, path):
        call("model_save", self, lib.whole(os.fsencode(path)))

    def value(self, key):
        """The value of a header line `key value`, or None."""
        text = library.dualsvm_model_value(self, key.encode())
        return None if text is None else lib.decoded(text)

    def report(self):
        report = lib.Report()
        library.dualsvm_model_report(self, byref(report), sizeof(report))
        return report

    @property
    def n_scores(self):
        return library.dualsvm_model_scores(self)

    @property
    def n_features(self):
        return library.dualsvm_model_features(self)

    @property
    def labels(self):
        """Its labels, as words."""
        return [lib.decoded(library.dualsvm_model_label(self, i))
                for i in range(library.dualsvm_model_labels(self))]

    def weights(self):
        """Weights (features, scores) of a linear model."""
        weights = np.empty((self.n_features, self.n_scores))
        call("model_weights", self, address(weights), None)
        return weights

    def bias(self):
        """The bias (scores) of a linear model, without reading the weights, which may exceed memory."""
        bias = np.empty(self.n_scores)
        call("model_weights", self, None, address(bias))
        return bias

    def support(self):
        """The coefficients (vectors, scores), values and indices of the support vectors, of which the
        last two are lists of arrays; None for a model without them or with pairs of them."""
        _, found, body = self.bytes().partition(b"\nSV\n")
        if not found:
            return None
        lines = [line.split() for line in body.split(b"\n") if line and line[:4] != b"end "]
        k = self.n_scores
        pairs = [np.array([word.split(b":") for word in line[k:]], dtype=np.float64).reshape(-1, 2)
                 for line in lines]
        coefficients = np.array([line[:k] for line in lines], dtype=np.float64).reshape(-1, k)
        return coefficients, [pair[:, 1] for pair in pairs], [pair[:, 0] for pair in pairs]

    def scores(self, data, options):
        scores = np.empty((data.rows.n, self.n_scores))
        call("predict_scores", self, options, data, address(scores))
        return scores

    def predicted_labels(self, data, options):
        label = np.empty(data.rows.n, dtype=np.uint32)
        call("predict_labels", self, options, data, address(label))
        return label

    def predicted_sets(self, data, options):
        chosen = np.empty((data.rows.n, library.dualsvm_model_labels(self)), dtype=np.ubyte)
        call("predict_sets", self, options, data, address(chosen))
        return chosen

    def probabilities(self, data, options):
        probability = np.empty((data.rows.n, library.dualsvm_model_labels(self)))
        call("predict_probabilities", self, options, data, address(probability))
        return probability

    def text(self, data, options):
        """The whole output of the predictor for these rows."""
        pieces = []

        @lib.ON_WRITE
        def write(_, begin, size):
            pieces.append(string_at(begin, size))
            return 0

        call("predict_text", self, options, data, write, None)
        return lib.decoded(b"".join(pieces))

    def ranked_candidates(self, data, options, minutes, runs):
        """Order scores, scores and ranks of candidates (rows each); runs: words, or None."""
        outputs = np.empty((3, data.rows.n))
        call("rank_candidates", self, options, data, address(minutes), runs,
             *map(address, outputs))
        return outputs

    def measures(self, data, options):
        """{name: value} of the predictor's measures for the labels of the rows."""
        found = Measures(create("measure", self, options, data))
        return {library.dualsvm_measures_name(found, i).decode():
                library.dualsvm_measures_value(found, i)
                for i in range(library.dualsvm_measures_count(found))}


class Measures(lib.Handle):
    free = "measures_free"


def load(path, family=None):
    return Model(create("model_load", family and family.encode(), lib.whole(os.fsencode(path))))


def from_bytes(text, family=None):
    return Model(create("model_from_bytes", family and family.encode(), text, len(text)))


class Fit:
    """One call of dualsvm_train, which a signal in the main thread can end."""

    def __init__(self, options, data, verbose):
        self.options, self.data, self.verbose = options, data, verbose
        self.printed = 0.0
        self.stopped = False
        self.messages = []
        self.model = self.failure = None

    def _on_progress(self, _, progress):
        now = progress.contents
        if self.verbose and now.seconds >= self.printed + 1:
            self.printed = now.seconds
            print("iteration %d, primal %.8g, gap %.2g, %.0f s"
                  % (now.iteration, now.primal, now.gap, now.seconds), flush=True)
        return int(self.stopped)

    def _on_message(self, _, text):
        self.messages.append(text.decode("utf-8", "replace"))

    def _train(self):
        watch = lib.Watch(size=sizeof(lib.Watch), progress=lib.ON_PROGRESS(self._on_progress),
                          message=lib.ON_MESSAGE(self._on_message))
        try:
            self.model = Model(create("train", self.options, self.data, byref(watch)))
        except Exception as error:
            self.failure = error

    def _train_aside(self):
        """Trains in another thread, so that this one receives signals: an exception of a signal handler,
        such as KeyboardInterrupt, stops the fit and is raised here."""
        done = threading.Lock()
        done.acquire()

        def train():
            try:
                self._train()
            finally:
                done.release()

        threading.Thread(target=train, name="dualsvm").start()
        try:
            wait(done)
        except BaseException:
            self.stopped = True
            wait(done)
            raise

    def run(self):
        if threading.current_thread() is threading.main_thread():
            self._train_aside()
        else:
            self._train()
        # the traceback leads to this frame and this object: neither may keep the exception
        failure, self.failure = self.failure, None
        try:
            if failure is not None:
                raise failure
            return self.model
        finally:
            del failure


def wait(lock):
    """Waits for a lock with a timeout, since a signal to another thread does not end a wait here."""
    while not lock.acquire(timeout=.1):
        pass


def train(options, data, verbose):
    """Fits a model and issues the warnings of the trainer. verbose: prints progress, about once a
    second, and the trainer's report."""
    fit = Fit(options, data, verbose)
    model = fit.run()
    report = model.report()
    if verbose:
        print(report.lines.decode(), end="", flush=True)
    for message in fit.messages:
        if message.startswith("warning: ") and not message.startswith(NOT_CONVERGED):
            warn(message[len("warning: "):], DualsvmWarning)
    if report.converged == 0:
        reason = report.reason.decode() or "not converged"
        gap = "its gap is %.3g" % report.gap if report.gap == report.gap else "no gap is certified"
        warn("the fit ended before it reached tol: %s; %s" % (reason, gap), ConvergenceWarning)
    return model


def check_fitted(estimator):
    if not hasattr(estimator, "model_"):
        raise NotFittedError("This %s instance is not fitted yet. Call 'fit' with appropriate "
                             "arguments before using this estimator." % type(estimator).__name__)
