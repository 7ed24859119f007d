"""Builds the package for pip: a wheel with libdualsvm inside, and a source archive.

A build backend (PEP 517, PEP 660) of the standard library alone, so that building downloads nothing.
The library comes from `make` in the C sources: the checkout around this folder, or the folder
`source` of a source archive. CC, ARCH, CFLAGS, BUILD and the Makefile's other settings are taken from
the environment. A build by `make` with equal settings is not repeated; with other settings the folder
is build-pip, so that the checkout's own build stays what it is. BUILD names another one. MAKE is another
make. DUALSVM_LIBRARY names a library that is there: none is built.
"""
import base64
import gzip
import hashlib
import io
import os
import re
import shlex
import subprocess
import sysconfig
import tarfile
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARY = "libdualsvm.so.0"
# What `make` needs for the library.
SOURCES = ("Makefile", "COPYRIGHT", "include", "library", "common", "fit", "methods", "driver",
           "families", "tools/setup")
PACKAGE = ("README", "backend.py", "pyproject.toml", "dualsvm")
METADATA = """\
Metadata-Version: 2.1
Name: dualsvm
Version: %s
Summary: Support vector machines with certified duality gaps, in scikit-learn's manner
License: BSD-3-Clause
Classifier: Programming Language :: Python :: 3
Classifier: Operating System :: POSIX
Requires-Python: >=3.9
Requires-Dist: numpy
Provides-Extra: sparse
Requires-Dist: scipy; extra == "sparse"
Provides-Extra: checks
Requires-Dist: scikit-learn; extra == "checks"
Description-Content-Type: text/plain

"""


def content(*path):
    with open(os.path.join(HERE, *path), "rb") as file:
        return file.read()


def version():
    return re.search(r'VERSION = "(.*)"', content("dualsvm", "_version.py").decode()).group(1)


def metadata():
    return (METADATA % version()).encode() + content("README")


def files_of(top, names):
    """The paths, below `top`, of these files and of all files in these folders."""
    for name in names:
        path = os.path.join(top, name)
        if os.path.isfile(path):
            yield name
        for folder, folders, files in os.walk(path):
            folders[:] = sorted(set(folders) - {"__pycache__"})
            yield from (os.path.relpath(os.path.join(folder, file), top) for file in sorted(files))


# ---- the library ----


def source_folder():
    archived = os.path.join(HERE, "source")
    return archived if os.path.isdir(archived) else os.path.dirname(HERE)


def make(target, *arguments):
    """Makes a file, named from the folder of the sources, and returns its path."""
    sources = source_folder()
    jobs = [] if "-j" in os.environ.get("MAKEFLAGS", "") else ["-j%d" % (os.cpu_count() or 1)]
    subprocess.run(shlex.split(os.environ.get("MAKE", "make")) + jobs +
                   ["-C", sources, *arguments, target], check=True)
    return os.path.join(sources, target)


def build_folder():
    """The checkout's build, unless it is of another compiler or other flags, which `make` keeps in its
    file `flags` and would replace; then build-pip."""
    flags = os.path.join(source_folder(), "build", "flags")
    if not os.path.exists(flags):
        return "build"
    with tempfile.TemporaryDirectory() as folder, open(flags, "rb") as known, \
            open(make(os.path.join(folder, "flags"), "-s", "BUILD=" + folder), "rb") as ours:
        return "build" if ours.read() == known.read() else "build-pip"


def library(build=None):
    """Builds the library, in the folder `build` if one is given, and returns its path."""
    given = os.environ.get("DUALSVM_LIBRARY")
    if given:
        return given
    build = os.environ.get("BUILD") or build or build_folder()
    return make(os.path.join(build, LIBRARY), "BUILD=" + build)


# ---- wheels ----


def write_wheel(folder, files):
    """Writes a wheel of {path: bytes} for this platform; returns its name."""
    platform = re.sub("[-.]", "_", sysconfig.get_platform())
    tag, info = "py3-none-" + platform, "dualsvm-%s.dist-info" % version()
    files = {**files, info + "/METADATA": metadata(), info + "/WHEEL": (
        "Wheel-Version: 1.0\nGenerator: dualsvm\nRoot-Is-Purelib: false\nTag: %s\n" % tag).encode()}
    if os.path.exists(os.path.join(source_folder(), "COPYRIGHT")):
        files[info + "/COPYRIGHT"] = content(source_folder(), "COPYRIGHT")
    record = info + "/RECORD"
    lines = ["%s,sha256=%s,%d\n" % (
        path, base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode(),
        len(data)) for path, data in files.items()]
    files[record] = "".join(lines + [record + ",,\n"]).encode()
    name = "dualsvm-%s-%s.whl" % (version(), tag)
    with zipfile.ZipFile(os.path.join(folder, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            member = zipfile.ZipInfo(path)  # of a fixed date: equal input gives equal bytes
            member.compress_type, member.external_attr = zipfile.ZIP_DEFLATED, 0o100644 << 16
            wheel.writestr(member, data)
    return name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    files = {path: content(path) for path in files_of(HERE, ["dualsvm"])
             if path.endswith(".py")}
    files["dualsvm/" + LIBRARY] = content(library())
    return write_wheel(wheel_directory, files)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """The package stays in the checkout, and finds the library in its folder `build`."""
    library("build")
    return write_wheel(wheel_directory, {"dualsvm.pth": (HERE + "\n").encode()})


# ---- the source archive ----


def build_sdist(sdist_directory, config_settings=None):
    top = "dualsvm-" + version()
    sources = source_folder()
    members = [(path, os.path.join(HERE, path)) for path in files_of(HERE, PACKAGE)]
    members += [(os.path.join("source", path), os.path.join(sources, path))
                for path in files_of(sources, SOURCES)]
    with open(os.path.join(sdist_directory, top + ".tar.gz"), "wb") as file, \
            gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed, \
            tarfile.open(fileobj=packed, mode="w") as archive:

        def add(path, data, mode):
            member = tarfile.TarInfo(os.path.join(top, path))
            member.size, member.mode = len(data), mode
            archive.addfile(member, io.BytesIO(data))

        add("PKG-INFO", metadata(), 0o644)
        for path, origin in members:
            add(path, content(origin), 0o755 if os.access(origin, os.X_OK) else 0o644)
    return top + ".tar.gz"
