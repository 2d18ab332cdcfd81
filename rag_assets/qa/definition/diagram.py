"""A pipeline as a Mermaid flowchart: steps as boxes, transitions as arrows with their names. Pure."""

from __future__ import annotations

from rag_assets.qa.definition.steps import Pipeline, Step


def mermaid(pipeline: Pipeline) -> str:
    """The reachable steps in the order they are first reached; the entry is a stadium, the steps that choose are
    rhombs."""
    order = _order(pipeline)
    number = {name: f"s{at}" for at, name in enumerate(order)}
    lines = ["flowchart TD"]
    for name in order:
        step = pipeline.steps[name]
        lines.append(f"  {number[name]}{_shape(step, name == pipeline.entry.id)}")
    for name in order:
        lines += [
            f"  {number[name]} -->{'' if on == 'next' else f'|{on}|'} {number[target]}"
            for on, target in pipeline.steps[name].targets
        ]
    return "\n".join(lines)


def _order(pipeline: Pipeline) -> list[str]:
    order: dict[str, None] = {}
    waiting = [pipeline.entry.id]
    while waiting:
        name = waiting.pop(0)
        if name not in order:
            order[name] = None
            waiting += [target for _, target in pipeline.steps[name].targets]
    return list(order)


def _shape(step: Step, is_entry: bool) -> str:
    text = f'"{_quoted(step.id)}<br/><small>{_quoted(step.action)}</small>"'
    if is_entry:
        return f"([{text}])"
    return f"{{{text}}}" if step.transitions else f"[{text}]"


def _quoted(text: str) -> str:
    """Mermaid reads HTML entities in quotes."""
    return text.replace("&", "&amp;").replace('"', "#quot;").replace("<", "&lt;").replace(">", "&gt;")
