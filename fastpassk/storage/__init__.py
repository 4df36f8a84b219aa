"""Files: which ones a source means, what format they have, how results are written whole or not at all."""

from fastpassk.storage.detect import FORMATS, SUFFIXES, File
from fastpassk.storage.paths import expand, refuse_input
from fastpassk.storage.prints import fingerprint
from fastpassk.storage.writing import OUTPUTS, atomic, json_text, metadata, write_frame

__all__ = [
    "FORMATS",
    "OUTPUTS",
    "SUFFIXES",
    "File",
    "atomic",
    "expand",
    "fingerprint",
    "json_text",
    "metadata",
    "refuse_input",
    "write_frame",
]
