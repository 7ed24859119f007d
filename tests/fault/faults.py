#!/usr/bin/env python3
"""Runs commands with the k-th call of a kind failing, k = 1, 2, 3 ... until no such call is made, and checks
the result. Each run must end with
  - exit code 0 and the outputs of a run without a fault, or
  - exit code 1, one line on standard error that begins with the program's name (and is not a warning), and
    every output file unchanged;
and in both cases without other files. If a rename fails, files renamed before it may be new. After an error
that is not a failure (EINTR, a short read) the exit code must be 0.

    faults.py MODES SHIM [SEED SAMPLE]

MODES: one command per line, with blanks between its words; `#` begins a comment. A word that begins with
`out.` is an output, `>FILE` one that no word names, and `<FILE` standard input; standard output is another
output. The column of seconds of a file *.log and of the table of a sweep is ignored. Commands run in the
current folder, which contains the inputs. SHIM: the library to preload, or `-` if it is linked into the
programs, where it covers memory and threads only. With SAMPLE, each mode is run with some kinds of faults, and
only that fraction of their faults is tried.
"""
import os
import random
import subprocess
import sys

# FAULT_CALL, FAULT_HOW, FAULT_ON of the shim, and whether the exit code must be 0
FAULTS = [("memory", "12", 0, 0), ("memory", "12", 1, 0), ("thread", "11", 0, 0), ("thread", "11", 1, 0),
          ("map", "12", 1, 0), ("read", "5", 0, 0), ("read", "4", 0, 1), ("read", "short", 0, 1),
          ("read", "short", 1, 1), ("write", "5", 0, 0), ("write", "28", 1, 0), ("write", "4", 0, 1),
          ("write", "short", 0, 1), ("write", "short", 1, 1), ("open", "24", 0, 0), ("open", "24", 1, 0),
          ("close", "5", 0, 0), ("sync", "5", 1, 0), ("rename", "5", 0, 0), ("link", "28", 1, 0),
          ("link", "95", 1, 1)]
OWN_FAULTS = 4
KINDS = 4  # of a mode, of a sample
OLD = b"what was there before\n"
SECONDS = 60


class Mode:
    def __init__(self, line):
        self.line, words = line.rstrip("\n"), line.split("#")[0].split()
        self.words = [w for w in words if w[0] not in "<>"]
        self.input = next((w[1:] for w in words if w[0] == "<"), "/dev/null")
        self.outputs = [w.lstrip(">") for w in words if w[0] == ">" or w.startswith("out.")]
        self.expected = None


def contents(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def timeless(path, text):
    """The text without its column of seconds: the second of a log, or the fourth if the point and the fold
    come first; the last but one of a table."""
    sweep = text is not None and text.startswith(b"point\t")
    if text is None or not (sweep or path.endswith(".log")):
        return text
    column = (3 if sweep else 1) if path.endswith(".log") else -2
    lines = [line.split(b"\t") for line in text.split(b"\n")]
    return [line[:column] + line[column:][1:] if len(line) > 1 else line for line in lines]


def found(mode):
    return [timeless(path, contents(path)) for path in mode.outputs + ["stdout"]]


def strays(mode):
    """Removes files that a run left where it should not; counts them."""
    known = mode.outputs + ["stdout", "stderr"]
    names = [n for n in os.listdir() if n.startswith((".dualsvm", "out.")) and n not in known]
    for name in names:
        os.unlink(name)
    return len(names)


def run(mode, variables):
    """The exit code, of a signal its number below 0, None of a hang; all outputs are as before at the start."""
    for path in mode.outputs:
        with open(path, "wb") as file:
            file.write(OLD)
    if os.path.exists("fired"):
        os.unlink("fired")
    with open(mode.input, "rb") as stdin, open("stdout", "wb") as stdout, open("stderr", "wb") as stderr:
        try:
            return subprocess.run(mode.words, stdin=stdin, stdout=stdout, stderr=stderr, timeout=SECONDS,
                                  env={**os.environ, **variables}, check=False).returncode
        except subprocess.TimeoutExpired:
            return None


def diagnoses(mode):
    """The number of lines on standard error that are not warnings; -1: one lacks the program's name."""
    name = mode.words[0].encode() + b":"
    lines = [line for line in contents("stderr").split(b"\n") if line]
    return sum(not line.startswith(name + b" warning: ") for line in lines) \
        if all(line.startswith(name) for line in lines) else -1


def judge(mode, code, must_survive, renaming):
    """What is wrong with the result of a run, or None."""
    if code is None or code < 0:
        return "a hang" if code is None else "a signal"
    if strays(mode):
        return "a file that was not expected"
    if code != 0 and (code != 1 or must_survive):
        return "the exit code"
    for path, text, expected in zip(mode.outputs + ["stdout"], found(mode), mode.expected):
        new = text == expected and (code == 0 or renaming)
        if not (new or (code and (path == "stdout" or text == timeless(path, OLD)))):
            return path
    return None if code == 0 or diagnoses(mode) == 1 else "not one line of diagnosis"


def main():
    modes, shim, *rest = sys.argv[1:]
    draw, sample = random.Random(rest[0] if rest else 0), int(rest[1]) if rest else 1
    n_modes = tried = fired = survived = violations = 0
    with open(modes, encoding="utf-8") as file:
        modes = [mode for mode in map(Mode, file) if mode.words]
    faults = FAULTS if shim != "-" else FAULTS[:OWN_FAULTS]
    for mode in modes:
        n_modes += 1
        strays(mode)  # outputs of the previous mode
        code = run(mode, {})
        mode.expected = found(mode)
        if code != 0 or strays(mode):
            violations += 1
            print("violation: %s: without a fault it ends with %s: %s" % (mode.line, code, contents("stderr")))
            continue
        for call, how, onwards, survives in draw.sample(faults, KINDS) if sample > 1 else faults:
            # Ends when several consecutive k were not reached: with threads the order of calls varies
            # between runs, but not their number.
            at, reached = draw.randrange(sample) + 1, True
            while reached:
                code = run(mode, {"FAULT_CALL": call, "FAULT_HOW": how, "FAULT_AT": str(at),
                                  "FAULT_ON": str(onwards), "FAULT_FILE": "fired",
                                  **({"LD_PRELOAD": shim} if shim != "-" else {})})
                reached = os.path.exists("fired")
                wrong = judge(mode, code, survives or not reached, call == "rename")
                tried, fired, survived = tried + 1, fired + reached, survived + (reached and code == 0)
                if wrong:
                    violations += 1
                    print("violation: %s: %s %s number %d%s: %s (%s): %s" % (
                        mode.line, call, how, at, " and on" if onwards else "", wrong, code, contents("stderr")[:300]))
                at += 1 + draw.randrange(2 * sample - 1)
    print("%d modes, %d runs, %d faults, of which %d were survived; %d violations" % (
        n_modes, tried, fired, survived, violations))
    return violations > 0 or n_modes == 0


sys.exit(main())
