"""The items of a question file with their lines, so that every mistake can be named by file and line.

A reader is called with the path, the text and a list that takes what is wrong; it yields (line, value) of each item.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

Reader = Callable[[Path, str, list[str]], Iterator[tuple[int, Any]]]

_BLANK = re.compile(r"[ \t\r\n]*")


def _json_lines(path: Path, text: str, problems: list[str]) -> Iterator[tuple[int, Any]]:
    """(line, value) of every line that is JSON. Lines end at line feeds only: strings may hold other separators."""
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            yield number, json.loads(line, object_pairs_hook=_without_repeats)
        except (ValueError, RecursionError) as error:
            said = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
            problems.append(f"{path}:{number}: not one JSON object a line: {said}")


def _yaml_items(path: Path, text: str, problems: list[str]) -> Iterator[tuple[int, Any]]:
    """(line, value) of every item of the list in a YAML file."""
    loader = yaml.SafeLoader(text)
    try:
        root = loader.get_single_node()
        if root is None:
            return
        if not isinstance(root, yaml.SequenceNode):
            problems.append(f"{path}:{root.start_mark.line + 1}: expected a list of questions")
            return
        for node in root.value:
            if isinstance(node, yaml.MappingNode):
                keys = [key.value for key, _ in node.value]
                repeated = sorted({str(key) for key in keys if keys.count(key) > 1})
                if repeated:
                    problems.append(f"{path}:{node.start_mark.line + 1}: key {', '.join(repeated)} is there twice")
                    continue
            yield node.start_mark.line + 1, loader.construct_object(node, deep=True)
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # ValueError: a date that does not exist
        mark = getattr(error, "problem_mark", None)
        where = f"{path}:{mark.line + 1}" if mark else str(path)
        problems.append(f"{where}: not valid YAML: {getattr(error, 'problem', None) or error}")
    finally:
        loader.dispose()


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"key {', '.join(sorted({key for key in keys if keys.count(key) > 1}))} is there twice")
    return made


def _json_array(path: Path, text: str, problems: list[str]) -> Iterator[tuple[int, Any]]:
    """(line, value) of every item of the array in a JSON file."""
    decoder = json.JSONDecoder(object_pairs_hook=_without_repeats)
    at = _next(text, 0)
    if text[at : at + 1] != "[":
        problems.append(f"{path}:{_line(text, at)}: expected a list of questions")
        return
    at, closing = _next(text, at + 1), True
    try:
        while not (closing and text[at : at + 1] == "]"):
            value, end = decoder.raw_decode(text, at)
            yield _line(text, at), value
            end = _next(text, end)
            closing = text[end : end + 1] != ","
            if closing and text[end : end + 1] != "]":
                problems.append(f"{path}:{_line(text, end)}: not valid JSON: expected , or ] after an item")
                return
            at = end if closing else _next(text, end + 1)
        if text[at + 1 :].strip():
            problems.append(f"{path}:{_line(text, at)}: not valid JSON: something follows the list")
    except (ValueError, RecursionError) as error:
        known = error if isinstance(error, json.JSONDecodeError) else None
        said, line = (known.msg, known.lineno) if known else (str(error), _line(text, at))
        problems.append(f"{path}:{line}: not valid JSON: {said}")


def _next(text: str, at: int) -> int:
    """Where something stands again, from `at` on."""
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


READERS: Mapping[str, Reader] = {
    ".jsonl": _json_lines,
    ".json": _json_array,
    ".yaml": _yaml_items,
    ".yml": _yaml_items,
}
"""Ending of a file name, in lower case → how its items are read."""
