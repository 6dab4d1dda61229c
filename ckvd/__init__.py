"""ckvd keeps a syntax-true code index of a working tree in one SQLite file."""

__version__ = "0.1.0"
