"""The checks of scikit-learn, and its tools with the estimators."""
import pickle
import unittest
import warnings

import numpy as np
from support import Case, problem

from dualsvm import (MultiClassSVM, MultiLabelRankSVM, RankSVM, SupportMatrixMachine, TopClassifier)

from sklearn.base import clone, is_classifier
from sklearn.model_selection import (GridSearchCV, GroupKFold, KFold, cross_val_predict,
                                     cross_val_score)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MultiLabelBinarizer, StandardScaler
from sklearn.utils.estimator_checks import check_estimator

ALL = (MultiClassSVM, TopClassifier, SupportMatrixMachine, MultiLabelRankSVM, RankSVM)
# The checks from which doc/python.md exempts an estimator, with the reason.
ANOTHER_ORDER = "check_sample_weights_invariance"
EXEMPT = {"MultiClassSVM": {"check_class_weight_classifiers", ANOTHER_ORDER},
          "TopClassifier": {ANOTHER_ORDER}, "MultiLabelRankSVM": {ANOTHER_ORDER},
          "RankSVM": {"check_sample_weights_not_overwritten"}}


class Checks(Case):
    def exempt(self, estimator):
        return set(estimator._more_tags().get("_xfail_checks", ()))

    def check(self, estimator):
        """All checks pass except those from which the estimator is exempt."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # checks are skipped with a warning
            for checked, check in check_estimator(estimator, generate_only=True):
                with self.subTest(estimator=repr(estimator), check=str(check)):
                    try:
                        check(checked)
                    except unittest.SkipTest as skipped:
                        if "is not installed" not in str(skipped):
                            name = type(estimator).__name__
                            self.assertRegex(str(skipped), "|".join(
                                [one + " for " + name for one in self.exempt(estimator)] +
                                ["does not have a predict_proba method"]))

    def test_estimators(self):
        for cls in ALL:
            self.check(cls())
            self.assertEqual(self.exempt(cls()), EXEMPT.get(cls.__name__, set()))

    def test_exempt_no_longer(self):
        """With a bias MultiClassSVM passes the check from which it is exempt."""
        self.assertEqual(self.exempt(MultiClassSVM(bias=10)), {ANOTHER_ORDER})
        self.check(MultiClassSVM(bias=10))

    def test_kernels(self):
        for estimator in (MultiClassSVM(kernel="rbf", probability=True),
                          MultiLabelRankSVM(kernel="rbf"), RankSVM(kernel="rbf"),
                          SupportMatrixMachine("nuclear")):
            self.check(estimator)

    def test_classifiers(self):
        self.assertEqual([is_classifier(cls()) for cls in ALL], [True] * 4 + [False])


class Tools(Case):
    def test_grid_search(self):
        x, rng = problem(rows=120)
        y = np.where(x[:, 0] * x[:, 1] > 0, "same", "other")
        search = GridSearchCV(MultiClassSVM(), {"kernel": ["linear", "rbf"], "C": [1, 10],
                                                "scale": ["none", "std"]}, cv=3)
        search.fit(x, y)
        self.assertEqual(search.best_params_["kernel"], "rbf")
        self.assertGreater(search.best_score_, search.cv_results_["mean_test_score"][0])
        self.assertEqual(search.score(x, y), search.best_estimator_.score(x, y))

    def test_grid_search_aside(self):
        x, rng = problem(rows=60)
        y = rng.randint(0, 2, 60)
        search = GridSearchCV(TopClassifier(), {"C": [.1, 1]}, cv=3, n_jobs=2, scoring="roc_auc")
        search.fit(x, y)
        alone = GridSearchCV(TopClassifier(), {"C": [.1, 1]}, cv=3, scoring="roc_auc").fit(x, y)
        np.testing.assert_array_equal(search.cv_results_["mean_test_score"],
                                      alone.cv_results_["mean_test_score"])

    def test_grid_search_kernel_matrix(self):
        x, rng = problem(rows=60)
        y = (x[:, 0] > 0).astype(int)
        gram = np.exp(-((x[:, None] - x) ** 2).sum(axis=2))
        search = GridSearchCV(MultiClassSVM(kernel="precomputed"), {"C": [.1, 1]}, cv=3)
        direct = GridSearchCV(MultiClassSVM(kernel="rbf", gamma=1), {"C": [.1, 1]}, cv=3)
        np.testing.assert_allclose(search.fit(gram, y).cv_results_["mean_test_score"],
                                   direct.fit(x, y).cv_results_["mean_test_score"])

    def test_groups(self):
        """Queries go through cross-validation as the second column of y."""
        x, rng = problem(rows=100)
        qid = np.repeat(np.arange(10), 10)
        y = x[:, 0] + 100 * qid  # rows of other queries are far apart
        search = GridSearchCV(RankSVM(), {"C": [.01, 1]}, cv=GroupKFold(5))
        search.fit(x, np.column_stack([y, qid]), groups=qid)
        self.assertGreater(search.best_score_, .9)
        one = RankSVM().fit(x, y, qid=qid)
        two = RankSVM().fit(x, np.column_stack([y, qid]))
        np.testing.assert_array_equal(one.predict(x), two.predict(x))
        self.assertEqual(one.score(x, y, qid=qid), two.score(x, np.column_stack([y, qid])))
        self.assertNotEqual(one.score(x, y, qid=qid), one.score(x, y))

    def test_grid_search_sets(self):
        x, rng = problem(rows=90)
        sets = [{k for k in range(3) if x[i, k] > 0} | {3} for i in range(90)]
        y = MultiLabelBinarizer().fit_transform(sets)
        y[:, 3] = rng.rand(90) < .03  # in some folds in no training row
        search = GridSearchCV(MultiLabelRankSVM(), {"C": [1, 10]}, cv=KFold(5),
                              scoring="f1_micro")
        search.fit(x, y)
        self.assertGreater(search.best_score_, .5)
        np.testing.assert_array_equal(cross_val_predict(search.best_estimator_, x, y).shape,
                                      y.shape)

    def test_matrices(self):
        x, _ = problem(rows=80)
        y = np.where(x[:, 0] > 0, "b", "a")
        scores = cross_val_score(SupportMatrixMachine(), x.reshape(-1, 2, 3), y, cv=4)
        self.assertGreater(scores.mean(), .8)

    def test_pipeline(self):
        x, _ = problem()
        y = (x[:, 0] > 0).astype(int)
        pipe = make_pipeline(StandardScaler(), TopClassifier(tau=.1, formulation="patmat"))
        pipe.set_params(topclassifier__C=10, topclassifier__tau=.2)
        fitted = pickle.loads(pickle.dumps(pipe.fit(x, y)))
        np.testing.assert_array_equal(fitted.decision_function(x), pipe.decision_function(x))

    def test_parameters(self):
        x, _ = problem()
        estimator = TopClassifier("patmat", C=3, tau=.1, row_weights="file")
        copy = clone(estimator)
        self.assertEqual(copy.get_params(), estimator.get_params())
        self.assertEqual(copy.get_params()["tau"], .1)
        self.assertIn("tau=0.1", repr(copy))
        copy.set_params(tau=.2, starts=5, row_weights=None)
        self.assertEqual((copy.tau, copy.starts), (.2, 5))
        self.assertNotIn("row_weights", copy.get_params())
        with self.assertRaisesRegex(ValueError, "taux.*did you mean 'tau'"):
            copy.set_params(taux=1, C=7)
        self.assertEqual(copy.C, 3)


if __name__ == "__main__":
    unittest.main()
