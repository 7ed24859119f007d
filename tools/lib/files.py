"""Files in and out: gzip by the first bytes in, by the name out; `-` is standard input or output.

Outputs are written beside their targets and take their places when all are complete: the old files
or the whole new ones are there. Text is UTF-8 whose other bytes pass through unchanged.
"""
import argparse
import errno
import fcntl
import gzip
import io
import os
import re
import shlex
import shutil
import stat
import sys
import tempfile
import time
import zlib

from lib.tool import NAME, Refusal, misuse, progress, refuse, shown

TEXT = {"encoding": "utf-8", "errors": "surrogateescape"}
STREAMS = {"-": 1, "/dev/stdout": 1, "/dev/stderr": 2}  # descriptors
MOST_LINKS = 40

# First bytes of other compression formats, as in common/data/file_type.c, and the command that unpacks them.
PACKED = ((re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"), "bzip2", "bzip2 -dc"),
          (re.compile(rb"\xfd7zXZ\0"), "xz", "xz -dc"),
          (re.compile(rb"\x5d\0\0"), "lzma", "xz -dc"),
          (re.compile(rb"\x28\xb5\x2f\xfd"), "zstd", "zstd -dc"),
          (re.compile(rb"\x04\x22\x4d\x18"), "lz4", "lz4 -dc"),
          (re.compile(rb"\x1f\x9d"), "compress", "gzip -dc"),
          (re.compile(rb"PK\x03\x04"), "zip", "unzip -p"))
# Workbooks: Office Open XML and OpenDocument, by the names of the first files within, and OLE 2.
WORKBOOK = re.compile(rb"PK\x03\x04.{26}(\[Content_Types\]\.xml|_rels/|docProps/|xl/|"
                      rb"mimetypeapplication/vnd\.oasis\.opendocument\.spreadsheet)|\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
                      re.DOTALL)
MARK = b"\xef\xbb\xbf"  # UTF-8's byte order mark


def encoding(text):
    """The name of an encoding, for options."""
    try:
        "".encode(text)
    except (LookupError, UnicodeError):
        raise ValueError from None
    return text


class _Watched(io.FileIO):
    """A file whose reading shows its progress on a terminal, from the second second on."""

    def __init__(self, file, name):
        super().__init__(file, "rb")
        self._name, self._size = name, os.fstat(self.fileno()).st_size
        self._next = time.monotonic() + 2
        self._shown = False

    def readinto(self, buffer):
        n = super().readinto(buffer)
        if n and self._size and time.monotonic() >= self._next and sys.stderr.isatty():
            self._next = time.monotonic() + 0.5
            self._shown = True
            progress(f"{shown(self._name)}: {self.tell() / self._size:.0%} read")
        elif not n and self._shown:
            self._shown = False
            progress(None)
        return n


class Source:
    """A file that may be read more than once. A pipe, and gzip with random access, is stored in a
    temporary file: memory does not grow. encoding: of its text, if it is not UTF-8 by a byte order mark."""

    def __init__(self, path, seekable=False, encoding=None):
        self.path = path
        self.encoding = encoding
        self.marked = False  # text() has met a byte order mark
        self._kept = None
        if path == "-" and sys.stdin is None:
            refuse("standard input is closed")
        raw = sys.stdin.buffer if path == "-" else open(path, "rb")
        try:
            taken(raw.fileno(), path, _read)
            if not raw.seekable():
                self._kept = tempfile.TemporaryFile()
                shutil.copyfileobj(raw, self._kept)
                self._kept.seek(0)
            elif path == "-":
                self._kept = raw
            if not seekable:
                self._refuse_packed()
            elif self._is_gzip():
                plain = tempfile.TemporaryFile()
                with guarded(path):
                    shutil.copyfileobj(self.open(), plain)
                self._kept = plain
        finally:
            if self._kept is not raw:
                raw.close()

    def _raw(self):
        if self._kept is not None:
            self._kept.seek(0)
        return io.BufferedReader(_Watched(self.path if self._kept is None else os.dup(self._kept.fileno()),
                                          self.path))

    def _refuse_packed(self):
        with self._raw() as raw:
            first = raw.read(100)
        if WORKBOOK.match(first):
            refuse("is a workbook: save its sheet as CSV", self.path)
        for signature, name, command in PACKED:
            if signature.match(first):
                file = "FILE" if self.path == "-" else shlex.quote(self.path)
                refuse(f"compressed by {name}: read it by {command} {file} | {NAME} ... -", self.path)

    def _is_gzip(self):
        with self._raw() as raw:
            return raw.read(2) == b"\x1f\x8b"

    def open(self):
        """From the beginning, as bytes."""
        gzipped = self._is_gzip()
        raw = self._raw()
        return gzip.GzipFile(fileobj=raw) if gzipped else raw

    def text(self):
        """From the beginning, as text whose lines end in LF; a byte order mark is skipped."""
        stream = io.BufferedReader(self.open(), 1 << 18)
        with guarded(self.path):
            mark = stream.peek(3)[:3]
        self.marked = mark == MARK
        if self.marked:
            stream.read(len(MARK))
        elif mark[:2] in (b"\xff\xfe", b"\xfe\xff"):
            if not re.match("utf.?16", self.encoding or "", re.IGNORECASE):
                refuse("is UTF-16: UTF-8 is expected", self.path)
            return io.TextIOWrapper(stream, newline="\n", encoding="utf-16")
        elif self.encoding:
            return io.TextIOWrapper(stream, newline="\n", encoding=self.encoding)
        return io.TextIOWrapper(stream, newline="\n", **TEXT)

    def lines(self):
        """(number, line) without the line's end; NUL bytes are refused."""
        with guarded(self.path), self.text() as text:
            for number, line in enumerate(text, 1):
                if "\0" in line:
                    refuse("NUL byte", self.path, number)
                yield number, line[:-2] if line.endswith("\r\n") else line.rstrip("\n")


class guarded:
    """Turns an error of damaged gzip, or of text that is not in its encoding, into a Refusal."""

    def __init__(self, path):
        self.path = path

    def __enter__(self):
        return self

    def __exit__(self, _kind, error, _trace):
        if isinstance(error, EOFError):
            refuse("gzip data ends early", self.path)
        if isinstance(error, (gzip.BadGzipFile, zlib.error)):
            refuse("gzip data is damaged", self.path)
        if isinstance(error, UnicodeError):
            refuse(f"is not in the given encoding: {error}", self.path)
        return False


# Regular files, as (device, inode), that are read, and that are written in place.
_read, _written = set(), set()


def identity(number):
    """(device, inode) of a descriptor of a regular file, or None."""
    status = os.fstat(number)
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None


def taken(number, path, among):
    """Notes that the file is read, or written in place. It cannot be both, nor can an input be standard
    output."""
    file = identity(number)
    if file is None:
        return
    among.add(file)
    standard = among is _read and file == identity(1)
    if standard or file in _read & _written:
        misuse("is read and written", shown(path))


def descriptor(path):
    """The number of the open descriptor that a path stands for, also through links, or None."""
    if path in STREAMS:
        return STREAMS[path]
    for _ in range(MOST_LINKS):
        folder, name = os.path.split(path)
        if name.isascii() and name.isdigit():
            real, own = os.path.realpath(folder or "."), os.path.realpath("/proc/self")
            if real.startswith(own + "/") and real.endswith("/fd"):
                return int(name)
        if not (os.path.islink(path) and os.path.exists(path)):  # what the system follows
            return None
        path = os.path.join(folder, os.readlink(path))
    return None


def open_descriptor(number, path):
    """A stream to an open descriptor. A regular file is truncated, for standard streams at their current
    offset, unless the descriptor appends."""
    flags = fcntl.fcntl(number, fcntl.F_GETFL)
    if flags & os.O_ACCMODE == os.O_RDONLY:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    if path != "-" and identity(number) and not flags & os.O_APPEND:
        if number not in (1, 2):
            os.lseek(number, 0, os.SEEK_SET)
        os.ftruncate(number, os.lseek(number, 0, os.SEEK_CUR))
    return os.fdopen(os.dup(number), "wb")


def written(path):
    """The name of an output in an error."""
    return "<stdout>" if path == "-" else path


def cannot_write(path, error):
    raise Refusal(f"{written(path)}: cannot be written: {error.strerror}") from None


class Outputs:
    """Several outputs that are all written or none: `with Outputs() as outputs`. A new file has the
    permissions (rwx) of the file that it replaces, and nothing else of it."""

    def __init__(self):
        self._files = []  # [stream, layers below it, temporary name or None, path, target]
        self._names = set()  # of files, descriptors and what is not there yet, each once

    def __enter__(self):
        return self

    def _name(self, name, path):
        if name in self._names:
            misuse("two outputs have this name", written(path))
        self._names.add(name)

    def _open_target(self, path, status):
        """(stream, temporary name, target), in the folder of the file that the path leads to. Links may
        change meanwhile: the target must be the file that the system has found."""
        target = os.path.realpath(path)
        there = os.lstat(target) if os.path.lexists(target) else None
        if (there is None) != (status is None) or there and not os.path.samestat(there, status):
            raise Refusal(f"{path}: {os.strerror(errno.ESTALE)}")
        self._name(target if status is None else (status.st_dev, status.st_ino), path)
        try:
            number, temporary = tempfile.mkstemp(prefix=".dualsvm-", dir=os.path.dirname(target))
        except OSError as error:
            raise Refusal(f"{path}: {error.strerror}") from None
        if status is None:
            mask = os.umask(0)
            os.umask(mask)
        os.fchmod(number, 0o666 & ~mask if status is None else status.st_mode & 0o777)
        return os.fdopen(number, "wb"), temporary, target

    def binary(self, path):
        """A stream of bytes that becomes the file."""
        number = descriptor(path)
        temporary = target = None
        if number is not None:
            try:
                self._name(identity(number) or number, path)
                taken(number, written(path), _written)
                raw = open_descriptor(number, path)
            except OSError as error:
                cannot_write(path, error)
        else:
            try:
                status = os.stat(path)
            except FileNotFoundError:
                if not path:
                    raise
                status = None
            if status is None or stat.S_ISREG(status.st_mode):
                raw, temporary, target = self._open_target(path, status)
            else:
                self._name(path, path)
                raw = open(path, "wb")  # a device or a pipe
        stream = raw
        if path.endswith(".gz"):
            stream = gzip.GzipFile("", "wb", 6, raw, 0)  # no name, no time: the same bytes again
        self._files.append([stream, raw, temporary, path, target])
        return stream

    def text(self, path):
        """A stream of text that becomes the file."""
        binary = self.binary(path)
        text = io.TextIOWrapper(io.BufferedWriter(binary, 1 << 18), newline="\n",
                                write_through=False, **TEXT)
        self._files[-1][0] = text
        return text

    def __exit__(self, kind, _error, _trace):
        try:
            if kind is None:
                for stream, raw, temporary, path, _ in self._files:
                    try:
                        stream.close()
                        if not raw.closed:
                            raw.flush()
                            if temporary:
                                os.fsync(raw.fileno())
                            raw.close()
                    except BrokenPipeError:
                        raise
                    except OSError as error:
                        cannot_write(path, error)
                for entry in self._files:
                    if entry[2]:
                        os.replace(entry[2], entry[4])
                        entry[2] = None
        finally:
            for stream, raw, temporary, *_ in self._files:
                if temporary:
                    os.unlink(temporary)
                for part in (stream, raw):
                    try:
                        part.close()
                    except (OSError, ValueError):
                        pass
        return False


# endings of files that no tool for data writes
FOREIGN = frozenset("7z arrow bz2 db dta feather h5 hdf5 html jsonl json joblib lz4 mat npz ods orc parquet pdf "
                    "pickle pkl rda rdata rds sas7bdat sav sqlite tar tgz xls xlsx xml xz zip zst".split())
TABLES = frozenset("csv tsv tab arff npy xmc".split())  # those that only convert writes


def ending(path):
    """The end of the name that gives its format, in small letters without the dot."""
    return os.path.splitext(plain_name(path))[1][1:].lower()


def svmlight_name(path):
    """The type of arguments of outputs of svmlight text: a name that does not promise something else."""
    if ending(path) in FOREIGN | TABLES:
        raise argparse.ArgumentTypeError(f"svmlight text is written, not .{ending(path)}: '{path}'")
    return path


def plain_name(path):
    """The name without a .gz at its end, which gives the format."""
    return path[:-3] if path.endswith(".gz") else path


def names_of(paths, given, parser):
    """A name for each file: those of --names, else the shortest parts of the files' names that distinguish them."""
    if given is not None:
        names = given.split(",")
        if len(names) != len(paths):
            parser.error(f"--names: {len(names)} names for {len(paths)} files")
    else:
        bare = [os.path.basename(plain_name(path)) for path in paths]
        for names in ([os.path.splitext(name)[0] for name in bare], bare, paths):
            if len(set(names)) == len(paths):
                break
    if len(set(names)) < len(paths):
        parser.error("two files have one name: " + next(n for n in names if names.count(n) > 1))
    return list(names)


def read_names(path):
    """The lines of a file of names; empty and repeated ones are refused."""
    names = []
    seen = {}
    for number, line in Source(path).lines():
        if not line.strip():
            refuse("name is empty", path, number)
        if line in seen:
            refuse(f"name is given twice: '{line}' (line {seen[line]})", path, number)
        seen[line] = number
        names.append(line)
    return names

