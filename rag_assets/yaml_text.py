"""YAML texts of people: a key that is written twice is refused, of which YAML readers silently take the last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import yaml


def load_yaml(text: str) -> Any:
    """The value of a text, of plain types only. Raises yaml.YAMLError, with the place in `problem_mark`."""
    import yaml

    try:
        return _loaded(_loader(text))
    except yaml.YAMLError:
        return _loaded(yaml.SafeLoader(text))  # slower, and says better where and what


def line_of(text: str, location: Sequence[int | str]) -> int | None:
    """The line, from 1, of what is written in a text at `repositories`, 0, `id`: of as much of it as is there. None
    where nothing of it is. Raises yaml.YAMLError."""
    loader = _loader(text)
    try:
        node = loader.get_single_node()
    finally:
        loader.dispose()
    line = None
    for part in location:
        found = _inside(node, part)
        if found is None:
            break
        line, node = found
    return line


def _loaded(loader: Any) -> Any:
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        _refuse_repeats(node)
        return loader.construct_document(node)
    finally:
        loader.dispose()


def _loader(text: str) -> Any:
    import yaml  # here, not above: who reads no such text does not wait for it

    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)


def _refuse_repeats(root: yaml.Node) -> None:
    import yaml

    waiting, seen = [root], {id(root)}  # an alias is the node it names
    while waiting:
        node = waiting.pop()
        lines: dict[tuple[str, str], int] = {}
        inner = []
        for entry in node.value if isinstance(node, (yaml.MappingNode, yaml.SequenceNode)) else ():
            key, value = entry if isinstance(entry, tuple) else (None, entry)
            inner.append(value)
            if isinstance(key, yaml.ScalarNode):
                name = key.tag, key.value  # `1` and `"1"` are two keys
                if name in lines:
                    problem = f"{key.value!r} is written twice, first in line {lines[name]}"
                    raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
                lines[name] = key.start_mark.line + 1
        new = [value for value in inner if id(value) not in seen]
        seen.update(map(id, new))
        waiting += reversed(new)  # so that the first in the file is found first


def _inside(node: yaml.Node, part: int | str) -> tuple[int, yaml.Node] | None:
    """(line, node) of what a mapping has under a key, or a list at a place."""
    import yaml

    if isinstance(node, yaml.MappingNode):
        return next(
            ((key.start_mark.line + 1, value) for key, value in node.value if key.value == str(part)),
            None,
        )
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        value = node.value[part]
        return value.start_mark.line + 1, value
    return None
