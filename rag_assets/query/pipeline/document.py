"""A YAML file as values that know their lines, so that every later message can name the place.

Anchors are refused: `extends` is the way to share, and an alias can make a small file explode. So is a key that is
written twice, which YAML readers take the last of.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_assets.query.pipeline.errors import Mark, PipelineError, Problem

if TYPE_CHECKING:
    import yaml

MAX_FILE_BYTES = 1 << 20
"""The shipped pipelines have 5 kB; a file that is no pipeline should not be read for seconds."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A value and where it is written: a scalar, a tuple of entries, or a mapping of entries in the order of the
    file. In a mapping the place is that of the key."""

    value: Any
    mark: Mark

    @property
    def is_mapping(self) -> bool:
        return isinstance(self.value, dict)

    @property
    def is_list(self) -> bool:
        return isinstance(self.value, tuple)


def plain(entry: Entry) -> Any:
    """The value without places: dicts, lists and scalars."""
    if isinstance(entry.value, dict):
        return {key: plain(inner) for key, inner in entry.value.items()}
    if isinstance(entry.value, tuple):
        return [plain(inner) for inner in entry.value]
    return entry.value


def read_document(path: Path) -> Entry:
    """The file as entries. Raises PipelineError."""
    name = str(path)
    top = Mark(name, 1)
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise _error(top, f"cannot be read: {error.strerror or error}") from error
    if len(data) > MAX_FILE_BYTES:
        raise _error(top, f"larger than {MAX_FILE_BYTES:,} bytes, which no pipeline is")
    return parse_document(data, name)


def parse_document(data: bytes, name: str) -> Entry:
    """The same of a file's content. Raises PipelineError."""
    import yaml

    top = Mark(name, 1)
    try:
        text = data.decode("utf-8-sig")
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        if node is None:
            raise _error(top, "empty; a pipeline file begins with `pipeline:`")
        return _Reader(name).entry(node, node.start_mark)
    except UnicodeDecodeError as error:
        raise _error(top, f"not UTF-8: {error.reason} at byte {error.start}") from error
    except yaml.MarkedYAMLError as error:
        at = error.problem_mark or error.context_mark
        raise _error(
            Mark(name, at.line + 1 if at else 1), f"not valid YAML: {error.problem or error.context}"
        ) from error
    except yaml.YAMLError as error:
        raise _error(top, f"not valid YAML: {' '.join(str(error).split())}") from error
    except RecursionError:
        raise _error(top, "nested too deeply") from None


class _Reader:
    def __init__(self, name: str) -> None:
        import yaml

        self._name = name
        self._seen: set[int] = set()
        self._scalars = yaml.SafeLoader("")

    def entry(self, node: yaml.Node, start: Any) -> Entry:
        import yaml

        mark = Mark(self._name, start.line + 1)
        if id(node) in self._seen:
            raise _error(mark, "anchors and aliases are not supported; share with `extends`")
        self._seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            return Entry(self._mapping(node), mark)
        if isinstance(node, yaml.SequenceNode):
            return Entry(tuple(self.entry(inner, inner.start_mark) for inner in node.value), mark)
        try:
            return Entry(self._scalars.construct_object(node), mark)
        except (yaml.YAMLError, ValueError, KeyError) as error:
            raise _error(mark, f"not a value: {getattr(error, 'problem', None) or error}") from error

    def _mapping(self, node: yaml.MappingNode) -> dict[str, Entry]:
        import yaml

        made: dict[str, Entry] = {}
        for key, value in node.value:
            mark = Mark(self._name, key.start_mark.line + 1)
            if not isinstance(key, yaml.ScalarNode):
                raise _error(mark, "a key must be a word")
            name = key.value  # as it is written: `on:` is a key and no truth value
            if name in made:
                raise _error(mark, f"{name!r} is written twice, first in line {made[name].mark.line}")
            made[name] = self.entry(value, key.start_mark)
        return made


def _error(mark: Mark, text: str) -> PipelineError:
    return PipelineError([Problem(mark, text)])
