"""Ranks files with semble; run by the Python that has it (`pip install semble`), never by that of the benchmark.

Reads one JSON object from stdin: `folder` to index, `questions`, `chunks` to ask for, and `model`: a folder or a name
of semble's, or `vectors` (.npy, a row per token) with the `tokenizer` they belong to, of which a static model is made.
Writes one JSON object: `version`, the `seconds` that indexing took, and per question the ranked distinct files and the
seconds that the search took.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from importlib.metadata import version
from typing import Any

import numpy as np
from model2vec import StaticModel  # type: ignore[import-not-found]
from semble import SembleIndex  # type: ignore[import-not-found]
from tokenizers import Tokenizer

_WARM_UP = "warm up"


def main() -> None:
    asked = json.load(sys.stdin)
    with tempfile.TemporaryDirectory(prefix="semble-model-") as folder:
        model = _model(asked, folder)
        started = time.perf_counter()
        index = SembleIndex.from_path(asked["folder"], model_path=model)
        seconds = time.perf_counter() - started
        index.search(_WARM_UP)
        found = [_ranked(index, question, asked["chunks"]) for question in asked["questions"]]
    json.dump({"version": version("semble"), "seconds": seconds, "rankings": found}, sys.stdout)


def _model(asked: dict[str, Any], folder: str) -> str:
    if "model" in asked:
        return str(asked["model"])
    made = StaticModel(np.load(asked["vectors"]), Tokenizer.from_file(asked["tokenizer"]), normalize=True)
    made.save_pretrained(folder)
    return folder


def _ranked(index: Any, question: str, chunks: int) -> dict[str, Any]:
    started = time.perf_counter()
    hits = index.search(question, top_k=chunks)
    seconds = time.perf_counter() - started
    paths = dict.fromkeys(hit.chunk.file_path.replace("\\", "/") for hit in hits)
    return {"files": list(paths), "seconds": seconds}


if __name__ == "__main__":
    main()
