"""Command lines of the programs: their options as words, where programs are, and runs of them."""
import os
import shlex
import shutil
import subprocess
import sys

from lib.files import Outputs
from lib.tool import INSTALLED, NAME, printable, refuse

# where the programs are if not on the PATH: in a checkout, and below PREFIX/share/dualsvm
BESIDE = (".", "..", "../build", "../../../bin")


def short(path):
    """The relative or the absolute path, whichever is shorter."""
    return min(os.path.relpath(path), os.path.abspath(path), key=len)


def beside(name):
    """The path of a file in the folder of this tool."""
    return short(os.path.join(os.path.dirname(os.path.realpath(sys.argv[0])), name))


def tool(name):
    """The path by which another tool is called: its installed name if this one has been called by such a
    name."""
    if not NAME.startswith(INSTALLED):
        return beside(name)
    installed = INSTALLED + name
    return installed if shutil.which(installed) else _linked(installed)


def _linked(name):
    """The path of a file in the folder of the link by which this tool was called."""
    return short(os.path.join(os.path.dirname(sys.argv[0]), name))


def program(name):
    """The path by which a program is called."""
    if shutil.which(name):
        return name
    for path in (_linked(name), *(beside(os.path.join(folder, name)) for folder in BESIDE)):
        if os.access(path, os.X_OK):
            return path
    refuse(f"{name} is not on the PATH, nor beside this tool")


def _options(words, names):
    """(first word, the one behind the last word, value) of these options: -c 1, -c1, --cost 1, --cost=1."""
    for i, word in enumerate(words):
        for name in names:
            if word == name:
                yield i, i + 2, words[i + 1] if i + 1 < len(words) else None
            elif name.startswith("--") and word.startswith(name + "="):
                yield i, i + 1, word[len(name) + 1:]
            elif not name.startswith("--") and not word.startswith("--") and word.startswith(name):
                yield i, i + 1, word[len(name):]


def has(words, *names):
    """Whether the words set one of these options."""
    return any(True for _ in _options(words, names))


def value_of(words, *names):
    """The value of the last of these options among the words, or None."""
    value = None
    for _, _, value in _options(words, names):
        pass
    return value


def without(words, *names):
    """The words without these options and their values."""
    gone = {i for start, end, _ in _options(words, names) for i in range(start, end)}
    return [word for i, word in enumerate(words) if i not in gone]


def operands(*paths):
    """The words of file names, which are never taken as options."""
    return ["--", *paths] if any(path.startswith("-") for path in paths) else list(paths)


def _word(text):
    """A word of a command as a shell reads it, without control characters."""
    if printable(text) == text:
        return shlex.quote(text)
    return "$'" + printable(text.replace("\\", r"\\").replace("'", r"\'")) + "'"


def call(command, output=None):
    """Prints the command and runs it; ends with its exit code if it fails."""
    shown = " ".join(map(_word, command)) + (f" >{_word(output)}" if output else "")
    print("$ " + shown, flush=True)
    with Outputs() as outputs:
        stream = outputs.binary(output) if output else None
        code = subprocess.run(command, stdout=stream, check=False).returncode
        if code:
            raise SystemExit(code if code > 0 else 128 - code)
