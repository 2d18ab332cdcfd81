"""The note of what a build of a label began last: `candidate.json`."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from rag_assets.decoders import from_json
from rag_assets.stores.home import Home, write_atomically

_NOTE = "candidate.json"


@dataclass(frozen=True, slots=True)
class Candidate:
    """The generation that a build began last, and the run that began it."""

    generation_id: str
    run_id: str


def set_candidate(home: Home, label: str, generation_id: str, run_id: str) -> None:
    """Names the generation that the later stages of this run work on."""
    note = msgspec.json.encode(Candidate(generation_id, run_id))
    write_atomically(home.label(label) / _NOTE, note)


def read_candidate(home: Home, label: str) -> Candidate | None:
    """What a build began last, finished or not; None where there was none or its note is damaged: the next build writes
    it again."""
    try:
        return from_json((home.label(label) / _NOTE).read_bytes(), Candidate)
    except (FileNotFoundError, msgspec.DecodeError):
        return None


def candidate_id(home: Home, label: str) -> str | None:
    """The generation of `read_candidate`."""
    candidate = read_candidate(home, label)
    return candidate.generation_id if candidate is not None else None
