"""A real embedding server on loopback: vectors that depend on the text alone, and every way to get them wrong."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rag_assets_tests.models.llm.model_server import Asked, Reply

DIMENSION = 8


def vector(text: str, dimension: int = DIMENSION) -> list[float]:
    """Not of unit length, as many servers give them."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    return [float(value) for value in np.random.default_rng(seed).standard_normal(dimension) * 3.0]


def unit(text: str, dimension: int = DIMENSION) -> np.ndarray:
    made = np.array(vector(text, dimension))
    return (made / np.linalg.norm(made)).astype(np.float32)


def inputs(asked: Asked) -> list[str]:
    return list(asked.body["input"])


def items(texts: Sequence[str], dimension: int = DIMENSION) -> list[dict[str, Any]]:
    return [
        {"object": "embedding", "index": index, "embedding": vector(text, dimension)}
        for index, text in enumerate(texts)
    ]


def reply(data: list[dict[str, Any]], tokens: int | None = None) -> Reply:
    usage = {} if tokens is None else {"usage": {"prompt_tokens": tokens, "total_tokens": tokens}}
    return Reply(json.dumps({"object": "list", "data": data, "model": "m"} | usage).encode())


def embedding(asked: Asked) -> Reply:
    """The right answer: in the dimension that is asked for, ten tokens a text."""
    texts = inputs(asked)
    return reply(items(texts, asked.body.get("dimensions", DIMENSION)), 10 * len(texts))


def unless(condition: Callable[[Asked], bool], other: Callable[[Asked], Reply]) -> Callable[[Asked], Reply]:
    """The right answer but where `condition` holds."""
    return lambda asked: other(asked) if condition(asked) else embedding(asked)


def with_text(wanted: str) -> Callable[[Asked], bool]:
    return lambda asked: wanted in inputs(asked)
