"""Accepted and refused kinds of X, y and parameters."""
import copy
import inspect
import math
import pickle
import unittest
import warnings

import numpy as np
from support import Case, problem

import dualsvm
from dualsvm import (DualsvmError, MultiClassSVM, MultiLabelRankSVM, RankSVM, SupportMatrixMachine,
                     TopClassifier)
from dualsvm import _options

ALL = (MultiClassSVM, TopClassifier, SupportMatrixMachine, MultiLabelRankSVM, RankSVM)


class Labels(Case):
    def setUp(self):
        super().setUp()
        self.x, rng = problem()
        self.codes = (self.x[:, 0] > 0).astype(int) + (self.x[:, 1] > 0)

    def classes(self, values):
        """Fits three classes of these values and returns the model's labels."""
        y = np.asarray(values)[self.codes]
        fitted = MultiClassSVM(C=10).fit(self.x, y)
        self.assertEqual(fitted.classes_.tolist(), sorted(set(y.tolist())))
        self.assertEqual(fitted.predict(self.x).dtype, fitted.classes_.dtype)
        plain = MultiClassSVM(C=10).fit(self.x, self.codes)
        np.testing.assert_array_equal(fitted.predict(self.x),
                                      np.asarray(values)[plain.predict(self.x)])
        order = np.argsort(np.argsort(values)) if len(set(values)) == 3 else None
        np.testing.assert_array_equal(fitted.decision_function(self.x)[:, order],
                                      plain.decision_function(self.x))
        fitted.save("model")
        loaded = dualsvm.load("model")
        self.assertEqual(loaded.classes_.tolist(), fitted.classes_.tolist())
        np.testing.assert_array_equal(loaded.predict(self.x), fitted.predict(self.x))
        return fitted.model_.labels

    def test_numbers(self):
        self.assertEqual(self.classes([1, 2, 10]), ["1", "2", "10"])
        self.assertEqual(self.classes([-3.0, 0.0, 5.0]), ["-3", "0", "5"])
        self.assertEqual(self.classes(np.array([7, 8, 250], dtype=np.uint8)), ["7", "8", "250"])

    def test_texts(self):
        self.assertEqual(self.classes(["a", "b", "c"]), ["a", "b", "c"])
        self.assertEqual(self.classes(np.array(["x", "yy", "z"], dtype=object)), ["x", "yy", "z"])
        self.assertEqual(self.classes(["50%", "\u00e9t\u00e9", "\u03b1"]),
                         ["50%", "\u00e9t\u00e9", "\u03b1"])

    def test_texts_that_are_no_words(self):
        self.assertEqual(self.classes(["", "50%", "a b: c,d#e"]),
                         ["%", "50%25", "a%20b%3A%20c%2Cd%23e"])

    def test_texts_of_numbers(self):
        """Files order them by number, Python as texts."""
        y = np.array(["9", "10", "-1"])[self.codes]
        fitted = MultiClassSVM(C=10).fit(self.x, y)
        self.assertEqual(fitted.model_.labels, ["-1", "9", "10"])
        self.assertEqual(fitted.classes_.tolist(), ["-1", "10", "9"])
        fitted.save("model")
        self.assertEqual(dualsvm.load("model").classes_.tolist(), [-1, 9, 10])
        plain = MultiClassSVM(C=10).fit(self.x, self.codes)
        self.assertEqual(fitted.score(self.x, y), plain.score(self.x, self.codes))
        with self.assertRaisesRegex(ValueError, "equal as numbers"):
            MultiClassSVM().fit(self.x, np.array(["1", "1.0", "2"])[self.codes])
        with self.assertRaisesRegex(ValueError, "equal as numbers"):
            MultiLabelRankSVM().fit(self.x, [{"1", "2"}, {"1.0"}] * 40)

    def test_booleans(self):
        y = self.x[:, 0] > 0
        for cls in (TopClassifier, SupportMatrixMachine, MultiClassSVM):
            fitted = cls(C=10).fit(self.x, y)
            self.assertEqual(fitted.predict(self.x).dtype, bool)
            self.assertGreater(fitted.score(self.x, y), .8)
            np.testing.assert_array_equal(fitted.decision_function(self.x) > 0,
                                          fitted.predict(self.x))

    def test_positive(self):
        """The second class in order is positive, or the one given by pos_label."""
        base = TopClassifier().fit(self.x, self.x[:, 0] > 0)
        for names in ([1, 2], [-2, -1], ["no", "yes"], ["-1", "1"], ["a b", "c"]):
            y = np.array(names)[(self.x[:, 0] > 0).astype(int)]
            fitted = TopClassifier().fit(self.x, y)
            np.testing.assert_array_equal(fitted.decision_function(self.x),
                                          base.decision_function(self.x))
            other = TopClassifier(pos_label=names[0]).fit(self.x, y)
            self.assertEqual(other.classes_.tolist(), sorted(names))
            np.testing.assert_array_equal(other.decision_function(self.x) < 0,
                                          other.predict(self.x) == names[0])
            np.testing.assert_allclose(other.coef_ @ self.x.T + other.intercept_,
                                       other.decision_function(self.x)[None], atol=1e-12)
            np.testing.assert_array_equal(
                other.decision_function(self.x),
                other.threshold_ - other.score_samples(self.x))  # as doc/python.md has it
        for label in (0, 1):  # of the saved model only
            fitted = SupportMatrixMachine("svm", positive=label).fit(self.x, self.x[:, 0] > 0)
            self.assertEqual(fitted.model_.labels[1], str(label))
            np.testing.assert_array_equal(fitted.decision_function(self.x) > 0,
                                          fitted.predict(self.x))
        self.assertRegex(SupportMatrixMachine.__doc__,
                         r"positive : text.*\n +In the saved model, predict_text and the programs:")
        with self.assertRaisesRegex(ValueError, "pos_label"):
            TopClassifier(pos_label=5).fit(self.x, y)
        with self.assertRaisesRegex(ValueError, "binary"):
            TopClassifier().fit(self.x, self.codes)

    def test_sets(self):
        words = ["a", "b c", "d"]
        sets = [{words[k] for k in range(3) if row[k] > 0} for row in self.x]
        fitted = MultiLabelRankSVM(C=10).fit(self.x, sets)
        self.assertEqual(fitted.classes_.tolist(), words)
        self.assertEqual(fitted.model_.labels, ["a", "b%20c", "d"])
        predicted = fitted.predict(self.x)
        self.assertTrue(all(isinstance(row, set) and row <= set(words) for row in predicted))
        self.assertGreater(fitted.score(self.x, sets), .5)
        fitted.save("model")
        self.assertEqual(dualsvm.load("model").predict(self.x), predicted)
        self.assertEqual(dualsvm.load("model").measures(self.x, sets)["subset-accuracy"],
                         fitted.score(self.x, sets))
        lists = [list(row) * 2 for row in sets]
        mixed = np.empty(80, dtype=object)
        mixed[:] = [(tuple, list, set)[i % 3](row) for i, row in enumerate(sets)]
        for same in (lists, tuple(lists), [tuple(row) for row in sets], mixed):
            other = MultiLabelRankSVM(C=10).fit(self.x, same)
            self.assertEqual(other.model_.bytes(), fitted.model_.bytes())
            self.assertEqual(other.predict(self.x), predicted)
            self.assertEqual(other.score(self.x, same), fitted.score(self.x, sets))
        pairs = MultiLabelRankSVM().fit(self.x, [[1, 2], [3, 2]] * 40)
        self.assertEqual(pairs.classes_.tolist(), [1, 2, 3])
        matrix = MultiLabelRankSVM().fit(self.x, [[1, 0], [1, 1]] * 40)
        self.assertEqual(matrix.predict(self.x).shape, (80, 2))
        texts = np.array(["a,b", "c"] * 40)
        for y in (texts, texts.tolist(), texts.astype(object)):
            with self.assertRaisesRegex(ValueError, r"comma in 'a,b'.*text.split\(','\) for text in y"):
                MultiLabelRankSVM().fit(self.x, y)
        split = MultiLabelRankSVM().fit(self.x, [text.split(",") for text in texts])
        self.assertEqual(split.classes_.tolist(), ["a", "b", "c"])
        kept = MultiLabelRankSVM().fit(self.x, [[text] for text in texts])
        self.assertEqual(kept.classes_.tolist(), ["a,b", "c"])
        with self.assertRaisesRegex(ValueError, "list of sets"):
            fitted.fit(self.x, [[[1]], [1, 2]] * 40)
        with self.assertRaisesRegex(ValueError, "all texts"):
            fitted.fit(self.x, [{1, "a"}] * 80)

    def test_forms_of_sets(self):
        """score and measures take labels in any form, whatever the form in fit was."""
        matrix = (self.x[:, :3] > .5).astype(int)
        sets = [set(np.flatnonzero(row).tolist()) for row in matrix]
        texts = [{"cab"[k] for k in row} for row in sets]
        one = np.array(["b", "c"])[matrix[:, 0]]
        base = MultiLabelRankSVM(C=10).fit(self.x, matrix)
        share = base.score(self.x, matrix)
        self.assertTrue(.1 < share < 1)
        base.save("model")
        for fitted in (base, dualsvm.load("model"), MultiLabelRankSVM(C=10).fit(self.x, sets)):
            for y in (matrix, matrix.tolist(), matrix.astype(bool), sets, list(map(sorted, sets))):
                self.assertEqual(fitted.score(self.x, y), share)
                self.assertEqual(fitted.measures(self.x, y), base.measures(self.x, matrix))
            alone = np.array([len(row) == 1 for row in sets])
            label = [row.copy().pop() for row in np.array(sets)[alone]]
            self.assertEqual(fitted.score(self.x[alone], label),
                             base.score(self.x[alone], matrix[alone]))
        by_text = MultiLabelRankSVM(C=10).fit(self.x, texts)
        self.assertEqual(by_text.score(self.x, matrix[:, [1, 2, 0]]), by_text.score(self.x, texts))
        self.assertEqual(by_text.measures(self.x, matrix[:, [1, 2, 0]]),
                         by_text.measures(self.x, texts))
        best = MultiLabelRankSVM().fit(self.x, one)
        self.assertEqual(best.score(self.x, [{label} for label in one]), best.score(self.x, one))
        self.assertEqual(best.score(self.x, [{"b", "c"}] * 80), 0)
        self.assertEqual(by_text.score(self.x, [{"new"} | row for row in texts]), 0)
        for fitted in (base, dualsvm.load("model"), by_text):
            for call in fitted.score, fitted.measures:
                with self.assertRaisesRegex(ValueError, "y has 2 columns, and classes_ has 3 labels"):
                    call(self.x, matrix[:, :2])
        for fitted in (base, dualsvm.load("model")):
            for call in fitted.score, fitted.measures:
                with self.assertRaisesRegex(ValueError, "not in classes_: a, b, c$"):
                    call(self.x, texts)
        with self.assertRaisesRegex(ValueError, "not in classes_: 3$"):
            base.measures(self.x, [row | {3} for row in sets])

    def test_fit_of_loaded(self):
        """A loaded estimator has the parameters of the file, and fits the same model with them."""
        grade, two = np.arange(80) % 3, (self.codes > 1).astype(int)
        sets = [set(np.flatnonzero(row > 0).tolist()) for row in self.x[:, :3]]
        for estimator, y in (
                (SupportMatrixMachine("nuclear", tau=2, shape=(2, 3)), two),
                (SupportMatrixMachine("svm", shape=(2, 3), scale="std"), two),
                (SupportMatrixMachine(rank=2, shape=(2, 3)), two),
                (MultiClassSVM(margin_scale=.5, scale="l2", kernel="rbf", max_sv=9), self.codes),
                (TopClassifier("patmat", tau=.1, theta=2, scale="minmax"), two),
                (MultiLabelRankSVM(scale="quantile"), sets),
                (RankSVM(cost_per="ndcg", gain="linear"), grade),
                (RankSVM(pair_features="exterior"), grade)):
            fitted = estimator.fit(self.x, y)
            fitted.save("model")
            loaded = dualsvm.load("model")
            for name, value in fitted.get_params().items():
                if value != "auto":
                    self.assertEqual(loaded.get_params()[name], value)
            self.assertEqual(loaded.fit(self.x, y).model_.bytes(), fitted.model_.bytes())

    def test_labels_of_no_row(self):
        matrix = np.column_stack([self.x[:, :2] > 0, np.zeros(80), np.ones(80)])
        fitted = MultiLabelRankSVM(C=10).fit(self.x, matrix)
        scores = fitted.decision_function(self.x)
        self.assertEqual(scores.shape, (80, 4))
        self.assertTrue((scores[:, 2] < np.delete(scores, 2, axis=1).min(axis=1)).all())
        self.assertFalse(fitted.predict(self.x)[:, 2].any())

    def test_names_of_labels(self):
        """The columns of a data frame of 0 and 1 are the classes."""
        class Frame:
            columns = ["b", "a", "c d"]
            shape, ndim = (80, 3), 2

            def __array__(frame, dtype=None, copy=None):
                return matrix.astype(object)

            def __len__(frame):
                return 80

        matrix = (self.x[:, :3] > 0).astype(int)
        frame = Frame()
        plain = MultiLabelRankSVM(C=10).fit(self.x, matrix)
        fitted = MultiLabelRankSVM(C=10).fit(self.x, frame)
        self.assertEqual(fitted.classes_.tolist(), Frame.columns)
        np.testing.assert_array_equal(fitted.predict(self.x), plain.predict(self.x))
        for y in (frame, matrix):
            self.assertEqual(fitted.score(self.x, y), plain.score(self.x, matrix))
            self.assertEqual(fitted.measures(self.x, y), plain.measures(self.x, matrix))
        fitted.save("model")
        loaded = dualsvm.load("model")
        self.assertEqual(loaded.classes_.tolist(), ["a", "b", "c d"])
        self.assertEqual(loaded.score(self.x, frame), plain.score(self.x, matrix))
        self.assertEqual(loaded.measures(self.x, frame), plain.measures(self.x, matrix))
        for columns, words in ((["a", "b", "c d"], "columns of y"), (["a", "a", "b"], "one name")):
            frame.columns = columns
            with self.assertRaisesRegex(ValueError, words):
                fitted.measures(self.x, frame)

    def test_queries(self):
        y = self.x[:, 0] + 9 * (np.arange(80) % 4)
        number = np.arange(80) % 4
        base = RankSVM().fit(self.x, y, qid=number)
        for qid in (number.astype(float), number.tolist(), np.array(list("abcd"))[number],
                    np.array(["q 1", "q 2", "", "#"], dtype=object)[number], number - 2):
            fitted = RankSVM().fit(self.x, y, qid=qid)
            # sums over queries in another order
            np.testing.assert_allclose(fitted.predict(self.x), base.predict(self.x), rtol=1e-9)
            self.assertEqual(fitted.score(self.x, y, qid=qid), base.score(self.x, y, qid=number))
        apart = RankSVM().fit(self.x, y, qid=np.where(number < 2, 1e19, 2e19))  # beyond 2^63
        self.assertEqual(apart.model_.bytes(),
                         RankSVM().fit(self.x, y, qid=np.where(number < 2, "1e19", "2e19"))
                         .model_.bytes())

    def test_words_that_only_python_takes_for_numbers(self):
        for names in (["1_1", "11"], ["nan", "1"], ["inf", "2"], ["0x10", "16"], ["\u0661", "1"]):
            y = np.array(names)[np.arange(80) % 2]
            MultiClassSVM().fit(self.x, y).save("words")
            loaded = dualsvm.load("words")
            self.assertEqual(loaded.classes_.tolist(), sorted(names))
            self.assertTrue(set(loaded.predict(self.x)) <= set(names))

    def test_order(self):
        fitted = RankSVM().fit(np.eye(4), [1, 2, 3, 4])
        self.assertEqual(fitted.predict_text(np.eye(4), order=True), "1 2 3 4\n")
        self.assertEqual(fitted.predict_text(np.eye(4), order="best-first"), "4 3 2 1\n")

    def test_measures_write_no_files(self):
        y = np.arange(80) % 2
        with self.assertRaisesRegex(ValueError, "roc: measures writes no file"):
            TopClassifier().fit(self.x, y).measures(self.x, y, roc="curve")

    def test_candidates(self):
        """Arguments of RankSVM.rerank; what it computes is tested against the program."""
        fitted = RankSVM().fit([[1], [2], [3], [4]], [1.5, 2.5, 5, 8])
        known = {"X": [[1], [4], [3], [2]], "scores": [.5, .6, .9, .1],
                 "features": ["F1", "F1", "F 2", "F 2"], "times": {"F1": 2, "F 2": 6, "F3": 9},
                 "order_weight": .5}
        found = fitted.rerank(**known)
        self.assertEqual(found.rank.tolist(), [1, 2, 1, 2])
        self.assertEqual([array.shape for array in found], [(4,)] * 3)
        for same in ({"times": [2, 2, 6, 6]}, {"runs": {"F1": "a", "F 2": "a"}}, {"runs": [7] * 4},
                     {"runs": {}}, {"runs": [None, "", None, ""]},
                     {"features": np.array([b"x", b"x", b"y", b"y"]), "times": {b"x": 2, b"y": 6}}):
            again = fitted.rerank(**{**known, **same})
            np.testing.assert_array_equal(found, again, str(same))
        for alone in ({"runs": {"F1": "a", "F 2": "b"}}, {"order_weight": 0}, {"times": {"F1": 2}},
                      {"times": {"F1": 2, "F 2": None}}, {"times": [2, 2, np.nan, np.nan]}):
            self.assertEqual(fitted.rerank(**{**known, **alone}).rank.tolist(), [2, 1, 1, 2], alone)
        for none in (np.nan, -np.inf, None):
            scores = fitted.rerank(**{**known, "scores": [none, none, .9, .1]}).score
            self.assertEqual(scores[0], 0)
        for wrong, message in (
                ({"scores": [1, 2, 3, np.inf]}, "scores contains infinity"),
                ({"scores": list("abcd")}, "scores must be numbers"),
                ({"scores": [1, 2, 3]}, "inconsistent"),
                ({"features": ["F1"]}, "inconsistent"),
                ({"features": [None] * 4}, "features contains NaN"),
                ({"times": {"F1": np.inf}}, "times contains infinity"),
                ({"times": {"F1": "x"}}, "times must be numbers"),
                ({"times": {}}, "no feature has a time"),
                ({"times": None}, "times"),
                ({"times": [1, 2]}, "inconsistent"),
                ({"times": [1, 2, 3, 3]}, "minutes of row 2: 2, and 1 in another row of feature F1"),
                ({"runs": list("abaa")}, "run of row 2: 'b', and 'a'"),
                ({"order_weight": -1}, "--order-weight"),
                ({"order_weight": [1, 2]}, "--order-weight"),
                ({"time_weight": 1}, "none of the runs"),
                ({"system": "x"}, "--system x"),
                ({"edges": "linear"}, "hinge"),
                ({"trees": 1.5}, "--trees"),
                ({"X": [[1, 2]] * 4}, "2 features")):
            with self.assertRaisesRegex(ValueError, message, msg=str(wrong)):
                fitted.rerank(**{**known, **wrong})
        with self.assertRaisesRegex(ValueError, "not fitted"):
            RankSVM().rerank(**known)
        pairs = RankSVM(pair_features="exterior").fit([[1], [2], [3]], [1, 2, 3])
        with self.assertRaisesRegex(DualsvmError, "pair features"):
            pairs.rerank(**known)
        options = _options.table("rank", _options.lib.CANDIDATES)
        parameters = inspect.signature(RankSVM.rerank).parameters
        for name in ("order_weight", "time_weight", "edges", "trees", "seed"):
            self.assertEqual(options[name.replace("_", "-")].default, str(parameters[name].default))

    def test_scores(self):
        """y of another length is not compared."""
        sets = [{1} if code else {2} for code in self.codes]
        matrix = np.eye(3)[self.codes]
        for cls, y in ((MultiClassSVM, self.codes), (TopClassifier, self.codes > 0),
                       (SupportMatrixMachine, self.codes), (MultiLabelRankSVM, sets),
                       (MultiLabelRankSVM, matrix), (MultiLabelRankSVM, self.codes)):
            fitted = cls().fit(self.x, y)
            weight = np.arange(80)
            right = [fitted.score(self.x[i:i + 1], y[i:i + 1]) for i in range(80)]
            self.assertAlmostEqual(fitted.score(self.x, y), np.mean(right))
            self.assertAlmostEqual(fitted.score(self.x, y, weight),
                                   np.average(right, weights=weight))
            for wrong in (y[:5], y[:1]):
                with self.assertRaises(ValueError):
                    fitted.score(self.x, wrong)

    def test_wrong_labels(self):
        for y, words in ((None, "None"), (self.codes[:-1], r"\[80, 79\]"),
                         (self.x[:, 0], "continuous"), (np.full(80, np.nan), "NaN"),
                         (np.where(self.codes, np.inf, 0), "infinity"),
                         (np.zeros(80), "class"), ([None] * 80, "NaN"),
                         (np.array([1, "a"] * 40, dtype=object), "all texts"),
                         (np.zeros((80, 2, 2)), "1d|2"), (np.array([1j] * 80), "Complex")):
            for cls in (MultiClassSVM, TopClassifier, SupportMatrixMachine, MultiLabelRankSVM):
                with self.subTest(cls=cls, y=str(y)[:40]), \
                        self.assertRaisesRegex(ValueError, words):
                    cls().fit(self.x, y)
        for y, words in ((None, "None"), (self.codes[:-1], r"\[80, 79\]"),
                         (np.full(80, np.nan), "NaN"), (["a"] * 80, "numbers"),
                         (np.zeros((80, 3)), "1d"), (np.zeros(80), "preference")):
            with self.subTest(y=str(y)[:40]), self.assertRaisesRegex(ValueError, words):
                RankSVM().fit(self.x, y)
        with self.assertRaisesRegex(ValueError, "inconsistent"):
            RankSVM().fit(self.x, self.codes, qid=[1, 2])
        for qid in ([None] * 80, np.full(80, np.nan), [1, None] * 40):
            with self.assertRaisesRegex(ValueError, "NaN"):
                RankSVM().fit(self.x, self.codes, qid=qid)


class Values(Case):
    def setUp(self):
        super().setUp()
        self.x, rng = problem()
        self.y = (self.x[:, 0] > 0).astype(int)

    def test_wrong_rows(self):
        with_nan, with_infinity = self.x.copy(), self.x.copy()
        with_nan[3, 2], with_infinity[3, 2] = np.nan, np.inf
        for x, words in ((with_nan, "NaN"), (with_infinity, "infinity"), (self.x[0], "2D"),
                         (5, "2D"), (self.x[:0], "0 sample"), (self.x[:, :0], "0 feature"),
                         (self.x * 1j, "Complex"), (np.full((80, 2), "a"), "number"),
                         (self.x * 1e300, "")):
            for cls in ALL:
                with self.subTest(cls=cls, x=str(x)[:40]), self.assertRaisesRegex(
                        (ValueError, TypeError), words):
                    cls().fit(x, self.y[:len(x)] if np.ndim(x) > 1 else self.y)

    def test_wrong_sparse(self):
        sparse = __import__("scipy.sparse").sparse
        bad = sparse.csr_matrix(self.x)
        bad.data[5] = np.nan
        with self.assertRaisesRegex(ValueError, "NaN"):
            MultiClassSVM().fit(bad, self.y)
        for array, at, value in (("indptr", 3, 10**6), ("indptr", 3, -7), ("indptr", 0, 2),
                                 ("indices", 3, 6), ("indices", 3, -5)):
            bad = sparse.csr_matrix(self.x)
            getattr(bad, array)[at] = value
            with self.subTest(array=array, value=value), self.assertRaises(ValueError):
                MultiClassSVM().fit(bad, self.y)
        empty = sparse.csr_matrix((80, 3))
        fitted = MultiClassSVM().fit(empty, self.y)
        self.assertEqual(fitted.predict(empty).shape, (80,))

    def test_rows_stay_as_they_are(self):
        for x in (self.x.astype(np.float32), self.x.copy(), np.asfortranarray(self.x)):
            before = x.copy()
            x.setflags(write=False)
            MultiClassSVM(scale="std", kernel="rbf").fit(x, self.y).predict(x)
            np.testing.assert_array_equal(x, before)

    def test_other_widths(self):
        fitted = MultiClassSVM().fit(self.x, self.y)
        with self.assertRaisesRegex(ValueError, "X has 5 features.*expecting 6"):
            fitted.predict(self.x[:, :5])
        fitted.save("model")
        loaded = MultiClassSVM.load("model")
        wide = np.hstack([self.x, np.ones((80, 3))])
        np.testing.assert_array_equal(loaded.predict(wide), fitted.predict(self.x))

    def test_last_column_of_zeros(self):
        x = np.hstack([self.x, np.zeros((80, 2))])
        fitted = MultiClassSVM().fit(x, self.y)
        self.assertEqual((fitted.n_features_in_, fitted.coef_.shape), (8, (1, 8)))
        self.assertFalse(fitted.coef_[:, 6:].any())

    def test_coefficients(self):
        y3 = self.y + (self.x[:, 1] > 0)
        for cls, y in ((MultiClassSVM, y3), (MultiClassSVM, self.y), (TopClassifier, self.y),
                       (SupportMatrixMachine, y3), (SupportMatrixMachine, self.y)):
            fitted = cls().fit(self.x, y)
            scores = self.x @ fitted.coef_.T + fitted.intercept_
            np.testing.assert_allclose(np.squeeze(scores), fitted.decision_function(self.x),
                                       rtol=1e-12, atol=1e-12)
        ranked = RankSVM().fit(self.x, self.x[:, 0])
        np.testing.assert_allclose(self.x @ ranked.coef_, ranked.predict(self.x), rtol=1e-12,
                                   atol=1e-12)
        indicator = np.column_stack([self.x[:, :2] > 0, np.zeros(80)])
        sets = MultiLabelRankSVM(free_bias=True).fit(self.x, indicator)
        np.testing.assert_allclose((self.x @ sets.coef_.T + sets.intercept_)[:, :2],
                                   sets.decision_function(self.x)[:, :2], rtol=1e-12, atol=1e-12)
        self.assertFalse(sets.coef_[2].any())
        self.assertFalse(hasattr(MultiClassSVM(kernel="rbf").fit(self.x, self.y), "coef_"))
        self.assertFalse(hasattr(MultiClassSVM(), "coef_"))
        pairs = RankSVM(pair_features="exterior").fit(self.x, self.x[:, 0])
        self.assertFalse(hasattr(pairs, "coef_"))

    def test_support_vectors(self):
        y3 = self.y + (self.x[:, 1] > 0)
        for cls, y in ((MultiClassSVM, y3), (MultiClassSVM, self.y), (TopClassifier, self.y),
                       (RankSVM, self.x[:, 0]), (MultiLabelRankSVM, np.eye(3)[y3])):
            fitted = cls(kernel="rbf", gamma=.5, C=10).fit(self.x, y)
            vectors = fitted.support_vectors_.toarray()
            squares = ((self.x[:, None] - vectors) ** 2).sum(axis=2)
            scores = np.exp(-squares / 2) @ fitted.dual_coef_.T + getattr(fitted, "intercept_", 0)
            if cls is TopClassifier:
                scores -= fitted.threshold_
            np.testing.assert_allclose(np.squeeze(scores), fitted.decision_function(self.x),
                                       rtol=1e-9, atol=1e-9)
            self.assertFalse(hasattr(fitted, "support_"))
            given = cls(kernel="precomputed", C=10).fit(self.x @ self.x.T, y)
            np.testing.assert_allclose((self.x @ self.x.T)[:, given.support_] @ given.dual_coef_.T,
                                       (given._scores(self.x @ self.x.T) if cls is TopClassifier
                                        else given.decision_function(self.x @ self.x.T)).reshape(
                                            (80,) + given.dual_coef_.shape[:-1]), atol=1e-4)
            self.assertFalse(hasattr(given, "support_vectors_"))
            self.assertFalse(hasattr(cls().fit(self.x, y), "dual_coef_"))
            self.assertFalse(hasattr(cls(kernel="precomputed"), "support_"))

    def test_support_vectors_with_query_features(self):
        found = RankSVM(query_features="mean", kernel="rbf").fit(
            self.x, self.x[:, 0], qid=np.arange(80) % 5).support_vectors_
        self.assertEqual(found.shape[1], 12)
        self.assertEqual(found.toarray().shape, found.shape)

    def test_matrices(self):
        cubes = self.x.reshape(80, 2, 3)
        fitted = SupportMatrixMachine().fit(cubes, self.y)
        self.assertEqual((fitted.shape_, fitted.n_features_in_), ((2, 3), 6))
        self.assertEqual(fitted.coef_.shape, (1, 2, 3))
        np.testing.assert_allclose((cubes * fitted.coef_).sum(axis=(1, 2)) + fitted.intercept_,
                                   fitted.decision_function(cubes), atol=1e-12)
        for call, words in ((lambda: fitted.predict(self.x.reshape(80, 3, 2)), "3 x 2"),
                            (lambda: SupportMatrixMachine(shape="3x2").fit(cubes, self.y), "2 x 3"),
                            (lambda: SupportMatrixMachine(shape=(4, 2)).fit(self.x, self.y), "8"),
                            (lambda: SupportMatrixMachine(shape=7).fit(self.x, self.y), "shape"),
                            (lambda: SupportMatrixMachine(shape="2x").fit(self.x, self.y), "shape"),
                            (lambda: MultiClassSVM().fit(cubes, self.y), "2D")):
            with self.assertRaisesRegex(ValueError, words):
                call()

    def test_rows_that_may_be_flattened_matrices(self):
        warnings.simplefilter("error")
        for formulation in ("lowrank", "nuclear"):
            with self.assertWarnsRegex(UserWarning, r"matrix of one row.*shape=\(h, w\)") as warned:
                SupportMatrixMachine(formulation).fit(self.x, self.y)
            self.assertEqual(warned.filename, __file__)
        for params in ({"shape": (1, 6)}, {"shape": (2, 3)}, {"formulation": "svm"}):
            SupportMatrixMachine(**params).fit(self.x, self.y)

    def test_rank_above_the_sides(self):
        with self.assertWarnsRegex(UserWarning, "rank=3 is no limit: matrices of 2 x 3 .* 2 at most"):
            SupportMatrixMachine(rank=3, shape=(2, 3)).fit(self.x, self.y)
        SupportMatrixMachine(rank=2, shape=(2, 3)).fit(self.x, self.y)
        with self.assertRaisesRegex(ValueError, "rank"):
            SupportMatrixMachine(rank="x", shape=(2, 3)).fit(self.x, self.y)

    def test_names_of_columns(self):
        class Frame:
            columns = ["a", "b", "c", "d", "e", "f"]

            def __array__(frame, dtype=None, copy=None):
                return self.x

        fitted = MultiClassSVM().fit(Frame(), self.y)
        self.assertEqual(fitted.feature_names_in_.tolist(), Frame.columns)
        fitted.predict(Frame())
        fitted.predict(self.x)
        other = Frame()
        other.columns = Frame.columns[::-1]
        with self.assertRaisesRegex(ValueError, "feature names"):
            fitted.predict(other)

    def test_weights(self):
        """A row of weight 2 is equivalent to two equal rows, in any layout of rows."""
        sparse = __import__("scipy.sparse").sparse
        weight = (np.arange(80) % 4) / 2
        twice = np.repeat(np.arange(80), np.arange(80) % 4)
        sets = [{"a"}, set(), {"b", "c"}, {"a", "c"}] * 20
        y3 = self.y + (self.x[:, 1] > 0)
        for cls, y in ((MultiClassSVM, y3), (SupportMatrixMachine, self.y), (TopClassifier, self.y),
                       (MultiLabelRankSVM, sets), (MultiLabelRankSVM, y3)):
            y_twice = [y[i] for i in twice]
            for x in (self.x, sparse.csr_matrix(self.x)):
                weighted = cls(C=2, tol=1e-6).fit(x, y, sample_weight=weight)
                plain = cls(tol=1e-6).fit(x[twice], y_twice)
                np.testing.assert_allclose(weighted.primal_, plain.primal_, rtol=1e-5)
        for cls, y in ((MultiClassSVM, y3), (SupportMatrixMachine, self.y), (MultiLabelRankSVM, sets),
                       (MultiLabelRankSVM, y3)):
            any_weight = np.linspace(.1, 1, 80) ** .5
            weighted = cls(tol=1e-6).fit(self.x, y, any_weight)
            y_twice = [y[i] for i in twice]
            half = cls(tol=1e-6).fit(self.x[twice], y_twice, any_weight[twice] / (twice % 4))
            ours = cls(tol=1e-6).fit(self.x, y, any_weight * (weight > 0))
            np.testing.assert_allclose(half.primal_, ours.primal_, rtol=1e-5)
            self.assertGreater(weighted.primal_, ours.primal_ * (1 + 1e-4))
        balanced = MultiClassSVM(class_weight="balanced").fit(self.x, y3)
        each = (80 / 3 / np.bincount(y3))[y3]
        np.testing.assert_allclose(MultiClassSVM().fit(self.x, y3, each).primal_, balanced.primal_)
        qid = np.arange(80) // 10
        for by_query, own in ((np.array([1, .5, 0, 3, 1, 1, 1, 1])[qid], {1: .5, 3: 3}),):
            weighted = RankSVM().fit(self.x, self.x[:, 0], qid, sample_weight=by_query)
            left = qid != 2
            plain = RankSVM(weight=own).fit(self.x[left], self.x[left, 0], qid[left])
            self.assertEqual(weighted.primal_, plain.primal_)
        np.testing.assert_allclose(RankSVM().fit(self.x, self.x[:, 0], sample_weight=3).primal_,
                                   RankSVM(C=3).fit(self.x, self.x[:, 0]).primal_)
        kernel = self.x @ self.x.T
        for cls in MultiClassSVM, MultiLabelRankSVM:
            np.testing.assert_allclose(cls(kernel="precomputed").fit(kernel, y3, weight + 1).primal_,
                                       cls().fit(self.x, y3, weight + 1).primal_, rtol=1e-3)
        for call, words in (
                (lambda: MultiClassSVM().fit(self.x, y3, (y3 > 0) * 1.), "class"),
                (lambda: RankSVM().fit(self.x, y3, qid, weight), "different weights"),
                (lambda: RankSVM(weight={1: 2}).fit(self.x, y3, qid, 2), "not both"),
                (lambda: MultiClassSVM(kernel="precomputed").fit(kernel, y3, weight), "precomputed"),
                (lambda: MultiLabelRankSVM().fit(self.x, y3, (y3 == 0) * 1.), "one class"),
                (lambda: MultiLabelRankSVM().fit(self.x, y3, -1), "negative")):
            with self.assertRaisesRegex(ValueError, words):
                call()
        plain = TopClassifier(tol=1e-6).fit(self.x, self.y)
        for weight in (np.ones(80), [1] * 80, 1, np.float32(1)):
            weighted = TopClassifier(tol=1e-6).fit(self.x, self.y, sample_weight=weight)
            np.testing.assert_allclose(weighted.primal_, plain.primal_, rtol=1e-5)
        for weight, words in ((np.ones(79), "sample_weight.shape"), (np.ones((80, 1)), "1D"),
                              (-np.ones(80), ""), (np.full(80, np.nan), "NaN"),
                              (self.y.astype(float), "class")):
            with self.assertRaisesRegex(ValueError, words):
                TopClassifier().fit(self.x, self.y, sample_weight=weight)


class Parameters(Case):
    def setUp(self):
        super().setUp()
        self.x, rng = problem()
        self.y = (self.x[:, 0] > 0).astype(int)

    def test_defaults_are_the_programs(self):
        for cls in ALL:
            table = _options.table(cls._family, 0)
            parameters = dualsvm._base.signature(cls)
            for name, default in parameters.items() - {("verbose", False)}:
                initial = table[dualsvm._base.option_of(name)].default
                if initial is not None and default not in (None, "auto", -1, False):
                    with self.subTest(cls=cls, name=name):
                        self.assertIn(initial, (str(default), "%g" % default if
                                                isinstance(default, float) else default, "1e-3"))

    def test_unknown(self):
        for cls in ALL:
            with self.assertRaisesRegex(TypeError, "'nothing'"):
                cls(nothing=1)
            with self.assertRaisesRegex(TypeError, "it is the parameter C"):
                cls(cost=1)
            with self.assertRaisesRegex(TypeError, "did you mean 'solver'"):
                cls(slover="x")
            with self.assertRaisesRegex(TypeError, "'proof'"):
                cls(proof="file")  # about a program's own files
            for name in ("folds", "fold_file", "validate", "select"):
                self.assertNotRegex(cls.__doc__, "\n    %s :" % name)
                self.assertNotIn(name.replace("_", "-"), [one.name for one in cls.options()])
                with self.assertRaisesRegex(TypeError, "'%s'.*GridSearchCV" % name):
                    cls(**{name: 5})
            with self.assertRaisesRegex(ValueError, "nothing"):
                cls().set_params(nothing=1)
        for cls, name in ((RankSVM, "max_grade"), (TopClassifier, "tpr"), (MultiLabelRankSVM, "psp")):
            self.assertNotRegex(cls.__doc__, "\n    %s :" % name)
            with self.assertRaisesRegex(TypeError, r"'%s': measures\(X, y, %s=" % (name, name)):
                cls(**{name: 1})
        with self.assertRaisesRegex(TypeError, "'tau'"):
            MultiClassSVM(tau=1)
        with self.assertRaisesRegex(TypeError, "did you mean 'positive'"):
            SupportMatrixMachine(pos_label=1)
        with self.assertRaisesRegex(TypeError, "it is the parameter pos_label"):
            TopClassifier(positive=1)
        with self.assertRaisesRegex(TypeError, "'roc_pints'.*did you mean 'roc_points'"):
            TopClassifier().fit(self.x, self.y).predict_text(self.x, roc_pints=3)

    def test_wrong_values(self):
        for params, words in (({"C": -1}, "cost"), ({"C": "a"}, "cost"), ({"C": np.inf}, "cost"),
                              ({"kernel": "rfb"}, "kernel"), ({"kernel": len}, "kernel"),
                              ({"tol": 0}, "epsilon"), ({"max_iter": -2}, "max-iter"),
                              ({"n_jobs": 0}, "n_jobs"),
                              ({"degree": 2.5, "kernel": "poly"}, "degree"),
                              ({"formulation": "none"}, "formulation"),
                              ({"class_weight": "equal"}, "class_weight"),
                              ({"class_weight": [1, 2]}, "class_weight"),
                              ({"class_weight": {0: -1}}, "weight"), ({"C": [1, 2]}, "2 points"),
                              ({"random_state": -1}, "seed")):
            with self.subTest(params=params), self.assertRaisesRegex(ValueError, words):
                MultiClassSVM(**params).fit(self.x, self.y)
        with self.assertRaises(DualsvmError) as raised:
            MultiClassSVM(C=-1).fit(self.x, self.y)
        self.assertEqual(raised.exception.kind, 2)
        again = pickle.loads(pickle.dumps(raised.exception))
        self.assertEqual((str(again), again.kind), (str(raised.exception), 2))

    def test_numbers_of_numpy(self):
        plain = MultiClassSVM(C=2, degree=2, kernel="poly", gamma=.5).fit(self.x, self.y)
        other = MultiClassSVM(C=np.float32(2), degree=np.int64(2), kernel=np.str_("poly"),
                              gamma=np.float64(.5)).fit(self.x, self.y)
        self.assertEqual(plain.model_.bytes(), other.model_.bytes())

    def test_gamma(self):
        scale = MultiClassSVM(kernel="rbf", gamma="scale").fit(self.x, self.y)
        self.assertTrue(math.isclose(float(scale.model_.value("gamma")), 1 / 6 / self.x.var(),
                                     rel_tol=1e-12))
        auto = MultiClassSVM(kernel="rbf").fit(self.x, self.y)
        self.assertEqual(float(auto.model_.value("gamma")), 1 / 6)

    def test_class_weight(self):
        y = np.where(np.arange(80) < 60, "many", "few")
        few = MultiClassSVM(bias=1, class_weight={"few": 10, "none": 3}).fit(self.x, y)
        many = MultiClassSVM(bias=1, class_weight={"many": 10}).fit(self.x, y)
        self.assertGreater((few.predict(self.x) == "few").sum(),
                           (many.predict(self.x) == "few").sum())
        with self.assertRaisesRegex(ValueError, "are not in class_weight"):
            MultiClassSVM(class_weight={"none": 3}).fit(self.x, y)
        balanced = MultiClassSVM(class_weight="balanced").fit(self.x, y)
        named = MultiClassSVM(class_weight={"few": 2, "many": 2 / 3}).fit(self.x, y)
        self.assertEqual(balanced.model_.bytes(), named.model_.bytes())

    def test_random_state(self):
        def fit(state):
            return TopClassifier("grill", starts=2, random_state=state).fit(self.x, self.y)

        self.assertEqual(fit(None).model_.bytes(), fit(1).model_.bytes())
        self.assertEqual(fit(np.random.RandomState(0)).model_.bytes(),
                         fit(np.random.RandomState(0)).model_.bytes())
        fit(np.random.default_rng(0))

    def test_options(self):
        names = {option.name for option in TopClassifier.options()}
        self.assertTrue({"tau", "row-weights", "cost"} <= names)
        kernel = [o for o in MultiClassSVM.options() if o.name == "kernel"][0]
        self.assertEqual((kernel.type, kernel.default, kernel.choices[:3]),
                         ("choice", "linear", ("linear", "polynomial", "rbf")))

    def test_docstrings(self):
        for cls in ALL:
            for name, default in dualsvm._base.signature(cls).items():
                self.assertIn("\n%s : default %r\n    " % (name, default), cls.__doc__)
            self.assertRegex(cls.__doc__, r"\n    max_time : number, default 0\n        \w")
        self.assertRegex(TopClassifier.__doc__, "\n    lambda_ : number\n")

    def test_copies(self):
        for cls in ALL:
            fitted = cls(C=2).fit(self.x, self.y)
            for other in (pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted)):
                self.assertEqual(other.model_.bytes(), fitted.model_.bytes())
                np.testing.assert_array_equal(other.predict(self.x), fitted.predict(self.x))
                self.assertEqual((other.gap_, other.n_iter_), (fitted.gap_, fitted.n_iter_))

    def test_not_fitted(self):
        for cls in ALL:
            for method in ("predict", "decision_function", "predict_text"):
                with self.assertRaisesRegex(ValueError, "not fitted"):
                    getattr(cls(), method)(self.x)
            with self.assertRaisesRegex(AttributeError, "not fitted"):
                cls().save("model")

    def test_probabilities_are_asked_for(self):
        fitted = MultiClassSVM().fit(self.x, self.y)
        self.assertFalse(hasattr(fitted, "predict_proba"))
        self.assertFalse(hasattr(fitted, "predict_log_proba"))
        fitted.set_params(probability=True)
        with self.assertRaises(DualsvmError):
            fitted.predict_proba(self.x)
        fitted.fit(self.x, self.y)
        np.testing.assert_array_equal(np.log(fitted.predict_proba(self.x)),
                                      fitted.predict_log_proba(self.x))

    def test_column_of_labels(self):
        with self.assertWarnsRegex(UserWarning, "column-vector y") as warned:
            MultiClassSVM().fit(self.x, self.y[:, None])
        self.assertEqual(warned.filename, __file__)


if __name__ == "__main__":
    unittest.main()
