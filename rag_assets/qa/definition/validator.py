"""From merged settings and steps to a pipeline that can run (D33): every problem at once, each with file and line.

`extends` is an exact merge with the parent (D30–D32, R10). What is checked makes a run end: every outcome of every step
leads somewhere, and every way back passes a guard that lets through a bounded number of times.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rag_assets.graph.relations import UnknownRelation, allow_list, named_relation
from rag_assets.qa.definition.action_registry import Action, ActionRegistry
from rag_assets.qa.definition.steps import (
    Pipeline,
    PipelineSettings,
    SettingLayer,
    SettingOrigin,
    Step,
    Transition,
    reached,
)
from rag_assets.qa.errors import PipelineError
from rag_assets.qa.prompts import Prompt, find_prompt, prompt_names
from rag_assets.settings.yaml_loader import InvalidFileError, Mark, Node, Problem, load_struct
from rag_assets.suggestions import nearest


@dataclass(frozen=True, slots=True)
class RawPipeline:
    """One pipeline as its file has it; `steps` by id."""

    name: str
    extends: str
    settings: Mapping[str, Node]
    steps: Mapping[str, Node]
    root: Node


def merged(lineage: Iterable[RawPipeline]) -> tuple[dict[str, Node], dict[str, Node]]:
    """(settings, steps) of pipelines from the root to the child: settings deep-merged, steps of one id replaced."""
    settings: dict[str, Node] = {}
    steps: dict[str, Node] = {}
    for written in lineage:
        settings = merged_settings(settings, written.settings)
        steps = steps | dict(written.steps)
    return settings, steps


def merged_settings(parent: Mapping[str, Node], child: Mapping[str, Node]) -> dict[str, Node]:
    """Keys of both; where both have one, mappings are merged and everything else is the child's (D30)."""
    made = dict(parent)
    for key, entry in child.items():
        before = made.get(key)
        if before is not None and before.is_mapping and entry.is_mapping:
            entry = Node(merged_settings(before.value, entry.value), entry.mark)
        made[key] = entry
    return made


_NEXT = "next"
_TRANSITIONS = {on.value: on for on in Transition}


def checked(
    lineage: Sequence[RawPipeline],
    files: tuple[str, ...],
    settings: Mapping[str, Node],
    steps: Mapping[str, Node],
    prompt_folders: Sequence[Any],
    registry: ActionRegistry,
) -> Pipeline:
    """Raises PipelineError with all problems."""
    child = lineage[-1]
    problems: list[Problem] = []
    read = load_struct(PipelineSettings, Node(dict(settings), child.root.mark), "settings", problems)
    _check_relations(settings.get("graph_edge_allowlist"), problems)
    _check_modes(read, settings, problems)
    _check_labels(read, settings, problems)
    made = {name: _step(name, entry, registry, problems) for name, entry in steps.items()}
    known = {name: step for name, step in made.items() if step is not None}
    _check_targets(known, steps, problems)
    entry = settings.get("entry_step_id")
    if entry is not None and isinstance(entry.value, str) and entry.value not in steps:
        problems.append(Problem(entry.mark, f"settings: no step {entry.value!r}{nearest(entry.value, steps)}"))
    prompts = _prompts(known, steps, registry, prompt_folders, problems)
    if problems or read is None:
        raise PipelineError(problems)
    seen, own = reached(read.entry_step_id, known), set(child.steps)
    _check_loops(read.entry_step_id, known, registry)
    return Pipeline(
        name=child.name,
        lineage=tuple(written.name for written in lineage),
        files=files,
        settings=read,
        walk=allow_list(read.graph_edge_allowlist),
        steps=known,
        prompts=prompts,
        warnings=tuple(
            f"{known[name].mark}: step {name!r} is never reached" for name in known if name in own and name not in seen
        ),
        unused=tuple(sorted(name for name in known if name not in own and name not in seen)),
        origins={name: SettingOrigin(SettingLayer.PIPELINE, str(entry.mark)) for name, entry in settings.items()},
    )


def _check_relations(entry: Node | None, problems: list[Problem]) -> None:
    """Each name of the allow-list at its own line (R27)."""
    for item in entry.value if entry is not None and entry.is_list else ():
        if isinstance(item.value, str):
            try:
                named_relation(item.value)
            except UnknownRelation as error:
                problems.append(Problem(item.mark, f"settings: graph_edge_allowlist: {error}"))


def _check_modes(read: PipelineSettings | None, settings: Mapping[str, Node], problems: list[Problem]) -> None:
    if read is not None and read.default_mode not in read.retrieval_modes:
        at = settings.get("default_mode") or settings["retrieval_modes"]
        modes = ", ".join(read.retrieval_modes)
        text = f"settings: default_mode {read.default_mode.value} is not one of retrieval_modes: {modes}"
        problems.append(Problem(at.mark, text))


def _check_labels(read: PipelineSettings | None, settings: Mapping[str, Node], problems: list[Problem]) -> None:
    """A ref alone needs the repository that it is of."""
    for key in ("active_index", "compare_index"):
        written = getattr(read, key) if read is not None else ""
        if read is not None and written and "@" not in written and not read.repository:
            text = (
                f"settings: {key} {written!r} is no index label (repository@ref); name the repository in `repository`"
            )
            problems.append(Problem(settings[key].mark, text))


def _step(name: str, entry: Node, registry: ActionRegistry, problems: list[Problem]) -> Step | None:
    what = f"step {name!r}"
    parts: dict[str, Node] = entry.value
    named = parts.get("action")
    if named is None:
        problems.append(Problem(entry.mark, f"{what}: 'action' is missing"))
        return None
    action = registry.get(named.value) if isinstance(named.value, str) else None
    if action is None:
        problems.append(
            Problem(named.mark, f"{what}: unknown action {named.value!r}{registry.nearest(str(named.value))}")
        )
        return None
    transitions, own = _transitions(what, parts, action, problems)
    parameters = load_struct(action.parameters, Node(own, entry.mark), f"{what} ({action.name})", problems)
    following = parts.get(_NEXT)
    if following is not None and not isinstance(following.value, str):
        problems.append(Problem(following.mark, f"{what}: next must be the id of a step"))
        following = None
    if parameters is None:
        return None
    target = following.value if following is not None else ""
    step = Step(name, action.name, parameters, target, {on: at.value for on, at in transitions.items()}, entry.mark)
    _check_outcomes(what, step, action, transitions, problems)
    return step


def _transitions(
    what: str, parts: Mapping[str, Node], action: Action, problems: list[Problem]
) -> tuple[dict[Transition, Node], dict[str, Node]]:
    """(the conditional transitions of a step, the parameters of its action)."""
    transitions, own = {}, {}
    for key, entry in parts.items():
        if key in _TRANSITIONS:
            if isinstance(entry.value, str):
                transitions[_TRANSITIONS[key]] = entry
            else:
                problems.append(Problem(entry.mark, f"{what}: {key} must be the id of a step"))
        elif key.startswith("on_"):
            problems.append(Problem(entry.mark, f"{what}: unknown transition {key!r}{nearest(key, _TRANSITIONS)}"))
        elif key not in ("id", "action", _NEXT):
            own[key] = entry
    return transitions, own


def _check_outcomes(
    what: str, step: Step, action: Action, transitions: Mapping[Transition, Node], problems: list[Problem]
) -> None:
    """`next`, or a target for every outcome (D27)."""
    outcomes = action.outcomes_with(step.parameters)
    if step.next and transitions:
        problems.append(Problem(step.mark, f"{what} has both `next` and conditional transitions; choose one way"))
        return
    for on, entry in transitions.items():
        if on not in outcomes and on is not Transition.OTHER:
            ways = ", ".join(outcomes)
            problems.append(Problem(entry.mark, f"{what}: {action.name} never ends with {on.value}; it can: {ways}"))
    if action.ends and not step.next and not transitions:
        return
    if len(outcomes) > 1 and step.next:
        ways = ", ".join(outcomes)
        problems.append(Problem(step.mark, f"{what}: {action.name} can end with {ways}; name a step for each"))
    elif not step.next:
        missing = [on.value for on in outcomes if not step.target(on)]
        if missing:
            known = "`next`" if len(outcomes) == 1 else f"{', '.join(missing)}, or on_other for all the rest"
            problems.append(Problem(step.mark, f"{what} leads nowhere; add {known}"))


def _check_targets(known: Mapping[str, Step], steps: Mapping[str, Node], problems: list[Problem]) -> None:
    for step in known.values():
        for key, target in step.targets:
            if target not in steps:
                at = steps[step.id].value[key].mark
                problems.append(Problem(at, f"step {step.id!r}: {key}: no step {target!r}{nearest(target, steps)}"))


def _prompts(
    known: Mapping[str, Step],
    steps: Mapping[str, Node],
    registry: ActionRegistry,
    folders: Sequence[Any],
    problems: list[Problem],
) -> dict[str, Prompt]:
    """Every prompt that a step names."""
    found: dict[str, Prompt] = {}
    for step in known.values():
        for parameter, name in registry[step.action].prompts(step.parameters):
            if name in found:
                continue
            written = steps[step.id].value.get(parameter)
            mark: Mark = step.mark if written is None else written.mark
            try:
                prompt = find_prompt(name, folders)
            except InvalidFileError as error:
                problems += error.problems
                continue
            if prompt is None:
                hint = nearest(name, prompt_names(folders))
                problems.append(Problem(mark, f"step {step.id!r}: no prompt {name!r}{hint}"))
            else:
                found[name] = prompt
    return found


def _check_loops(entry: str, steps: Mapping[str, Step], registry: ActionRegistry) -> None:
    """Raises PipelineError for a way back that no guard bounds."""
    done: set[str] = set()
    path: list[str] = []
    waiting: list[tuple[str, bool]] = [(entry, False)]
    while waiting:
        name, leaving = waiting.pop()
        if leaving:
            done.add(path.pop())
            continue
        if name in path:
            circle = " → ".join([*path[path.index(name) :], name])
            text = f"steps in a circle without loop_guard: {circle}; only its on_allow may lead back"
            raise PipelineError([Problem(steps[name].mark, text)])
        if name in done:
            continue
        path.append(name)
        waiting.append((name, True))
        guards = registry[steps[name].action].guards_loops
        waiting += [(to, False) for key, to in steps[name].targets if not (guards and key == Transition.ALLOW.value)]
