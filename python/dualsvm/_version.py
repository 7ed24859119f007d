"""The package's version, which is the library's."""
VERSION = "0.1"
