"""From a file's text and symbols to its chunks, and the texts made of them. Pure."""

from ckvd.chunk.cut import cut
from ckvd.chunk.ids import assign_ids, locate
from ckvd.chunk.text import display_text, embed_hash, embed_text, marker_line, prefix_line

__all__ = [
    "assign_ids",
    "cut",
    "display_text",
    "embed_hash",
    "embed_text",
    "locate",
    "marker_line",
    "prefix_line",
]
