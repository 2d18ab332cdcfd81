"""Rows of CSV files and entries of JSON files that may be damaged: what is readable, and what was not."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from rag_assets.graph.imports.artifact_files import ArtifactFile
from rag_assets.graph.imports.imported_graph import Problems
from rag_assets.serialization import from_json
from rag_assets.sources.decoding import Binary, decode

UNREADABLE = (msgspec.MsgspecError, RecursionError, ValueError)


def text_of(file: ArtifactFile, problems: Problems) -> str | None:
    """The text of a file whatever its encoding; None where it is none."""
    found = decode(file.data)
    if isinstance(found, Binary):
        problems.add(file.name, "not used, it is no text", detail=found.detail)
        return None
    if found.replaced or "windows" in found.encoding:
        problems.add(file.name, "not UTF-8; names with other letters than ASCII may be wrong", detail=found.encoding)
    return found.text


def csv_rows(
    file: ArtifactFile, columns: Mapping[str, tuple[str, ...]], required: frozenset[str], problems: Problems
) -> Iterator[tuple[int, dict[str, str]]]:
    """(line, values by column) of a CSV file with a header, in any order of its columns.

    `columns` maps our names to those a producer may use, compared without case. A header without the `required` ones
    leaves the file unused; a row that is cut, badly quoted, too long for one field (131,072 characters) or without a
    required value is left out; missing optional columns are ''.
    """
    text = text_of(file, problems)
    if text is None:
        return
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = [name.strip().lower() for name in next(reader, [])]
    except csv.Error:
        header = []
    at = {ours: next((header.index(name) for name in names if name in header), None) for ours, names in columns.items()}
    missing = sorted(name for name in required if at[name] is None)
    if missing:
        problems.add(
            file.name, f"not used, its header lacks {', '.join(missing)}", row=1, detail=",".join(header) or "empty"
        )
        return
    while True:
        line = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            problems.add(file.name, "unreadable row", row=line, detail=str(error))
            continue
        if not row:
            continue
        if len(row) > len(header):
            problems.add(file.name, "more fields than the header", row=line, detail=",".join(row))
            continue
        values = {
            ours: row[place].strip() if place is not None and place < len(row) else "" for ours, place in at.items()
        }
        empty = sorted(name for name in required if not values[name])
        if empty:
            problems.add(file.name, f"without {', '.join(empty)}", row=line, detail=",".join(row))
            continue
        yield line, values


def json_lines(file: ArtifactFile, problems: Problems) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line, object) of a file with one JSON object per line."""
    text = text_of(file, problems)
    for number, line in enumerate((text or "").split("\n"), start=1):
        if not line.strip():
            continue
        try:
            value = msgspec.json.decode(line)
        except UNREADABLE as error:
            problems.add(file.name, "unreadable line", row=number, detail=str(error))
            continue
        if isinstance(value, dict):
            yield number, value
        else:
            problems.add(file.name, "no JSON object", row=number)


def json_entries(file: ArtifactFile, problems: Problems) -> list[msgspec.Raw]:
    """The entries of a JSON array, undecoded. Of a damaged file those before the damage."""
    text = text_of(file, problems)
    if text is None:
        return []
    try:
        return from_json(text, list[msgspec.Raw])
    except UNREADABLE as error:
        found = [msgspec.Raw(entry) for _, entry in _before_damage(text, "[")]
        problems.add(file.name, f"damaged, {len(found):,} entries before that are used", detail=str(error))
        return found


def json_members(file: ArtifactFile, problems: Problems) -> dict[str, msgspec.Raw]:
    """The members of a JSON object, undecoded. Of a damaged file those before the damage."""
    text = text_of(file, problems)
    if text is None:
        return {}
    try:
        return from_json(text, dict[str, msgspec.Raw])
    except UNREADABLE as error:
        found = {name: msgspec.Raw(entry) for name, entry in _before_damage(text, "{")}
        problems.add(file.name, f"damaged, {len(found):,} entries before that are used", detail=str(error))
        return found


def _before_damage(text: str, opening: str) -> Iterator[tuple[str, str]]:
    """(name, JSON text) of the whole entries of an array or object that ends too early; arrays have no names."""
    decoder = json.JSONDecoder()
    at = _skip(text, 0, " \t\r\n")
    if text[at : at + 1] != opening:
        return
    at += 1
    while True:
        at = _skip(text, at, " \t\r\n,")
        name = ""
        try:
            if opening == "{":
                name, at = decoder.raw_decode(text, at)
                at = _skip(text, at, " \t\r\n:")
            _, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return
        if not isinstance(name, str) or end >= len(text):  # a number at the very end may be cut
            return
        yield name, text[at:end]
        at = end


def _skip(text: str, at: int, chars: str) -> int:
    while at < len(text) and text[at] in chars:
        at += 1
    return at
