"""What the tools share: the command's frame, files, numbers, rows, tables, pictures, tests."""
