"""Rows in svmlight format are what was written, for Python and for the programs."""
import os
import subprocess
import sys
import unittest

import numpy as np
from support import Case, content, problem, program

import dualsvm
from dualsvm import DualsvmError, MultiClassSVM, read_svmlight, write_svmlight


class Files(Case):
    def setUp(self):
        super().setUp()
        self.x, self.rng = problem()

    def test_what_is_written_is_read(self):
        sparse = __import__("scipy.sparse").sparse
        numbers, sets = self.x[:, 0], [{1, 20}, set(), {3}, {1, 3}] * 20
        for y, flags in ((numbers, {}), (numbers > 0, {}), (["a b", "\u00e9", "", "50%"] * 20, {}),
                         (["caf%C3%A9", "%", "a%20b", "b"] * 20, {}),
                         (sets, {"multilabel": True}), (numbers, {"query_id": True}),
                         ([{"a,b", "c"}, {"d"}] * 40, {"multilabel": True})):
            qid = np.arange(80) // 9 if "query_id" in flags else None
            for x in (self.x, self.x.astype("f4"), np.asfortranarray(self.x),
                      sparse.csr_matrix(self.x), sparse.coo_matrix(self.x.astype("f4"))):
                for path in ("rows", "rows.gz"):
                    write_svmlight(path, x, y, qid)
                    found = read_svmlight(path, **flags)
                    np.testing.assert_array_equal(found[0].toarray(), self.x)
                    self.assertEqual(list(found[1]), list(y))
                    if qid is not None:
                        np.testing.assert_array_equal(found[2], qid)
        self.assertEqual(content("rows.gz")[:2], b"\x1f\x8b")
        self.assertEqual(sorted(os.listdir(".")), ["rows", "rows.gz"])

    def test_labels_and_queries(self):
        write_svmlight("rows", self.x)
        self.assertIsNone(read_svmlight("rows")[1])
        self.assertIsNone(read_svmlight("rows", multilabel=True)[1])
        self.assertIsNone(read_svmlight("rows", query_id=True)[1])
        for y, flags in ((None, {}), ([{1}, set(), {2}], {"multilabel": True})):
            write_svmlight("rows", [[1, 2], [0, 0], [3, 0]], y)
            self.assertEqual(read_svmlight("rows", **flags)[0].shape, (3, 2))
        qid = np.repeat(["q 1", "7"], 40)
        write_svmlight("rows", self.x, self.x[:, 0], qid)
        np.testing.assert_array_equal(read_svmlight("rows", query_id=True)[2], qid)
        for text, y in (("1 1:2\n3:4\n", [1, np.nan]), ("a 1:2\n3:4\n", ["a", ""]),
                        ("\ufeff+1 1:2\r\n-1.5 3:4\r\n", [1, -1.5]), ("1 1:1\n1.0\n", [1, 1])):
            with open("rows", "w", newline="") as file:
                file.write(text)
            np.testing.assert_array_equal(read_svmlight("rows")[1], y)
        self.assertEqual(read_svmlight("rows", n_features=5)[0].shape, (2, 5))

    def test_sets_of_labels(self):
        """A matrix of 0 and 1 is written as sets; a reader of single labels names multilabel."""
        sparse = __import__("scipy.sparse").sparse
        matrix = (self.x[:, :3] > 0).astype(int)
        sets = [set(np.flatnonzero(row).tolist()) for row in matrix]
        for y in (matrix, matrix.tolist(), matrix > 0, sparse.csr_matrix(matrix)):
            write_svmlight("rows", self.x, y)
            self.assertEqual(read_svmlight("rows", multilabel=True)[1], sets)
        with self.assertRaisesRegex(ValueError, "0 and 1 only"):
            write_svmlight("wrong", self.x, matrix * 2)
        for label in ("a,b", "1,2", "1,b"):
            with open("rows", "w") as file:
                file.write("%s 1:1\n3 2:1\n" % label)
            for flags in ({}, {"query_id": True}):
                with self.assertRaisesRegex(DualsvmError, r"rows:1:.*multilabel=True\)$"):
                    read_svmlight("rows", **flags)
        with open("rows", "w") as file:
            file.write("1 1:1,5\n")
        with self.assertRaises(DualsvmError) as raised:
            read_svmlight("rows")
        self.assertNotIn("multilabel", str(raised.exception))

    def test_the_programs_read_it(self):
        y = np.where(self.x[:, 0] > 0, "a b", "c")
        write_svmlight("rows", self.x, y)
        program("svm-mc-train", "rows", "model")
        fitted = MultiClassSVM().fit(self.x, y)
        self.assertEqual(content("model"), fitted.model_.bytes())
        x, y = read_svmlight("rows")
        self.assertEqual(MultiClassSVM().fit(x, y).model_.bytes(), fitted.model_.bytes())
        write_svmlight("rows", self.x.reshape(80, 2, 3), self.x[:, 0] > 0)
        self.assertEqual(content("rows").split(b"\n")[0], b"# matrix 2 3")
        program("svm-smm-train", "rows", "matrices")
        self.assertEqual(dualsvm.load("matrices").coef_.shape, (1, 2, 3))

    def test_wide(self):
        with open("rows", "w") as file:
            file.write("1 5:1 4000000000:2\n2 7:3\n")
        x, _ = read_svmlight("rows")
        self.assertEqual(x.shape, (2, 4000000000))
        self.assertEqual(x.indices.tolist(), [4, 3999999999, 6])
        self.assertEqual(x.data.tolist(), [1, 2, 3])

    def test_wrong(self):
        for text, words in (("1 2:1 1:1\n", "rows:1:"), ("", ""), ("1 1:nan\n", "rows:1:")):
            with open("rows", "w") as file:
                file.write(text)
            with self.assertRaisesRegex(DualsvmError, words):
                read_svmlight("rows")
        for call, words in ((lambda: read_svmlight("nothing"), "nothing"),
                            (lambda: read_svmlight("good", n_features=5), "index 6"),
                            (lambda: read_svmlight("good", query_id=True, multilabel=True), "queries"),
                            (lambda: write_svmlight("bad", self.x, [1, 2]), "inconsistent"),
                            (lambda: write_svmlight("bad", self.x * np.nan), "NaN"),
                            (lambda: write_svmlight("bad", self.x, None, [np.nan] * 80), "NaN"),
                            (lambda: write_svmlight("bad", self.x, [np.nan] * 80), "NaN")):
            write_svmlight("good", self.x, self.x[:, 0])
            with self.assertRaisesRegex(ValueError, words):
                call()
        with self.assertRaises(OSError):
            write_svmlight("no/folder", self.x)
        self.assertEqual(sorted(os.listdir(".")), ["good", "rows"])

    def test_a_stream(self):
        script = ("import numpy as np, dualsvm\n"
                  "dualsvm.write_svmlight('/dev/stdout', np.eye(2), [5, 'a'])\n")
        self.assertEqual(subprocess.check_output([sys.executable, "-c", script]),
                         b"5 1:1\na 2:1\n")


if __name__ == "__main__":
    unittest.main()
