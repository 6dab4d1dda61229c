"""The one SQLite file: its schema, its one writer, its readers."""
