"""Counts of predictions against the labels of a test file. Labels that are numbers compare as numbers."""
from lib.number import is_number
from lib.significance import pairwise_accuracy

MIN_GROUP = 5  # rows of a query that the mean counts, as in svm-rank-predict


class Spellings:
    """The first spelling of each label."""

    def __init__(self):
        self._first = {}

    def __call__(self, label):
        key = float(label) if is_number(label) else label
        return self._first.setdefault(key, label)

    def all(self):
        """In order: numbers by value, then words."""
        numbers = sorted(key for key in self._first if isinstance(key, float))
        words = sorted(key for key in self._first if isinstance(key, str))
        return [self._first[key] for key in numbers + words]


def confusion(truth, predicted):
    """(labels, {(label, predicted): rows}, rows with the right label)"""
    spell, counts = Spellings(), {}
    for pair in zip(map(spell, truth), map(spell, predicted)):
        counts[pair] = counts.get(pair, 0) + 1
    return spell.all(), counts, sum(n for (true, guess), n in counts.items() if true == guess)


def label_scores(truth, predicted):
    """([(label, (rows, predicted, right), (precision, recall, F1))], rows with exactly the right set). Shares
    of nothing are None."""
    spell, counts, exact = Spellings(), {}, 0
    for true, guess in zip(truth, predicted):
        true, guess = {spell(label) for label in true}, {spell(label) for label in guess}
        exact += true == guess
        for label in true | guess:
            count = counts.setdefault(label, [0, 0, 0])
            count[0] += label in true
            count[1] += label in guess
            count[2] += label in true & guess
    scores = []
    for label in spell.all():
        rows, guesses, right = counts[label]
        scores.append((label, (rows, guesses, right),
                       (right / guesses if guesses else None, right / rows if rows else None,
                        2 * right / (rows + guesses))))
    return scores, exact


def query_accuracies(rows, scores):
    """[(query, rows, pairwise accuracy)] of the queries that have one, and the mean of those with at least
    MIN_GROUP rows, or None."""
    queries = {}
    for row, score in zip(rows, scores):
        if is_number(row.label):
            labels, of = queries.setdefault(row.query, ([], []))
            labels.append(float(row.label))
            of.append(score)
    accuracies = [(query or "all", len(labels), pairwise_accuracy(labels, of))
                  for query, (labels, of) in queries.items()]
    accuracies = [one for one in accuracies if one[2] is not None]
    counted = [accuracy for _, n, accuracy in accuracies if n >= MIN_GROUP]
    return accuracies, sum(counted) / len(counted) if counted else None
