#!/usr/bin/env python3
"""Compares a plain reader of svmlight text, generated and corrupted, with tests/unit/common/data/dump, which prints
the rows of common/data/input, read whole and streamed, with one thread and with three.

    rows.py DUMP FILES        that many small files, and one of many blocks for a hundred of these
"""
import ctypes
import math
import random
import re
import subprocess
import sys

NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
DIGITS = re.compile(r"[0-9]+")


class Wrong(Exception):
    """The position of an error in a line, from 0."""


# ---- the plain reader ----

def single(value):
    return ctypes.c_float(value).value


def ends(line, at):
    return at == len(line) or line[at] in " \t#"


def integer(line, at, most):
    """The digits at a place, and what is behind them; None if there is none or it is over most."""
    match = DIGITS.match(line, at)
    return (int(match[0]), match.end()) if match and int(match[0]) <= most else (None, at)


def read_label(line, at, how):
    """The label, and the place behind it."""
    end = at
    while end < len(line) and line[end] not in " \t":
        end += 1
    token = line[at:end]
    none = ":" in token
    if how["labels"] == "number":
        match = NUMBER.match(line, at)
        if match and ends(line, match.end()) and math.isfinite(float(match[0])):
            return float(match[0]), match.end()
        if none and how["optional"]:
            return "none", at
        raise Wrong(match.end() if match and not none and not ends(line, match.end()) else at)
    if how["labels"] == "name":
        if none:
            if how["optional"]:
                return "none", at
            raise Wrong(at)
        for bad in ",\0":
            if bad in token:
                raise Wrong(at + token.index(bad))
        return token, end
    if at > 0 or none:
        return "{}", at
    known, first = [], 0
    for name in token.split(","):
        if "\0" in name:
            raise Wrong(first + name.index("\0"))
        if name == "" or name in known:
            raise Wrong(first)
        known.append(name)
        first += len(name) + 1
    return "{" + token + "}", end


def query(word):
    """Numbers are what they are, other words themselves."""
    if re.fullmatch("[0-9]+", word):
        return word.lstrip("0") or "0"
    if NUMBER.fullmatch(word):
        value = float(word)
        return str(int(value)) if value >= 0 and value == int(value) else repr(value)
    return word


def read_line(line, how):
    """(label, query, serial, features) of a row; None for what is none."""
    at = len(line) - len(line.lstrip(" \t"))
    row = at < len(line) and line[at] != "#"
    label, at = read_label(line, at, how) if row else (None, at)
    qid, serial, last, features = None, None, 0, {}
    while True:
        while at < len(line) and line[at] in " \t":
            at += 1
        if at == len(line) or line[at] == "#":
            break
        if line.startswith("qid:", at):
            word = re.compile(r"[^ \t#\0]*").match(line, at + 4)[0]
            end = at + 4 + len(word)
            if qid is not None or serial is not None or last > 0:
                raise Wrong(at)
            if word == "" or not ends(line, end):
                raise Wrong(end)
            qid, at = query(word), end
            continue
        index, end = integer(line, at, 2 ** 32 - 1)
        if index is None or line[end:end + 1] != ":":
            raise Wrong(at)
        if how["precomputed"] and serial is None:
            serial, behind = integer(line, end + 1, 2 ** 64 - 1)
            if index != 0:
                raise Wrong(at)
            if serial is None or not ends(line, behind):
                raise Wrong(end + 1)
            at = behind
            continue
        if index <= last:
            raise Wrong(at)
        match = NUMBER.match(line, end + 1)
        if match and not ends(line, match.end()):
            raise Wrong(match.end())
        if not match or math.isinf(single(float(match[0]))):
            raise Wrong(end + 1)
        if single(float(match[0])) != 0:
            features[index] = single(float(match[0]))
        last, at = index, match.end()
    if row and how["precomputed"] and serial is None:
        raise Wrong(at)
    if "\0" in line[at:]:
        raise Wrong(line.index("\0", at))
    return (label, qid, serial, features) if row else None


def read(text, how):
    """The rows, or the line and column of what is wrong."""
    rows = []
    for number, line in enumerate(text.removesuffix("\n").split("\n") if text else [], 1):
        try:
            row = read_line(line.removesuffix("\r"), how)
        except Wrong as wrong:
            return None, "%d:%d" % (number, wrong.args[0] + 1)
        if row and rows and how["labels"] == "number" and (row[1] is None) != (rows[0][1] is None):
            return None, "%d:1" % number
        if row:
            rows.append(row)
    return rows, None


# ---- what dump prints ----

def printed(line, how):
    label, *words = line.split(" ")
    qid = words.pop(0)[4:] if words and words[0].startswith("qid:") else None
    serial = int(words.pop(0)[2:]) if how["precomputed"] else None
    features = {int(i): single(float(v)) for i, v in (word.split(":") for word in words)}
    number = how["labels"] == "number" and label != "none"
    return float(label) if number else label, qid if qid is None else query(qid), serial, features


def compare(dump, text, how, stream, threads):
    with open("rows.svm", "w", encoding="latin-1", newline="") as file:
        file.write(text)
    words = [word for word in ("optional", "precomputed") if how[word]]
    run = subprocess.run([dump, "rows.svm", how["labels"], *words, *["stream"][:stream], "threads=%d" % threads],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="latin-1", check=False)
    rows, wrong = read(text, how)
    if wrong or (not rows and not stream):
        said = "rows.svm:%s: " % wrong if wrong else ": no rows"
        assert run.returncode == 1 and said in run.stderr, (said, run.stderr)
        return
    assert run.returncode == 0, run.stderr
    lines = run.stdout.removesuffix("\n").split("\n") if run.stdout else []
    head = "" if stream else lines.pop(0)
    found = [printed(line, how) for line in lines]
    any_query = any(row[1] is not None for row in rows)
    assert len(found) == len(rows), (len(found), len(rows))
    for row, (label, qid, serial, features) in zip(rows, found):
        assert stream or (qid is not None) == any_query, row
        assert "sparse" not in head or 0 not in features.values(), features
        kept = {i: v for i, v in features.items() if v != 0}
        assert (label, qid or "0", serial, kept) == (row[0], row[1] or "0", *row[2:]), (row, label, qid, features)
    return head


# ---- generated files ----

def number(draw):
    unit = draw.random()
    return draw.choice([lambda: "%d" % draw.randrange(3), lambda: "-%d" % draw.randrange(3), lambda: repr(unit),
                        lambda: "%.*f" % (draw.randrange(22), (unit - .5) * 1000),
                        lambda: "%.*e" % (draw.randrange(20), unit), lambda: "+%d." % draw.randrange(10 ** 9),
                        *[lambda: "%.6g" % unit] * 4])()


# no two that are one number, whatever is spoiled: names are compared by their bytes here
NAMES = ["a", "bc", "+x", "-1", "C#", "\xc3\xa4", "long-name"]
QUERIES = ["0", "1", "2", "3", "4", "Eawag", "a:b", "-1", "1e3"]


def make_row(draw, how, style, queries):
    none = how["optional"] and draw.randrange(4) == 0
    first, parts = draw.randrange(len(NAMES)), []
    if how["labels"] == "set" and not none:
        parts.append(",".join(NAMES[(first + i) % len(NAMES)] for i in range(draw.randrange(1, 4))))
    elif not none:
        parts.append(NAMES[first] if how["labels"] == "name" else number(draw))
    elif how["labels"] == "set":
        parts.append("")
    if queries and (how["labels"] == "number" or draw.randrange(5)):
        parts.append("qid:" + draw.choice(QUERIES))
    if how["precomputed"]:
        parts.append("0:%d" % draw.randrange(100))
    index = 0
    for _ in range(17 if style else draw.randrange(20) + (not parts)):
        index += 1 if style else 1 + draw.randrange(10 ** 8 if draw.randrange(8) == 0 else 20)
        index += style == 2 and draw.randrange(2000) == 0
        parts.append("%d:%s" % (index, number(draw)))
    text = parts[0] + "".join(draw.choice(["  ", " ", " ", " ", "\t", " \t "]) + part for part in parts[1:])
    text += {0: " # comment 3:4", 1: "  "}.get(draw.randrange(20), "") + draw.choice(["\r\n"] + ["\n"] * 9)
    return text + {0: "\n", 1: "# a comment\n"}.get(draw.randrange(60), "")


def spoil(draw, text):
    """Puts something where it does not belong."""
    for _ in range(draw.randrange(1, 3)):
        at = draw.randrange(len(text) or 1)
        byte = draw.choice("0123456789::::  \t\t,.-+eE#\n\n\rqxn")
        text = draw.choice([text[:at] + "\0" + text[at + 1:], text[:at] + text[at + 1:],
                            text[:at] + text[at:at + draw.randrange(12)] + text[at:],
                            *[text[:at] + byte + text[at + 1:]] * 2])
    return text


def main():
    dump, files = sys.argv[1], int(sys.argv[2])
    draw = random.Random(1)
    for i in range(files):
        how = {"labels": draw.choice(["name", "set", "number"]), "optional": draw.randrange(3) == 0,
               "precomputed": draw.randrange(5) == 0}
        style, queries = draw.randrange(3), draw.randrange(3) == 0
        text = draw.choice(["# first\n", "", "", ""])
        size = 3 << 18 if i % 100 == 1 else draw.randrange(600)
        while len(text) < size:
            text += "".join(make_row(draw, how, style, queries) for _ in range(1 + size // 4096))
        text = text[:-1] if draw.randrange(4) == 0 else text
        compare(dump, spoil(draw, text) if i % 2 == 0 or (i % 100 == 1 and i % 200 > 100) else text, how, i % 5 == 0,
                1 if i % 3 == 0 else 3)
    print("ok: small files and files of many blocks, right and wrong ones")
    # dense up to a later block than the first: a zero column, fewer and more features
    how = {"labels": "number", "optional": False, "precomputed": False}
    dense = "".join("%d 1:%d 2:0 3:0.5 4:-0 5:7\n" % (i, i % 3) for i in range(20000))
    for end, times in (("1 1:0 2:0 3:0 4:0 5:0\n", 1), ("1 2:3\n", 1), ("1 1:1 2:1 3:1 4:1 5:1 6:1\n", 1),
                       ("1 1:1 2:1 3:1 4:1\n", 20000)):
        head = compare(dump, dense + times * end, how, False, 1)
        kind = "dense" if end.count(":0 ") else "sparse"
        assert head == "%d rows, %d features, %s" % (20000 + times, 6 if " 6:" in end else 5, kind), head
    # rows that change where one block ends and the next begins
    two, one = "1 1:0.50 2:0.25\n", "1 1:0.500000000\n"
    rows = (1 << 18) // len(one)
    assert len(one) == len(two) and rows * len(one) == 1 << 18
    for text in (two * rows + one * rows, one * rows + two * rows):
        assert compare(dump, text, how, False, 1) == "%d rows, 2 features, sparse" % (2 * rows)
    print("ok: rows are dense until one is not, wherever that is")


main()
