"""Pipelines by name: files in packs (folders), `extends` resolved from the root to the child, everything checked.

A pack is a folder of YAML files; prompts of its pipelines are in its folder `prompts`. Names are looked for in the pack
of the file that asks, then in the packs that a caller names, those of the configuration, the folder beside it, and
those that come with rag_assets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

from rag_assets.qa.actions import BUILT_IN
from rag_assets.qa.definition.action_registry import ENTRY_POINT_GROUP, ActionRegistry
from rag_assets.qa.definition.steps import Pipeline
from rag_assets.qa.definition.validator import RawPipeline, checked, merged
from rag_assets.qa.errors import PipelineError, UnknownPipeline
from rag_assets.qa.prompts import PROMPT_FOLDER, PROMPT_SUFFIX
from rag_assets.settings.config_file import ConfigError, is_configured
from rag_assets.settings.yaml_loader import InvalidFileError, Node, Problem, read_yaml, under_key
from rag_assets.suggestions import nearest

SUFFIXES = (".yaml", ".yml")
SHIPPED = resources.files("rag_assets.qa") / "pipelines"
SHIPPED_MARK = "rag_assets:"
"""Before the names of files that come with the package."""

ROOT = "pipeline"
_KEYS = ("name", "extends", "settings", "steps")


@dataclass(frozen=True, slots=True)
class _File:
    """One pipeline with where it is from."""

    written: RawPipeline
    folder: Any  # a Path or a folder of package resources
    shown: str


class PipelineLibrary:
    """The pipelines of some packs and those that come with rag_assets. Files are read when they are asked for."""

    def __init__(self, packs: Sequence[Path] = (), registry: ActionRegistry | None = None) -> None:
        self.packs = tuple(packs)
        self._packs: tuple[Any, ...] = (*packs, SHIPPED)
        self._registry = registry

    def names(self) -> dict[str, str]:
        """name → file, sorted; where a name is used in several packs, that of the first. Files that are no pipelines,
        or not readable as one, are left out."""
        found: dict[str, str] = {}
        for pack in self._packs:
            for file in _pipelines(pack, []):
                found.setdefault(file.written.name, file.shown)
        return dict(sorted(found.items()))

    def load(self, name: str | Path) -> Pipeline:
        """The checked pipeline of a name, or of a file where `name` is a path or ends like one.

        Raises UnknownPipeline, or PipelineError with every problem, its file and line.
        """
        if isinstance(name, Path) or name.endswith(SUFFIXES):
            path = Path(name)
            child = _read(path, path.parent, str(path))
        else:
            found = self._find(name, None)
            if found is None:
                raise UnknownPipeline(f"no pipeline {name!r}{nearest(name, self.names())}{self._unreadable()}")
            child = found
        lineage = self._lineage(child)
        settings, steps = merged([file.written for file in lineage])
        folders = list(dict.fromkeys([*(file.folder for file in reversed(lineage)), SHIPPED]))
        return checked(
            [file.written for file in lineage],
            tuple(file.shown for file in lineage),
            settings,
            steps,
            [folder / PROMPT_FOLDER for folder in folders],
            default_registry() if self._registry is None else self._registry,
        )

    def stamp(self, name: str) -> tuple[object, ...]:
        """What changes with the files that a pipeline of this name may be made of; what comes with rag_assets does
        not change."""
        folders = dict.fromkeys([*self.packs, *([Path(name).parent] if name.endswith(SUFFIXES) else [])])
        files = sorted(
            file
            for folder in folders
            for pattern in (*(f"*{suffix}" for suffix in SUFFIXES), f"{PROMPT_FOLDER}/*{PROMPT_SUFFIX}")
            for file in folder.glob(pattern)
        )
        stats = [(file, file.stat()) for file in files]
        return tuple((str(file), found.st_mtime_ns, found.st_size) for file, found in stats)

    def _lineage(self, child: _File) -> list[_File]:
        """From the root to the child (D32). Raises PipelineError for a parent that is not there and for a circle."""
        chain = [child]
        while chain[-1].written.extends:
            last = chain[-1]
            entry = last.written.root.value["extends"]
            parent = self._find(last.written.extends, last.folder)
            if parent is None:
                hint = nearest(last.written.extends, self.names())
                text = f"extends {last.written.extends!r}, which is in no pack{hint}{self._unreadable(last.folder)}"
                raise PipelineError([Problem(entry.mark, text)])
            if any((parent.shown, parent.written.name) == (known.shown, known.written.name) for known in chain):
                circle = " → ".join([*(file.written.name for file in chain), parent.written.name])
                raise PipelineError([Problem(entry.mark, f"extends in a circle: {circle}")])
            chain.append(parent)
        return chain[::-1]

    def _find(self, name: str, near: Any) -> _File | None:
        packs = self._packs if near is None else tuple(dict.fromkeys((near, *self._packs)))
        for pack in packs:
            if pack is SHIPPED:
                return _shipped(name)
            found = [file for file in _pipelines(pack, []) if file.written.name == name]
            if len(found) > 1:
                marks = [file.written.root.mark for file in found]
                raise PipelineError([Problem(marks[1], f"pipeline {name!r} is also in {marks[0]}; rename one of them")])
            if found:
                return found[0]
        return None

    def _unreadable(self, near: Any = None) -> str:
        """What was not looked at, because it is no usable file."""
        problems: list[Problem] = []
        for pack in self._packs if near is None else dict.fromkeys((near, *self._packs)):
            list(_pipelines(pack, problems))
        return "".join(f"\n{problem}" for problem in problems)


@cache
def _shipped(name: str) -> _File | None:
    """One that comes with rag_assets: it is in the file of its name, so the others need not be read."""
    file = SHIPPED / f"{name}{SUFFIXES[0]}"
    if not name.isidentifier() or not file.is_file():
        return None
    shown = f"{SHIPPED_MARK}{file.name}"
    return _read(file, SHIPPED, shown)


def _pipelines(pack: Any, problems: list[Problem]) -> Iterator[_File]:
    """The pipelines of one pack by file name. A YAML file without the root `pipeline` is something else; what is wrong
    with one that has it goes to `problems`."""
    if not pack.is_dir():
        return
    for file in sorted(pack.iterdir(), key=lambda file: str(file.name)):
        if not file.name.endswith(SUFFIXES) or not file.is_file():
            continue
        shown = str(file) if isinstance(file, Path) else f"{SHIPPED_MARK}{file.name}"
        try:
            document = read_yaml(file, shown, anchors=False)
            if document.is_mapping and ROOT in document.value:
                yield _File(_written(document), pack, shown)
        except InvalidFileError as error:
            problems += error.problems


def _read(file: Any, folder: Any, shown: str) -> _File:
    """Raises PipelineError."""
    try:
        return _File(_written(read_yaml(file, shown, anchors=False)), folder, shown)
    except InvalidFileError as error:
        raise PipelineError(error.problems) from error


def _written(document: Node) -> RawPipeline:
    """The parts of a file (D29). Raises InvalidFileError."""
    problems: list[Problem] = []
    root = under_key(document, ROOT, problems)
    if not root.is_mapping:
        raise PipelineError([Problem(root.mark, f"`pipeline` must have keys: {', '.join(_KEYS)}"), *problems])
    parts: dict[str, Node] = root.value
    problems += [
        Problem(part.mark, f"pipeline: unknown key {name!r}{nearest(name, _KEYS)}")
        for name, part in parts.items()
        if name not in _KEYS
    ]
    if "name" not in parts:
        problems.append(Problem(root.mark, "pipeline: 'name' is missing"))
    for key in ("name", "extends"):
        part = parts.get(key)
        if part is not None and not (isinstance(part.value, str) and part.value.strip()):
            problems.append(Problem(part.mark, f"pipeline: {key} must be a name"))
    settings, steps = parts.get("settings"), parts.get("steps")
    if settings is not None and settings.value is not None and not settings.is_mapping:
        problems.append(Problem(settings.mark, "pipeline: settings must be keys with values"))
    listed = _steps(steps, problems) if steps is not None and steps.value is not None else {}
    if problems:
        raise InvalidFileError(problems)
    return RawPipeline(
        name=parts["name"].value,
        extends=parts["extends"].value if "extends" in parts else "",
        settings=(settings.value or {}) if settings is not None else {},
        steps=listed,
        root=root,
    )


def _steps(entry: Node, problems: list[Problem]) -> dict[str, Node]:
    """The steps of one file by id."""
    if not entry.is_list:
        problems.append(Problem(entry.mark, "pipeline: steps must be a list, each with an id and an action"))
        return {}
    found: dict[str, Node] = {}
    for step in entry.value:
        name = step.value.get("id") if step.is_mapping else None
        if name is None or not isinstance(name.value, str) or not name.value.strip():
            problems.append(Problem(step.mark, "a step needs an id, which is text"))
        elif name.value in found:
            first = found[name.value].mark.line
            problems.append(Problem(name.mark, f"step {name.value!r} is defined twice, first in line {first}"))
        else:
            found[name.value] = step
    return found


PACK_FOLDER = "pipelines"
"""Beside the configuration file: the pack that needs no setting."""


def library_of(config: Path | None, packs: Sequence[Path] = ()) -> PipelineLibrary:
    """All pipelines there are, in the order in which a name is looked for. Raises ConfigError for a pack that is no
    folder."""
    for pack in packs:
        if not pack.is_dir():
            raise ConfigError(f"{pack} is no folder of pipelines")
    own = config.parent / PACK_FOLDER if config is not None else None
    return PipelineLibrary([*packs, *_configured(config), *([own] if own is not None and own.is_dir() else ())])


def _configured(config: Path | None) -> tuple[Path, ...]:
    if not is_configured("packs", config):
        return ()
    from rag_assets.settings import load_settings

    found = load_settings(config).packs
    for pack in found:
        if not pack.is_dir():
            raise ConfigError(f"{config or 'environment'}: packs: {pack} is no folder of pipelines")
    return found


@cache
def default_registry() -> ActionRegistry:
    """The built-in actions and those of installed packages."""

    def installed() -> Iterable[EntryPoint]:
        from rag_assets.entry_points import offered  # few pipelines have a step of a package

        return offered(ENTRY_POINT_GROUP)

    return ActionRegistry(BUILT_IN, installed=installed)
