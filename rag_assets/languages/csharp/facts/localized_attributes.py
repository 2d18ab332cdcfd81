"""Texts that attributes name: literals, and keys of resource classes resolved through the resource dictionary."""

from __future__ import annotations

from dataclasses import dataclass, field

from rag_assets.contracts.description import ResourceDictionary
from rag_assets.contracts.result import Message
from rag_assets.languages.csharp.facts.expressions import dotted_name, literal

NO_TEXT = frozenset({"RESX.unknown-class", "RESX.missing-key", "RESX.not-text"})
"""Warnings of the resource dictionary that say it has no text."""

_KEYS_CLASS = "Names"
"""The nested class of key constants that generated resource classes have: `Texts.Names.Title`. [L]"""


@dataclass(slots=True)
class LocalizedAttributes:
    """Resolves the texts of one segment and keeps what it had to warn of; `unresolved` are the keys that stand for
    themselves. `near` is the path of the file."""

    resources: ResourceDictionary
    near: str
    warnings: list[Message] = field(default_factory=list)
    unresolved: set[str] = field(default_factory=set)

    def text(self, expression: str, resource_type: str = "", place: str = "") -> str:
        """The text that an attribute argument stands for.

        A literal is itself, or a key when a `resource_type` (`typeof(Texts)`) is given. `Texts.Names.Title`,
        `Texts.Title` and `nameof(Texts.Title)` name their class. An unresolved key stands for itself, with a warning
        that names the `place`; so does what is only known by running the code, as written. A key whose own class has
        it, where the given one has not, is a mistake of the code: resolved, and reported.
        """
        if not expression or expression == "null":
            return ""
        written = literal(expression)
        resource_class = type_argument(resource_type)
        if written is not None:
            return self._resolved(resource_class, written, place) if resource_class and written else written
        parts = dotted_name(expression)
        if not parts:
            return expression
        key, *owner = reversed(parts)
        owner = [part for part in owner if part != _KEYS_CLASS]
        own = ".".join(reversed(owner))
        if resource_class and own and not self._has(resource_class, key) and self._has(own, key):
            self._warn("RESX.wrong-class", f"{resource_class} has no key {key}, {own} has; the key names {own}", place)
            resource_class = own
        return self._resolved(resource_class or own, key, place) if resource_class or own else key

    def _has(self, resource_class: str, key: str) -> bool:
        found = self.resources.resolve(resource_class, key, near=self.near)
        return not any(warning.code in NO_TEXT for warning in found.warnings)

    def _warn(self, code: str, text: str, place: str) -> None:
        self.warnings.append(Message(code, f"{place}: {text}" if place else text))

    def _resolved(self, resource_class: str, key: str, place: str) -> str:
        found = self.resources.resolve(resource_class, key, near=self.near)
        for warning in found.warnings:
            self._warn(warning.code, warning.text, place)
        if any(warning.code in NO_TEXT for warning in found.warnings):
            self.unresolved.add(key)
        return found.value or key

    def first_known(self, *candidates: str) -> str:
        """The first text that is one, no key that was not found; '' without any."""
        return next((text for text in candidates if text and text not in self.unresolved), "")


def type_argument(expression: str) -> str:
    """The type that `typeof(Texts)` or `(typeof(Ns.Texts))` names, dotted as written; '' for anything else."""
    text = expression.strip()
    while text.startswith("(") and text.endswith(")"):
        text = text[1:-1].strip()
    return ".".join(dotted_name(text)) if text.startswith("typeof") else ""
