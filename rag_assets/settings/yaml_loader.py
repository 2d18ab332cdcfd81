"""The one loader for files that people write: YAML and JSON become values that know their lines, then typed records.

A record is a pydantic model (settings, rule packs, questions) or a msgspec struct (pipelines, agents: `ask` reads them
at each start, and pydantic with their 16 models would add 100 ms to it). A file is refused with all of its problems at
once: keys that are written twice, unknown keys with the nearest valid one, and values of another type.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args

from rag_assets.errors import RagAssetsError
from rag_assets.settings.validation_messages import (
    Location,
    kind_of,
    model_message,
    struct_message,
)
from rag_assets.suggestions import nearest

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    import msgspec
    from pydantic import BaseModel

    StructT = TypeVar("StructT", bound=msgspec.Struct)
    ModelT = TypeVar("ModelT", bound=BaseModel)

MAX_FILE_BYTES = 1 << 20
"""The largest shipped file has 9 kB; nobody waits seconds for a file that is something else."""

LIST_SUFFIXES = (".jsonl", ".json", ".yaml", ".yml")
"""What `read_items` reads."""

_UNREADABLE: dict[type[OSError], str] = {
    FileNotFoundError: "there is no such file",
    NotADirectoryError: "there is no such file",
    IsADirectoryError: "it is a folder; name a file in it",
    PermissionError: "this user may not read it",
}
_MAX_DEPTH = 100  # of nested values; libyaml's own composer crashes the process at some ten thousand
_BETWEEN_ITEMS = re.compile(r"[\s,]*")
_TAG = "tag:yaml.org,2002:"


@dataclass(frozen=True, slots=True, order=True)
class Mark:
    """A place in a file. Lines count from 1; 0 is the file as a whole."""

    file: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, and where."""

    mark: Mark
    text: str

    def __str__(self) -> str:
        return f"{self.mark}: {self.text}"


class InvalidFileError(RagAssetsError, ValueError):
    """A file that cannot be used. `problems` are in the order of files and lines; the text has one line for each."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(problems, key=lambda problem: (problem.mark, problem.text)))
        super().__init__("\n".join(map(str, self.problems)))


@dataclass(frozen=True)
class Node:
    """A value and its place: a scalar, a tuple of nodes, or a dict of nodes in the order of the file. The place of a
    value in a mapping is that of its key."""

    value: Any
    mark: Mark

    @property
    def is_mapping(self) -> bool:
        return isinstance(self.value, dict)

    @property
    def is_list(self) -> bool:
        return isinstance(self.value, tuple)

    @cached_property
    def plain(self) -> Any:
        """The value without places: dicts, lists and scalars. Nodes behind one anchor share it."""
        if isinstance(self.value, dict):
            return {key: inner.plain for key, inner in self.value.items()}
        if isinstance(self.value, tuple):
            return [inner.plain for inner in self.value]
        return self.value

    def at(self, location: Iterable[str | int]) -> Node:
        """The node at `repositories`, 0, `id`, or at as much of that path as exists."""
        node = self
        for part in location:
            if node.is_mapping and str(part) in node.value:
                node = node.value[str(part)]
            elif node.is_list and isinstance(part, int) and part < len(node.value):
                node = node.value[part]
            else:
                break
        return node


def read_yaml(file: Path | Traversable, shown: str = "", *, anchors: bool = True) -> Node:
    """The document in a file; the value of an empty file is None. `shown` is what messages call a file of a package.
    Raises InvalidFileError."""
    named = shown or str(file)
    return parse_yaml(_bytes(file, named, MAX_FILE_BYTES), named, anchors=anchors)


def parse_yaml(data: bytes | str, file: str, *, anchors: bool = True) -> Node:
    """The document in a text; messages call it `file`. Without `anchors` they are refused. Raises InvalidFileError."""
    problems: list[Problem] = []
    node = _parsed(_text(data, file), file, anchors, problems)
    if problems or node is None:
        raise InvalidFileError(problems)
    return node


def read_items(path: Path, problems: list[Problem]) -> list[Node]:
    """The items of the list in a file whose name ends in one of LIST_SUFFIXES; what is wrong goes to `problems`. All
    that is in an item of JSON has the line of the item. Raises InvalidFileError for a file that cannot be read."""
    file = str(path)
    text = _text(_bytes(path, file), file)
    if path.suffix.lower() == ".jsonl":
        return list(_json_lines(text, file, problems))
    if path.suffix.lower() == ".json":
        return list(_json_array(text, file, problems))
    root = _parsed(text, file, True, problems)
    if root is None or root.value is None:
        return []
    if not root.is_list:
        problems.append(Problem(root.mark, f"must be a list, found {kind_of(root.plain)}"))
        return []
    return list(root.value)


def under_key(document: Node, key: str, problems: list[Problem]) -> Node:
    """What is below the one key that a kind of file begins with; other keys go to `problems`. Raises InvalidFileError
    for another kind of file."""
    if not document.is_mapping or key not in document.value:
        found = "empty" if document.value is None else f"no {key}"
        raise InvalidFileError([Problem(Mark(document.mark.file, 1), f"{found}; its file begins with `{key}:`")])
    problems += [
        Problem(other.mark, f"unknown key {name!r} beside `{key}`; everything of it is below `{key}`")
        for name, other in document.value.items()
        if name != key
    ]
    root: Node = document.value[key]
    return root


def load_model(
    model: Callable[..., ModelT],
    values: Mapping[str, Any],
    root: Node,
    *,
    named: Callable[[Location], str] = lambda _: "",
    mark: Callable[[Location], Mark | None] = lambda _: None,
) -> ModelT:
    """A pydantic model of `values`, which `root` has, in this or in another form. `named` says which object a place is
    in, before the message; `mark` is where a place was written that is not in the file. Raises InvalidFileError."""
    from pydantic import ValidationError  # a search must not wait for pydantic

    try:
        return model(**values)
    except ValidationError as error:
        raise InvalidFileError(
            Problem(mark(at) or root.at(at).mark, f"{named(at)}{model_message(problem, model)}")
            for problem in error.errors()
            for at in [problem["loc"]]
        ) from None  # its text shows values, which may be secrets, and Dagster keeps the causes of errors


def load_struct(record: type[StructT], node: Node, what: str, problems: list[Problem], **given: Any) -> StructT | None:
    """A msgspec struct of a mapping, or None after adding to `problems`. `what` names the object in messages; `given`
    are fields that the program fills and no file may have."""
    import msgspec  # 20 ms that `--help` does not wait for

    from rag_assets.serialization import from_plain

    fields = {field.name: field for field in msgspec.structs.fields(record) if field.name not in given}
    if not node.is_mapping:
        problems.append(Problem(node.mark, f"{what} must have keys: {', '.join(fields)}"))
        return None
    before, values = len(problems), dict(given)
    for name, entry in node.value.items():
        if name not in fields:
            problems.append(Problem(entry.mark, f"{what}: unknown key {name!r}{nearest(name, fields)}"))
            continue
        kind = fields[name].type
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            values[name] = load_struct(kind, entry, name, problems)
            continue
        misspelt = list(_misspelt(entry, _allowed_names(kind)))
        problems += [Problem(inner.mark, f"{what}: {name}: {text}") for inner, text in misspelt]
        if misspelt:
            continue
        try:
            values[name] = from_plain(entry.plain, kind)
        except msgspec.ValidationError as error:
            text, location = struct_message(str(error))
            refused = entry.at(location)
            hint = "; put it in quotes to make it text" if "expected `str`" in text else ""
            problems.append(Problem(refused.mark, f"{what}: {name}: {text}, got {refused.plain!r}{hint}"))
    for name, field in fields.items():
        if field.required and name not in node.value:
            problems.append(Problem(node.mark, f"{what}: {name!r} is missing"))
    return record(**values) if len(problems) == before else None


def _allowed_names(kind: Any) -> tuple[str, ...]:
    """The names of the closed set that a type, or the items of a list type, are of; () for any other type."""
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return tuple(map(str, kind))
    inner: tuple[Any, ...] = get_args(kind)
    if inner and all(isinstance(one, str) for one in inner):
        return inner
    return next((names for names in map(_allowed_names, inner) if names), ())


def _misspelt(node: Node, allowed: tuple[str, ...]) -> Iterator[tuple[Node, str]]:
    """The texts at a place for names of a closed set that are none of them."""
    for inner in node.value if node.is_list else (node,):
        if allowed and isinstance(inner.value, str) and inner.value not in allowed:
            yield inner, f"no {inner.value!r}{nearest(inner.value, allowed)}"


def _bytes(file: Path | Traversable, named: str, most: int = -1) -> bytes:
    """Not more than `most`; -1: all."""
    try:
        with file.open("rb") as opened:
            data: bytes = opened.read(most + 1 if most >= 0 else -1)
    except OSError as error:
        said = _UNREADABLE.get(type(error)) or error.strerror or error
        raise InvalidFileError([Problem(Mark(named), f"cannot be read: {said}")]) from error
    if len(data) > most >= 0:
        raise InvalidFileError([Problem(Mark(named, 1), f"larger than {most:,} bytes, which no such file is")])
    return data


def _text(data: bytes | str, file: str) -> str:
    if isinstance(data, str):
        return data
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        mark = Mark(file, data.count(b"\n", 0, error.start) + 1)
        text = f"not UTF-8 (byte 0x{data[error.start]:02x}); save it as UTF-8"
        raise InvalidFileError([Problem(mark, text)]) from error


def _parsed(text: str, file: str, anchors: bool, problems: list[Problem]) -> Node | None:
    """None where it is no YAML at all."""
    import yaml  # 30 ms that only readers of such a file wait for

    try:
        for loader in (getattr(yaml, "CSafeLoader", yaml.SafeLoader), yaml.SafeLoader):
            found: list[Problem] = []
            try:
                node = _YamlReader(loader(text), file, anchors, found).document()
                problems += found
                return node
            except yaml.YAMLError:
                if loader is yaml.SafeLoader:  # slower, and its messages are better
                    raise
    except yaml.MarkedYAMLError as error:
        at = error.problem_mark or error.context_mark
        mark = Mark(file, at.line + 1 if at else 1)
        problems.append(Problem(mark, f"not valid YAML: {error.problem or error.context}"))
    except yaml.YAMLError as error:
        problems.append(Problem(Mark(file, 1), f"not valid YAML: {' '.join(str(error).split())}"))
    return None


class _YamlReader:
    """Builds nodes from the events of a parser. Keys are texts as they are written: `on:` is no truth value."""

    def __init__(self, loader: Any, file: str, anchors: bool, problems: list[Problem]) -> None:
        self._loader = loader
        self._file = file
        self._allows_anchors = anchors
        self._problems = problems
        self._anchors: dict[str, Node] = {}

    def document(self) -> Node:
        import yaml

        empty = Node(None, Mark(self._file, 1))
        try:
            self._loader.get_event()  # the beginning of the stream
            if self._loader.check_event(yaml.StreamEndEvent):
                return empty
            self._loader.get_event()
            node = self._node(self._loader.get_event(), None, 0)
            self._loader.get_event()
            if not self._loader.check_event(yaml.StreamEndEvent):
                self._refuse(self._mark(self._loader.get_event()), "a second document; a file has one")
            return node
        except _TooDeepError:
            self._problems[:] = [Problem(empty.mark, "nested too deeply")]
            return empty
        finally:
            self._loader.dispose()

    def _node(self, event: Any, key: Mark | None, depth: int) -> Node:
        import yaml

        if depth > _MAX_DEPTH:
            raise _TooDeepError
        mark = key or self._mark(event)
        if event.anchor is not None and not self._allows_anchors:
            if isinstance(event, yaml.AliasEvent):
                self._refuse(mark, "anchors and aliases are not supported; share with `extends`")
                return Node(None, mark)
        elif isinstance(event, yaml.AliasEvent):
            known = self._anchors.get(str(event.anchor))
            if known is None:
                self._refuse(mark, f"*{event.anchor} has no anchor before it, or is inside of it")
            return Node(None if known is None else known.value, mark)
        if isinstance(event, yaml.ScalarEvent):
            node = Node(self._scalar(event, mark), mark)
        elif isinstance(event, yaml.MappingStartEvent):
            self._refuse_tag(event, "map", mark)
            node = Node(self._mapping(depth), mark)
        else:
            self._refuse_tag(event, "seq", mark)
            items = []
            while not self._loader.check_event(yaml.SequenceEndEvent):
                items.append(self._node(self._loader.get_event(), None, depth + 1))
            self._loader.get_event()
            node = Node(tuple(items), mark)
        if event.anchor is not None:
            self._anchors[str(event.anchor)] = node
        return node

    def _mapping(self, depth: int) -> dict[str, Node]:
        import yaml

        own: dict[str, Node] = {}
        merged: dict[str, Node] = {}
        while not self._loader.check_event(yaml.MappingEndEvent):
            event = self._loader.get_event()
            mark = self._mark(event)
            if not isinstance(event, yaml.ScalarEvent):
                self._refuse(mark, "a key must be a word")
                self._node(event, mark, depth + 1)
                self._node(self._loader.get_event(), mark, depth + 1)
                continue
            node = self._node(self._loader.get_event(), mark, depth + 1)
            if event.value == "<<" and not event.style and self._allows_anchors:
                for part in node.value if node.is_list else (node,):
                    merged = (part.value if part.is_mapping else {}) | merged
            elif event.value in own:
                first = own[event.value].mark.line
                self._refuse(mark, f"{event.value!r} is written twice, first in line {first}")
            else:
                own[event.value] = node
        self._loader.get_event()
        return merged | own

    def _scalar(self, event: Any, mark: Mark) -> Any:
        import yaml

        tag = event.tag
        if tag is None or tag == "!":
            tag = self._loader.resolve(yaml.ScalarNode, event.value, event.implicit)
        if tag == f"{_TAG}str":
            return event.value
        try:
            return self._loader.construct_object(yaml.ScalarNode(tag, event.value, event.start_mark, event.end_mark))
        except (yaml.YAMLError, ValueError, KeyError) as error:  # ValueError: a date that does not exist
            self._refuse(mark, f"not a value: {getattr(error, 'problem', None) or error}")
            return None

    def _refuse_tag(self, event: Any, plain: str, mark: Mark) -> None:
        if event.tag not in (None, "!", f"{_TAG}{plain}"):
            self._refuse(mark, f"not a value: no mapping or list has the tag {event.tag!r}")

    def _refuse(self, mark: Mark, text: str) -> None:
        self._problems.append(Problem(mark, text))

    def _mark(self, event: Any) -> Mark:
        return Mark(self._file, event.start_mark.line + 1)


class _TooDeepError(Exception):
    """Inside this module only."""


def _json_lines(text: str, file: str, problems: list[Problem]) -> Iterator[Node]:
    """Lines end at line feeds only: strings may hold other separators."""
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            yield _marked(json.loads(line, object_pairs_hook=_without_repeats), Mark(file, number))
        except (ValueError, RecursionError) as error:
            said = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
            problems.append(Problem(Mark(file, number), f"not one JSON object a line: {said}"))


def _json_array(text: str, file: str, problems: list[Problem]) -> Iterator[Node]:
    """The items with the lines that they begin in; none of a text that is no list."""
    line = 1
    try:
        whole = json.loads(text)
        if not isinstance(whole, list):
            problems.append(Problem(Mark(file, 1), f"must be a list, found {kind_of(whole)}"))
            return
        decoder, at = json.JSONDecoder(object_pairs_hook=_without_repeats), text.index("[") + 1
        for _ in whole:
            between = _BETWEEN_ITEMS.match(text, at)
            at = between.end() if between else at
            line = text.count("\n", 0, at) + 1
            value, at = decoder.raw_decode(text, at)
            yield _marked(value, Mark(file, line))
    except json.JSONDecodeError as error:
        problems.append(Problem(Mark(file, error.lineno), f"not valid JSON: {error.msg}"))
    except (ValueError, RecursionError) as error:
        problems.append(Problem(Mark(file, line), f"not valid JSON: {error}"))


def _marked(value: Any, mark: Mark, depth: int = 0) -> Node:
    if depth > _MAX_DEPTH:
        raise ValueError("nested too deeply")
    if isinstance(value, dict):
        return Node({key: _marked(inner, mark, depth + 1) for key, inner in value.items()}, mark)
    if isinstance(value, list):
        return Node(tuple(_marked(inner, mark, depth + 1) for inner in value), mark)
    return Node(value, mark)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        keys = [key for key, _ in pairs]
        repeated = sorted({key for key in keys if keys.count(key) > 1})
        raise ValueError(f"{', '.join(map(repr, repeated))} is written twice")
    return made
