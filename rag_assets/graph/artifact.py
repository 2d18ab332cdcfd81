"""The graph of one generation on disk: one plain numpy file per array, and a header written last.

    graph.json      version, counts, and of each file the size and the sha256
    {array}.npy     as `graph.csr_graph` names them

Equal graphs give equal bytes. Opening reads the header and small arrays, and maps large ones into memory, so it costs
milliseconds whatever their size; `check` reads all files and compares their hashes.
"""

from __future__ import annotations

import hashlib
import io
import mmap
import threading
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import numpy as np
from numpy.typing import NDArray

from rag_assets.contracts.graph import Relation
from rag_assets.errors import REBUILD, RagAssetsError
from rag_assets.graph.csr_graph import CONFIDENCES, KINDS, RELATIONS, Arrays, Graph, GraphCounts
from rag_assets.index.generation_files import check_opened
from rag_assets.index.layout import require_format, write_atomically
from rag_assets.serialization import from_json

GRAPH_VERSION = 1
"""Raise it when a reader of this version could misread older files."""

GRAPH_FOLDER = "graph"
"""The folder of the graph in that of a generation."""

HEADER = "graph.json"


class GraphError(RagAssetsError):
    """The graph of a generation is absent, damaged or of another version; the text says what to do."""


class _File(msgspec.Struct, frozen=True):
    size: int
    sha256: str


class _Header(msgspec.Struct, frozen=True):
    version: int
    counts: GraphCounts
    kinds: tuple[str, ...]
    relations: tuple[str, ...]
    confidences: tuple[str, ...]
    files: dict[str, _File]


def write_graph(directory: Path, arrays: Arrays, counts: GraphCounts) -> tuple[Path, ...]:
    """Writes the artifact into `directory`, which is made if needed, and returns its files, the header last. Readers
    of an artifact that is written over see an error, never a mixture."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / HEADER).unlink(missing_ok=True)
    files, paths = {}, []
    for name, values in sorted(arrays.items()):
        paths.append(directory / f"{name}.npy")
        paths[-1].unlink(missing_ok=True)  # whoever has the old file mapped, or linked, keeps it whole
        with paths[-1].open("wb") as file:
            written = _Hashed(file)
            np.save(written, np.ascontiguousarray(values), allow_pickle=False)
        files[paths[-1].name] = _File(written.size, written.digest.hexdigest())
    header = _Header(GRAPH_VERSION, counts, KINDS, RELATIONS, CONFIDENCES, files)
    write_atomically(directory / HEADER, msgspec.json.format(msgspec.json.encode(header, order="sorted")))
    return (*paths, directory / HEADER)


class _Hashed:
    """A file that is written: its size and sha256."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.size = 0
        self.digest = hashlib.sha256()

    def write(self, data: bytes) -> int:
        self.size += len(data)
        self.digest.update(data)
        return self._file.write(data)


_MAPPED_FROM = 1 << 18  # bytes
"""A mapped file keeps a descriptor, of which most systems give a process 1,024: a graph has over thirty files, and a
server many graphs. Smaller ones are read in no more time than it takes to map them."""
_FORMAT = (1, 0)
_BEFORE_HEADER = 10  # bytes: a magic word of six, the version, and the length of the header in two
_READING_HEADERS = threading.Lock()
"""NumPy parses a header as Python, which fails now and then where several threads do so (CPython before 3.12)."""


def open_graph(directory: Path) -> Graph:
    """The graph in a directory, its large arrays memory-mapped. Raises GraphError where a file is absent or cut, or the
    version is another one; what only reading shows is found by `check`."""
    header = _header(directory)
    arrays = {Path(name).stem: _loaded(directory / name, file) for name, file in header.files.items()}
    try:
        _check_shapes(arrays, header.counts)
        return Graph(arrays, {Relation(name): count for name, count in header.counts.relations.items()})
    except (KeyError, ValueError, IndexError) as error:
        raise GraphError(f"graph {directory} is damaged ({error}); {REBUILD}") from error


def read_counts(directory: Path) -> GraphCounts:
    """The counts of the graph in a directory. Raises GraphError."""
    return _header(directory).counts


def check(directory: Path) -> None:
    """Reads every file of the artifact. Raises GraphError naming the first that is not what was written."""
    for name, file in _header(directory).files.items():
        path = directory / name
        try:
            with path.open("rb") as opened:
                found = hashlib.file_digest(opened, "sha256").hexdigest()
        except OSError as error:
            raise GraphError(f"graph file {path} cannot be read ({error.strerror or error}); {REBUILD}") from error
        if found != file.sha256:
            raise GraphError(f"graph file {path} is damaged: its bytes are not those that were written; {REBUILD}")


def _header(directory: Path) -> _Header:
    path = directory / HEADER
    check_opened(directory, GraphError)
    try:
        content = path.read_bytes()
        version = from_json(content, dict[str, Any]).get("version")
        require_format(f"graph {path}", version, GRAPH_VERSION, error=GraphError)
        header = from_json(content, _Header)
    except FileNotFoundError:
        raise GraphError(f"there is no graph in {directory}: {HEADER} is missing; {REBUILD}") from None
    except (OSError, msgspec.DecodeError) as error:
        raise GraphError(f"graph {path} cannot be read ({error}); {REBUILD}") from error
    if (header.kinds, header.relations, header.confidences) != (KINDS, RELATIONS, CONFIDENCES):
        raise GraphError(f"graph {path} was made with other kinds or relations than this program has; {REBUILD}")
    return header


def _loaded(path: Path, file: _File) -> NDArray[Any]:
    try:
        found = path.stat().st_size
        if found != file.size:
            raise GraphError(f"graph file {path} is damaged: it has {found} bytes of {file.size}; {REBUILD}")
        with path.open("rb") as opened:
            is_large = found >= _MAPPED_FROM
            content = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) if is_large else opened.read()
        start = _BEFORE_HEADER + int.from_bytes(content[_BEFORE_HEADER - 2 : _BEFORE_HEADER], "little")
        dtype, shape = _form(content[:start])
        loaded: NDArray[Any] = np.ndarray(shape, dtype, content, start)
    except FileNotFoundError:
        raise GraphError(f"graph file {path} is missing; {REBUILD}") from None
    except (OSError, TypeError, ValueError) as error:  # TypeError: it has more elements than the file
        raise GraphError(f"graph file {path} cannot be read ({error}); {REBUILD}") from error
    return loaded


@lru_cache(maxsize=256)
def _form(header: bytes) -> tuple[np.dtype[Any], tuple[int, ...]]:
    """Type and shape of an array, as `np.save` writes them before it; a graph has many arrays of the same. Raises
    ValueError."""
    with _READING_HEADERS:
        file = io.BytesIO(header)
        if np.lib.format.read_magic(file) != _FORMAT:
            raise ValueError("it has another format")
        shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(file)
    if is_fortran or dtype.hasobject:
        raise ValueError("it is no plain array")
    return dtype, shape


def _check_shapes(arrays: Arrays, counts: GraphCounts) -> None:
    """Raises ValueError or KeyError where the arrays cannot belong together."""
    edges = len(arrays["edge_target"])
    for name in ("key", "name", "signature", "path", "language", "word"):
        if arrays[f"{name}_ends"][-1] != len(arrays[f"{name}_bytes"]):
            raise ValueError(f"{name}_ends does not end with {name}_bytes")
    for name, within in (
        ("out_edges", "edge_target"),
        ("in_edges", "in_source"),
        ("out_runs", "out_relation"),
        ("in_runs", "in_relation"),
        ("node_places", "place_path"),
        ("word_nodes", "word_node"),
    ):
        if arrays[name][-1] != len(arrays[within]):
            raise ValueError(f"{name} does not end with {within}")
    for name, expected in (
        ("node_kind", counts.nodes),
        ("key_ends", counts.nodes + 1),
        ("edge_target", counts.edges),
        ("in_edge", edges),
        ("in_source", edges),
    ):
        if len(arrays[name]) != expected:
            raise ValueError(f"{name} has {len(arrays[name])} entries of {expected}")
