"""Shared code of the tools: command lines, files, numbers, rows, tables, pictures, statistical tests."""
