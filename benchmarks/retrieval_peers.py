"""Another engine in the table of benchmarks/retrieval.py: semble, in a Python of its own, over the very same files.

    python -m venv peer && peer/bin/pip install semble
    python benchmarks/retrieval.py --peer-python peer/bin/python …

It gets the C# files of a snapshot as they are indexed here, without anything else to be found. Its own model comes
from the network (`--peer-model NAME`); without that it gets static vectors made as its authors make theirs, of the
model that is here: the vector of every token, reduced and weighed by how rare the token is (model2vec, Tulkens and van
Dongen 2024).
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from retrieval_floors import texts_of

from rag_assets import Index

_SCRIPT = Path(__file__).parent / "peers" / "semble_search.py"
_DIMENSION = 256  # as model2vec reduces to
_SIF = 1e-4  # smooth inverse frequency (Arora et al. 2017), the value of model2vec; a token's frequency by Zipf's law
_BATCH = 1_024  # tokens embedded at a time
_SHOWN_LINES = 5


class PeerError(RuntimeError):
    """A peer that cannot be asked; the text says how to install it."""


@dataclass(frozen=True, slots=True)
class PeerRanking:
    files: tuple[str, ...]
    seconds: float


class Semble:
    """semble behind another Python. `model` is a name or a folder for it; empty: the vectors described above, which are
    kept in `cache`."""

    def __init__(self, python: Path, model: str, cache: Path) -> None:
        """Raises PeerError where that Python has no semble."""
        self._python = python
        self._model = model
        self._cache = cache
        self._run(["-c", "import semble"], "")

    @property
    def name(self) -> str:
        return f"semble, {self._model or 'vectors of MiniLM'}"

    def rankings(self, index: Index, suffix: str, questions: Sequence[str], chunks: int) -> list[PeerRanking]:
        """Per question the files of the best `chunks`; `suffix` is how their paths end. Raises PeerError."""
        with tempfile.TemporaryDirectory(prefix="peer-") as folder:
            for path, text in texts_of(index, suffix).items():
                file = Path(folder) / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
            asked = {"folder": folder, "questions": list(questions), "chunks": chunks, **self._vectors}
            found = json.loads(self._run([str(_SCRIPT)], json.dumps(asked)))
        return [PeerRanking(tuple(ranking["files"]), ranking["seconds"]) for ranking in found["rankings"]]

    def seconds_to_index(self, folder: Path) -> float:
        """How long it takes to index the files of a folder. Raises PeerError."""
        asked = {"folder": str(folder), "questions": [], "chunks": 0, **self._vectors}
        return float(json.loads(self._run([str(_SCRIPT)], json.dumps(asked)))["seconds"])

    @cached_property
    def _vectors(self) -> dict[str, str]:
        return {"model": self._model} if self._model else static_vectors(self._cache)

    def _run(self, arguments: list[str], asked: str) -> str:
        try:
            done = subprocess.run(
                [self._python, *arguments], input=asked, capture_output=True, text=True, encoding="utf-8", check=False
            )
        except OSError as error:
            raise PeerError(f"{self._python} cannot be run ({error.strerror}); {_HOW}") from error
        if done.returncode:
            last = "\n".join(done.stderr.strip().splitlines()[-_SHOWN_LINES:])
            raise PeerError(f"{self._python} could not search with semble:\n{last}\n{_HOW}")
        return done.stdout


_HOW = "make one with: python -m venv peer && peer/bin/pip install semble; then: --peer-python peer/bin/python"


def static_vectors(cache: Path) -> dict[str, str]:
    """Files of a static model of the local one: `vectors` (one row per token, float32) and its `tokenizer`."""
    from tokenizers import Tokenizer

    from rag_assets.models.minilm.embedder import MiniLmEmbedder
    from rag_assets.models.minilm.weights import locate_model

    tokenizer = locate_model().tokenizer
    file = cache / f"static-{_DIMENSION}.npy"
    if not file.is_file():
        vocabulary: dict[str, int] = Tokenizer.from_file(str(tokenizer)).get_vocab()
        tokens = sorted(vocabulary, key=vocabulary.__getitem__)
        model = MiniLmEmbedder.load(cache)
        words = [token.removeprefix("##") for token in tokens]
        rows = np.vstack([model.embed(words[start : start + _BATCH]) for start in range(0, len(words), _BATCH)])
        cache.mkdir(parents=True, exist_ok=True)
        np.save(file, weighed_rows(reduced_rows(rows), tokens))
    return {"vectors": str(file), "tokenizer": str(tokenizer)}


def reduced_rows(rows: Any) -> Any:
    """The principal components, as PCA gives them."""
    centred = rows - rows.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    return centred @ axes[:, ::-1][:, :_DIMENSION]


def weighed_rows(rows: Any, tokens: Sequence[str]) -> Any:
    """A vocabulary is in the order of frequency; special tokens say nothing."""
    ranks = np.arange(1, len(tokens) + 1)
    frequency = (1 / ranks) / (1 / ranks).sum()
    special = np.array([token.startswith("[") and token.endswith("]") and len(token) > 2 for token in tokens])
    weights = np.where(special, 0.0, _SIF / (_SIF + frequency))
    return (rows * weights[:, None]).astype(np.float32)
