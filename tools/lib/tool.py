"""Command lines: the parser, types of arguments, one-line errors, exit codes.

Exit codes are the programs': 0 done, 1 input or output, 2 usage. An error is one line on standard
error: NAME: FILE:LINE: what is wrong: what was found.
"""
import argparse
import os
import re
import signal
import sys
import textwrap

NAME = os.path.basename(sys.argv[0])
INSTALLED = "dualsvm-"  # begins the names of installed tools
WIDTH = 80  # of --help


class Refusal(Exception):
    """An error of the input or the output: ends the command with exit code 1."""

    code = 1


class Misuse(Refusal):
    """An error of the command line: exit code 2."""

    code = 2


def misuse(what, name):
    """Raises a Misuse about a file of that name."""
    raise Misuse(f"{name}: {what}")


def refuse(what, path=None, line=None):
    """Raises a Refusal with the position."""
    where = "" if path is None else shown(path) + ": " if line is None else f"{shown(path)}:{line}: "
    raise Refusal(where + what)


def shown(path):
    """The name of a file in an error."""
    return "<stdin>" if path == "-" else path


def quoted(text, most=60):
    """The text that was found, shortened and in quotes."""
    return f"'{text[:most]}...'" if len(text) > most else f"'{text}'"


def _filled(description):
    """Paragraphs filled to the width; lines that begin with two blanks, a name and two blanks are
    a list."""
    paragraphs = []
    for paragraph in description.split("\n\n"):
        items = re.split(r"\n(?=  \S)", paragraph)
        for item in items:
            match = re.match(r"  \S+( \S+)*  +", item)
            indent = " " * (match.end() if match else 0)
            first = match.group() if match else ""
            text = " ".join(item[len(first):].split())
            paragraphs.append(textwrap.fill(text, WIDTH, initial_indent=first,
                                            subsequent_indent=indent, break_on_hyphens=False))
        paragraphs.append("")
    return "\n".join(paragraphs)


def called():
    """How this tool is called, in examples and commands."""
    return NAME if NAME.startswith(INSTALLED) else "tools/" + NAME


class _Help(argparse.RawDescriptionHelpFormatter):
    def __init__(self, prog):
        super().__init__(prog, width=WIDTH, max_help_position=26)


class _Store(argparse.Action):
    """Stores the value of an option; a second one, of which the first would be lost, is an error."""

    def __call__(self, parser, namespace, values, option_string=None):
        if option_string and self.dest in parser.given:
            parser.error(f"{option_string} is given twice")
        parser.given.add(self.dest)
        setattr(namespace, self.dest, values)


class Parser(argparse.ArgumentParser):
    """argparse with errors of one line, also where an option of one value is given twice. Examples call the tool
    as it is called."""

    def __init__(self, description, epilog, **settings):
        super().__init__(prog=NAME, description=_filled(description), formatter_class=_Help,
                         epilog=re.sub(rf"^  {re.escape(NAME.removeprefix(INSTALLED))}(?= )", "  " + called(), epilog,
                                       flags=re.M),
                         **settings)
        self.text = description
        self.given = set()
        self.register("action", None, _Store)
        self.register("action", "store", _Store)

    def error(self, message):
        say(f"{message} (see --help)")
        sys.exit(2)


def printable(text):
    """The text with \\xHH for the bytes of control characters, as the programs show them."""
    return "".join(c if c.isprintable() else
                   "".join(f"\\x{byte:02x}" for byte in c.encode("utf-8", "surrogateescape"))
                   for c in text)


ERASE = "\r\033[K"  # the line of progress on a terminal


def say(text):
    """Prints a note to standard error."""
    print(f"{ERASE * sys.stderr.isatty()}{NAME}: {printable(text)}", file=sys.stderr)


def progress(text):
    """Replaces the line of progress on a terminal; None removes it."""
    print(ERASE + (f"{NAME}: {printable(text)}" if text else ""), end="", file=sys.stderr, flush=True)


# ---- types of arguments ----


def whole(least, most=None):
    """An integer within bounds."""

    def parse(text):
        if not (text.isascii() and text.lstrip("-").isdigit()):
            raise argparse.ArgumentTypeError(f"not a whole number: '{text}'")
        value = int(text)
        if value < least or most is not None and value > most:
            bounds = f"{least} or more" if most is None else f"{least} to {most}"
            raise argparse.ArgumentTypeError(f"must be {bounds}: '{text}'")
        return value

    return parse


def share(text):
    """A number above 0 and below 1."""
    try:
        value = float(text)
    except ValueError:
        value = 0
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"must be above 0 and below 1: '{text}'")
    return value


def size(text):
    """WIDTHxHEIGHT of a picture in inches."""
    try:
        width, height = (float(part) for part in text.split("x"))
    except ValueError:
        width = height = 0
    if not (1 <= width <= 40 and 1 <= height <= 40):
        raise argparse.ArgumentTypeError(f"WIDTHxHEIGHT of 1 to 40 inches is expected: '{text}'")
    return width, height


# ---- running ----


def _end(number, _frame):
    raise SystemExit(128 + number)


def run(main):
    """Calls main() and ends with its exit code. Unfinished files are removed."""
    for name in ("SIGHUP", "SIGINT", "SIGTERM"):
        signal.signal(getattr(signal, name), _end)
    try:
        code = main() or 0
        sys.stdout.flush()
    except Refusal as refusal:
        say(str(refusal))
        code = refusal.code
    except BrokenPipeError:
        code = 128 + signal.SIGPIPE
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    except OSError as error:
        where = "" if error.filename is None else f"{shown(str(error.filename))}: "
        say(f"{where}{error.strerror or error}")
        code = 1
        _forget_stdout()
    except MemoryError:
        say("out of memory")
        code = 1
    sys.exit(code)


def _forget_stdout():
    """Prevents a second attempt, at exit, to write to a failed standard output."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
