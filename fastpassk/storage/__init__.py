"""Files: which ones a source means, what format they have, how results are written whole or not at all."""

from fastpassk.storage.detect import FORMATS, SUFFIXES, File
from fastpassk.storage.paths import expand, partition_name, refuse_input
from fastpassk.storage.prints import fingerprint
from fastpassk.storage.writing import OUTPUTS, atomic, atomic_folder, json_text, metadata, scratch_folder, write_frame

__all__ = [
    "FORMATS",
    "OUTPUTS",
    "SUFFIXES",
    "File",
    "atomic",
    "atomic_folder",
    "expand",
    "fingerprint",
    "json_text",
    "metadata",
    "partition_name",
    "refuse_input",
    "scratch_folder",
    "write_frame",
]
