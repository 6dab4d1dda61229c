"""ckvd keeps a syntax-true code index of a working tree in one SQLite file."""

TYPE_CHECKING = False
"""That of `typing`, without its import: that takes so long that a Ctrl-C falls into it."""

if TYPE_CHECKING:
    from ckvd.index import Index as Index

__version__ = "0.1.0"
__all__ = ["Index", "__version__"]


def __getattr__(name: str) -> object:
    """`Index` is imported when first asked for: commands that do not search stay light."""
    if name == "Index":
        from ckvd.index import Index

        return Index
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
