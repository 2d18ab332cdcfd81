"""Cassettes: files of recorded replies, one JSON object a line, for reproducible runs without a server.

Secrets are masked in them. A line is written at once, so that several processes may record into one file.
"""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import msgspec

from rag_assets.errors import RagAssetsError
from rag_assets.qa.log.model_calls import RecordedCall, exchange_of
from rag_assets.qa.log.recorded_replies import RecordedReplies
from rag_assets.serialization import from_json

if TYPE_CHECKING:
    from rag_assets.contracts.result import InvokeResult
    from rag_assets.qa.chat_model import AskModel
    from rag_assets.qa.services import Generated, ModelCall


class CassetteError(RagAssetsError):
    """A file of replies that cannot be read or written; the text names the line and what helps."""


class Recorder:
    """Asks a model and writes down what it says, faults too. Safe to use from several threads."""

    def __init__(self, model: AskModel, path: Path) -> None:
        """New replies are added to those that `path` has. Raises CassetteError where it cannot be written."""
        self._model = model
        self._path = path
        self._lock = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("ab+") as file:
                if _ends_in_a_line(file):
                    file.write(b"\n")
        except OSError as error:
            raise _unusable(path, error, "choose another file for answer.replies_file") from error

    def __call__(self, call: ModelCall) -> InvokeResult[Generated]:
        """Raises CassetteError."""
        started = time.perf_counter()
        result = self._model(call)
        exchange = exchange_of(call, result, time.perf_counter() - started, with_texts=True)
        line = msgspec.json.encode(exchange) + b"\n"
        try:
            with self._lock, self._path.open("ab", buffering=0) as file:
                file.write(line)
        except OSError as error:
            raise _unusable(self._path, error, "choose another file for answer.replies_file") from error
        return result


def recorded_replies(path: Path) -> RecordedReplies:
    """The replies of a file. Raises CassetteError."""
    return RecordedReplies(read_cassette(path), str(path))


def read_cassette(path: Path) -> tuple[RecordedCall, ...]:
    """All exchanges in the order they were recorded in. Raises CassetteError naming the first broken line."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise _unusable(path, error, "record replies first, with answer.replies: record") from error
    found = []
    for number, line in enumerate(lines, 1):
        try:
            found.append(from_json(line, RecordedCall))
        except msgspec.DecodeError as error:
            raise CassetteError(
                f"{path}:{number}: not a recorded reply: {error}; delete this line, or delete the file and record again"
            ) from error
    return tuple(found)


def _ends_in_a_line(file: BinaryIO) -> bool:
    """A process that was killed while it wrote leaves half a line; what follows must not become a part of it."""
    end = file.seek(0, os.SEEK_END)
    if not end:
        return False
    file.seek(end - 1)
    return file.read(1) != b"\n"


def _unusable(path: Path, error: OSError, hint: str) -> CassetteError:
    return CassetteError(f"{path}: {error.strerror or error}; {hint}")
