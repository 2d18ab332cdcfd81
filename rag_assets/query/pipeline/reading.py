"""From entries of a file to a typed record: every problem is found, each with its line and, for a name that is not
known, the nearest one that is."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import TypeVar

import msgspec

from rag_assets.decoders import from_plain
from rag_assets.query.pipeline.document import Entry, plain
from rag_assets.query.pipeline.errors import Mark, Problem

T = TypeVar("T", bound=msgspec.Struct)

_PATH = re.compile(r" - at `\$(?P<path>[^`]*)`")
_GOT = re.compile(r", got `\w+`")
"""The type of a value, which messages show themselves."""
_INDEX = re.compile(r"\[(?P<index>\d+)\]")


def read_record(
    record: type[T], entries: Mapping[str, Entry], at: Mark, what: str, problems: list[Problem]
) -> T | None:
    """The record of these entries; None where `problems` got new ones. `what` names the thing in messages, `at` is its
    place for what is missing."""
    before = len(problems)
    fields = {field.name: field for field in msgspec.structs.fields(record)}
    values = {}
    for name, entry in entries.items():
        if name not in fields:
            problems.append(Problem(entry.mark, f"{what}: unknown key {name!r}{nearest(name, fields)}"))
            continue
        try:
            values[name] = from_plain(plain(entry), fields[name].type)
        except msgspec.ValidationError as error:
            problems.append(_refused(error, what, name, entry))
    for name, field in fields.items():
        if field.required and name not in entries:
            problems.append(Problem(at, f"{what}: {name!r} is missing"))
    return record(**values) if len(problems) == before else None


def nearest(name: str, known: Iterable[str]) -> str:
    """`; did you mean 'next'?`, or what would be valid."""
    valid = list(known)
    near = difflib.get_close_matches(name, valid, n=1)
    if near:
        return f"; did you mean {near[0]!r}?"
    return f"; valid: {', '.join(valid)}" if valid else "; there are none"


def _refused(error: msgspec.ValidationError, what: str, name: str, entry: Entry) -> Problem:
    text = str(error)
    found = _PATH.search(text)
    said = _GOT.sub("", _PATH.sub("", text))
    said = said[:1].lower() + said[1:]
    hint = "; put it in quotes to make it text" if "expected `str`" in said else ""
    inner = _INDEX.match(found["path"]) if found else None
    if inner is not None and entry.is_list:
        entry = entry.value[int(inner["index"])]
    shown = plain(entry)
    return Problem(entry.mark, f"{what}: {name}: {said}, got {shown!r}{hint}")
