"""The figures of the book, one module a section."""
