"""The version of the package, equal to that of the library."""
VERSION = "0.1"
