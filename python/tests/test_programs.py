"""Models and predictions equal those of the programs, byte for byte."""
import gzip
import unittest

import numpy as np
from support import Case, content, problem, program, write_rows

import dualsvm
from dualsvm import (DualsvmError, MultiClassSVM, MultiLabelRankSVM, RankSVM, SupportMatrixMachine,
                     TopClassifier)

try:
    import scipy.sparse as sparse
except ImportError:
    sparse = None


def layouts(x):
    """The same rows in other arrays."""
    yield "doubles", x
    yield "floats", x.astype(np.float32)
    yield "columns together", np.asfortranarray(x)
    yield "a part of wider rows", np.hstack([x, x])[:, :x.shape[1]]
    yield "every other row", np.repeat(x, 2, axis=0)[::2]
    yield "a list", x.tolist()
    yield "bytes in the other order", x.astype(">f8")
    if sparse is None:
        return
    yield "csr", sparse.csr_matrix(x)
    yield "csr of floats", sparse.csr_matrix(x.astype(np.float32))
    yield "csc", sparse.csc_matrix(x)
    wide = sparse.csr_matrix(x)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    yield "csr with long indices", wide
    stored = sparse.csr_matrix(np.ones_like(x))
    stored.data[:] = x.ravel()
    yield "csr with zeros stored", stored
    loose = sparse.csr_matrix((x[:, ::-1].ravel(), np.tile(np.arange(x.shape[1])[::-1], len(x)),
                               np.arange(len(x) + 1) * x.shape[1]), x.shape)
    yield "csr with columns out of order", loose


class Programs(Case):
    def check(self, cls, x, y, params, words, qid=None, predict=(), options=None):
        """The model of cls(**params) is that of the trainer with `words`, for any layout, and
        so are the predictor's lines; the trainer's model predicts the same here."""
        family = cls._family
        write_rows("rows", y, x, qid)
        program("svm-%s-train" % family, *words, "rows", "model")
        lines = program("svm-%s-predict" % family, *predict, "rows", "model", "/dev/stdout")
        also = {} if qid is None else {"qid": qid}
        for name, rows in layouts(x):
            with self.subTest(family=family, params=params, rows=name):
                fitted = cls(**params).fit(rows, y, **also)
                fitted.save("ours")
                self.assertEqual(content("ours").decode(), content("model").decode())
                text = fitted.predict_text(rows, **also, **(options or {}))
                self.assertEqual(text, lines)
        loaded = dualsvm.load("model")
        self.assertIs(type(loaded), cls)
        self.assertEqual(loaded.predict_text(x, **also, **(options or {})), lines)
        for known in ("gap_", "primal_", "dual_", "certified_", "n_iter_"):
            np.testing.assert_equal(getattr(loaded, known), getattr(fitted, known))
        if "pair_features" not in params:
            np.testing.assert_array_equal(loaded.decision_function(x, **also),
                                          fitted.decision_function(x, **also))
        return fitted, lines

    def test_multi_class(self):
        x, rng = problem()
        y = rng.randint(0, 3, len(x))
        for params, words in (
                ({}, []),
                ({"kernel": "rbf", "C": 10, "n_jobs": 1}, ["-t", "rbf", "-c", "10"]),
                ({"formulation": "cs", "bias": 1, "tol": 1e-5}, ["-s", "cs", "-B1", "-e", "1e-5"]),
                ({"kernel": "poly", "degree": 2, "gamma": .3, "coef0": 1, "scale": "std"},
                 ["-t", "1", "-d", "2", "-g", ".3", "-r", "1", "--scale", "std"])):
            fitted, lines = self.check(MultiClassSVM, x, y, params, words)
            self.assertEqual(list(map(str, fitted.predict(x))), lines.split())

    def test_multi_class_probability(self):
        x, rng = problem()
        y = rng.randint(0, 3, len(x))
        fitted, lines = self.check(
            MultiClassSVM, x, y, {"probability": True, "class_weight": {0: 2, 1: .5},
                                  "random_state": 3},
            ["-b1", "-w0", "2", "-w1", "0.5", "--seed", "3"], predict=["-b1"],
            options={"probability": 1})
        table = np.array([line.split()[1:] for line in lines.splitlines()[1:]], dtype=float)
        np.testing.assert_array_equal(fitted.predict_proba(x), table)
        np.testing.assert_allclose(table.sum(axis=1), 1)

    def test_top(self):
        x, rng = problem()
        y = np.where(x[:, 0] + .3 * rng.randn(len(x)) > 0, 1, -1)
        for params, words in (
                ({}, []),
                ({"formulation": "patmat", "kernel": "rbf", "tau": .1},
                 ["-s", "patmat", "-t", "rbf", "--tau", "0.1"]),
                ({"formulation": "grill", "starts": 3, "random_state": 7},
                 ["-s", "grill", "--starts", "3", "--seed", "7"]),
                ({"formulation": "svm", "bias": 2, "loss": "squared-hinge"},
                 ["-s", "svm", "-B", "2", "-l", "1"]),
                ({"pos_label": -1, "calibrate": .1}, ["--positive", "-1", "--calibrate", "0.1"]),
                ({"lambda_": .1}, ["--lambda", "0.1"])):
            fitted, lines = self.check(TopClassifier, x, y, params, words)
            table = np.array([line.split() for line in lines.splitlines()], dtype=float)
            np.testing.assert_array_equal(fitted.predict(x), table[:, 0])
            np.testing.assert_array_equal(fitted.score_samples(x), table[:, 1])
            np.testing.assert_array_equal(fitted.decision_function(x) > 0, fitted.predict(x) > 0)

    def test_row_weights(self):
        x, rng = problem()
        y = np.where(x[:, 0] + .3 * rng.randn(len(x)) > 0, 1, -1)
        write_rows("rows", y, x)
        for cls, name, weight in ((TopClassifier, "svm-top-train", rng.randint(0, 4, len(x)) / 2),
                                  (MultiClassSVM, "svm-mc-train", rng.rand(len(x)) + .1),
                                  (MultiLabelRankSVM, "svm-ml-train", rng.rand(len(x)) + .1)):
            with open("weights", "w") as file:
                file.writelines("%r\n" % float(w) for w in weight)
            program(name, "--force", "--row-weights", "weights", "rows", "model")
            cls().fit(x, y, sample_weight=weight).save("ours")
            self.assertEqual(content("ours"), content("model"))

    def test_rank(self):
        x, rng = problem()
        y = np.round(3 * x[:, 0] + rng.randn(len(x)))
        qid = rng.randint(0, 7, len(x))
        for params, words in (
                ({}, []),
                ({"kernel": "rbf"}, ["-t", "rbf"]),
                ({"loss": "squared-hinge", "rank_gap": (1, 3)}, ["-l", "1", "--rank-gap", "1:3"]),
                ({"targets": 1, "probability": True}, ["--targets", "1", "-b", "1"]),
                ({"weight": {1: 2.5, 3: .5}}, ["-w1", "2.5", "-w3", "0.5"]),
                ({"query_features": "mean", "kernel": "rational", "scale": "quantile"},
                 ["--query-features", "mean", "-t", "rational", "--scale", "quantile"])):
            fitted, lines = self.check(RankSVM, x, y, params, words, qid)
            scores = [float(line.split()[0]) for line in lines.splitlines()]
            np.testing.assert_array_equal(fitted.predict(x, qid), scores)
            if "targets" in params:
                table = np.array([line.split() for line in lines.splitlines()], dtype=float)
                np.testing.assert_array_equal(fitted.predict_interval(x, qid), table[:, 1:].T)
                unknown = fitted.predict_interval(x[:2], [99, qid[0]])
                np.testing.assert_array_equal(np.isnan(unknown), [[True, False]] * 3)
            else:
                with self.assertRaisesRegex(ValueError, "targets=1"):
                    fitted.predict_interval(x, qid)
        with self.assertRaisesRegex(DualsvmError, "features of queries want a qid"):
            fitted.predict(x)

    def test_rank_pairs(self):
        x, rng = problem(rows=30)
        y = rng.randint(0, 4, len(x))
        qid = rng.randint(0, 3, len(x))
        for params, words in (
                ({"pair_features": "exterior", "kernel": "rbf"},
                 ["--pair-features", "exterior", "-t", "rbf"]),
                ({"probability": True}, ["-b", "1"])):
            fitted, lines = self.check(RankSVM, x, y, params, words, qid, predict=["--pairs"],
                                       options={"pairs": True})
            table = np.array([line.split() for line in lines.splitlines()], dtype=float)
            pairs, *columns = fitted.predict_pairs(x, qid)
            np.testing.assert_array_equal(pairs + 1, table[:, :2])
            np.testing.assert_array_equal(np.transpose(columns), table[:, 2:])
            nothing = fitted.predict_pairs(x[:2], [1, 2])
            self.assertEqual([len(column) for column in nothing[:2]], [0, 0])
        with self.assertRaisesRegex(DualsvmError, "pair features"):
            RankSVM(pair_features="exterior").fit(x, y).predict(x)

    def test_candidates(self):
        x, rng = problem(rows=120)
        systems = np.array(["Alpha", "Beta"])[rng.randint(0, 2, len(x))]
        y = x[:, 0] + .1 * rng.randn(len(x))
        fitted = RankSVM(targets=1, kernel="rbf").fit(x, y, qid=systems)
        fitted.save("model")
        x, rng = problem(rows=90, seed=2)
        number = rng.randint(0, 12, len(x))
        features = np.array(["F%d" % k for k in number])
        scores = rng.randint(0, 40, len(x)) / 8
        scores[:3] = np.nan, -np.inf, np.nan
        times = {"F%d" % k: float(k // 2 * 5 % 7) for k in range(11)}  # F11 has none
        beta = {"F1", "F2", "F5", "F6"}
        runs = {feature: "BETA" if feature in beta else "run 2" for feature in times}
        write_rows("candidates", scores.tolist(), x, features)
        with open("times", "w") as file:
            file.writelines("%s\t%r\t%s\n" % (f, times[f], runs[f]) for f in times)
        minutes = [times.get(f, np.nan) for f in features]
        run_of_row = [runs.get(f) for f in features]
        arguments = ((x, features, times, runs),
                     (x.astype(np.float32), features.tolist(), minutes, run_of_row),
                     (x, features.astype(object), np.array(minutes), np.array(run_of_row, object)))
        for params, words in (
                ({}, []),
                ({"trees": 4, "seed": 7}, ["--trees", "4", "--seed", "7"]),
                ({"edges": "sigmoid", "order_weight": 2.5}, ["--edges", "sigmoid", "-D", "2.5"]),
                ({"system": "Alpha", "time_weight": 1}, ["--system", "Alpha", "-E", "1"]),
                ({"order_weight": 0, "time_weight": 0}, ["-D", "0", "-E", "0"])):
            told = program("svm-rank-candidates", *words, "candidates", "model", "times")
            table = np.array([line.split("\t")[2:] for line in told.splitlines()[1:]], dtype=float)
            np.testing.assert_array_equal(table[:3, 0], scores[:3])
            for rows, f, t, r in arguments:
                found = fitted.rerank(rows, scores, f, t, runs=r, **params)
                np.testing.assert_array_equal(np.transpose(found), table[:, 1:])
        np.testing.assert_array_equal(found.order_score, fitted.predict(x))
        # features as numbers, one run
        write_rows("candidates", scores.tolist(), x, number)
        with open("times", "w") as file:
            file.writelines("%s\t%r\n" % (f[1:], times[f]) for f in times)
        told = program("svm-rank-candidates", "candidates", "model", "times")
        table = np.array([line.split("\t")[3:] for line in told.splitlines()[1:]], dtype=float)
        known = {int(f[1:]): times[f] for f in times}
        loaded = dualsvm.load("model")
        for f, t in ((number, known), (number.astype(float), known), (number.astype(str), minutes)):
            found = loaded.rerank(x, scores, f, t)
            np.testing.assert_array_equal(np.transpose(found), table)

    def test_multi_label(self):
        x, rng = problem()
        y = [set(np.flatnonzero(rng.rand(4) < .4).tolist()) for _ in x]
        for params, words in (
                ({}, []),
                ({"kernel": "rbf", "threshold": "scut"}, ["-t", "rbf", "--threshold", "scut"]),
                ({"free_bias": True, "at_least_one": True}, ["--free-bias", "--at-least-one"])):
            fitted, lines = self.check(MultiLabelRankSVM, x, y, params, words)
            told = [set(map(int, filter(None, line.split(",")))) for line in lines.splitlines()]
            self.assertEqual(fitted.predict(x), told)
            matrix = np.array([[k in row for k in range(4)] for row in y])
            other = MultiLabelRankSVM(**params).fit(x, matrix)
            other.save("ours")
            self.assertEqual(content("ours"), content("model"))
            np.testing.assert_array_equal(other.predict(x),
                                          [[k in row for k in range(4)] for row in told])

    def test_matrices(self):
        x, rng = problem()
        y = rng.randint(0, 3, len(x))
        for params, words in (
                ({"shape": (2, 3)}, ["--shape", "2x3"]),
                ({"shape": "3x2", "formulation": "nuclear", "tau": .5},
                 ["--shape", "3x2", "-s", "1", "--tau", "0.5"]),
                ({"shape": (2, 3), "rank": 2, "restarts": 3},
                 ["--shape", "2x3", "-k", "2", "--restarts", "3"])):
            fitted, lines = self.check(SupportMatrixMachine, x, y, params, words)
            self.assertEqual(list(map(str, fitted.predict(x))),
                             [line.split()[0] for line in lines.splitlines()])
        matrices = x.reshape(-1, 2, 3)
        params.pop("shape")
        other = SupportMatrixMachine(**params).fit(matrices, y)
        other.save("ours")
        self.assertEqual(content("ours"), content("model"))
        np.testing.assert_array_equal(other.predict(matrices), fitted.predict(x))

    def test_two_classes_of_matrices(self):
        x, rng = problem()
        y = np.where(x[:, 0] > 0, "yes", "no")
        fitted, lines = self.check(SupportMatrixMachine, x, y, {"shape": (2, 3)},
                                   ["--shape", "2x3"])
        table = [line.split() for line in lines.splitlines()]
        self.assertEqual(fitted.predict(x).tolist(), [row[0] for row in table])
        np.testing.assert_array_equal(fitted.decision_function(x), [float(r[1]) for r in table])
        np.testing.assert_array_equal(fitted.decision_function(x) > 0, fitted.predict(x) == "yes")

    def test_precomputed(self):
        x, rng = problem()
        y = rng.randint(0, 3, len(x))
        gram = (x @ x.T).astype(np.float32).astype(float)
        with open("rows", "w") as file:
            for i, row in enumerate(gram):
                file.write("%d 0:%d %s\n" % (y[i], i + 1, " ".join(
                    "%d:%r" % (j + 1, v) for j, v in enumerate(row) if v)))
        program("svm-mc-train", "-t", "precomputed", "rows", "model")
        lines = program("svm-mc-predict", "rows", "model", "/dev/stdout")
        fitted = MultiClassSVM(kernel="precomputed").fit(gram, y)
        fitted.save("ours")
        self.assertEqual(content("ours"), content("model"))
        self.assertEqual(list(map(str, fitted.predict(gram))), lines.split())
        gram = np.exp(-((x[:, None] - x) ** 2).sum(axis=2))
        direct = MultiClassSVM(kernel="rbf", gamma=1, tol=1e-8).fit(x, y)
        fitted = MultiClassSVM(kernel="precomputed", tol=1e-8).fit(gram, y)
        np.testing.assert_allclose(fitted.decision_function(gram[:9]),
                                   direct.decision_function(x[:9]), atol=1e-5)
        with self.assertRaisesRegex(ValueError, "square"):
            fitted.fit(gram[:, :9], y)
        same = MultiClassSVM(kernel="Precomputed", tol=1e-8).fit(gram, y)
        np.testing.assert_array_equal(same.decision_function(gram), fitted.decision_function(gram))
        whole = RankSVM(kernel="polynomial", degree=2).fit(x, y).predict(x)
        np.testing.assert_array_equal(RankSVM(kernel="POLY", degree=2).fit(x, y).predict(x), whole)

    def test_files(self):
        x, rng = problem()
        y = rng.randint(0, 3, len(x))
        fitted = MultiClassSVM().fit(x, y)
        fitted.save("model")
        fitted.save("model.gz")
        self.assertEqual(gzip.decompress(content("model.gz")), content("model"))
        np.testing.assert_array_equal(MultiClassSVM.load("model.gz").predict(x), fitted.predict(x))
        marked = b"\xef\xbb\xbf" + content("model")  # an editor's byte order mark
        for text in marked, gzip.compress(marked):
            with open("marked", "wb") as file:
                file.write(text)
            np.testing.assert_array_equal(MultiClassSVM.load("marked").predict(x), fitted.predict(x))
        with open("model.xz", "wb") as file:
            file.write(b"\xfd7zXZ\0\0")
        with self.assertRaisesRegex(Exception, "model.xz: compressed by xz: .*xz -dc model.xz"):
            MultiClassSVM.load("model.xz")
        with self.assertRaisesRegex(dualsvm.DualsvmError, "model"):
            TopClassifier.load("model")
        with self.assertRaisesRegex(dualsvm.DualsvmError, "missing"):
            dualsvm.load("missing")
        with self.assertRaises(dualsvm.DualsvmError):
            fitted.save("no/such/folder/model")
        with open("model", "ab") as file:
            file.write(b"more")
        with self.assertRaises(dualsvm.DualsvmError):
            dualsvm.load("model")

    def test_bytes_of_labels(self):
        """Labels of files are bytes, UTF-8 or not."""
        with open("rows", "wb") as file:
            file.write(b"caf\xe9 1:1\nb 2:1\n\xc3\xa9t\xc3\xa9 3:1\n" * 3)
        for family in ("mc", "ml", "top", "smm"):
            more = {"top": ["--positive", b"caf\xe9"], "smm": ["--shape", "1x3"]}.get(family, [])
            model = family + ".model"
            program("svm-%s-train" % family, *more, "rows", model)
            loaded = dualsvm.load(model)
            x = np.tile(np.eye(3), (3, 1))
            text = loaded.predict_text(x)
            program("svm-%s-predict" % family, "rows", model, "predictions")
            said = content("predictions")
            self.assertEqual(said, text.encode("utf-8", "surrogateescape"))
            loaded.save("again")
            self.assertEqual(content("again"), content(model))
            self.assertEqual(dualsvm.load("again").predict_text(x), text)
            if family in ("mc", "smm"):
                self.assertEqual(sorted(loaded.classes_.tolist()), ["b", "caf\udce9", "été"])
                self.assertEqual(loaded.predict(x).tolist(), ["caf\udce9", "b", "été"] * 3)
        fitted = MultiClassSVM(class_weight={"caf\udce9": 2, "b": 1}).fit(np.eye(2), ["caf\udce9", "b"])
        fitted.save("model")
        self.assertIn(b"caf\xe9", content("model"))
        self.assertEqual(dualsvm.load("model").predict(np.eye(2)).tolist(), ["caf\udce9", "b"])
        fitted = MultiClassSVM().fit(np.eye(2), [b"caf\xe9", b"b"])
        self.assertEqual(fitted.predict(np.eye(2)).tolist(), [b"caf\xe9", b"b"])

    def test_nul_characters(self):
        fitted = MultiClassSVM().fit(np.eye(2), np.array(["a\0", "a"], dtype=object))
        fitted.save("model")
        loaded = dualsvm.load("model")
        self.assertEqual(loaded.classes_.tolist(), ["a", "a\0"])
        self.assertEqual(loaded.predict(np.eye(2)).tolist(), ["a\0", "a"])
        for call in (fitted.save, dualsvm.load):  # C would end the name there
            with self.assertRaisesRegex(ValueError, "embedded null byte"):
                call("model\0.old")
        with self.assertRaisesRegex(ValueError, "embedded null byte"):
            MultiClassSVM(kernel="linear\0x").fit(np.eye(2), [0, 1])

    def test_intercept_of_many_features(self):
        with open("rows", "w") as file:
            file.write("1 1:1\n2 4294967295:1\n3 7:1\n" * 3)
        program("svm-mc-train", "-B", "1", "rows", "model")
        wide = dualsvm.load("model")
        self.assertEqual(wide.n_features_in_, 4294967295)
        with open("rows", "w") as file:
            file.write("1 1:1\n2 2:1\n3 3:1\n" * 3)
        program("svm-mc-train", "-B", "1", "rows", "model")
        np.testing.assert_allclose(wide.intercept_, dualsvm.load("model").intercept_, atol=1e-6)
        self.assertEqual(wide.intercept_.shape, (3,))

    def test_measures(self):
        x, rng = problem()
        y = rng.randint(0, 3, len(x))
        write_rows("rows", y, x)
        MultiClassSVM().fit(x, y).save("model")
        told = program("svm-mc-predict", "--metrics", "rows", "model")
        loaded = dualsvm.load("model")
        self.assertEqual({name: float(value) for name, value in
                          (line.split() for line in told.splitlines())}, loaded.measures(x, y))
        self.assertEqual(loaded.measures(x, y)["accuracy"], loaded.score(x, y))


if __name__ == "__main__":
    unittest.main()
