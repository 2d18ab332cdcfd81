"""Handlers of commands, queries, notifications and messages."""

from __future__ import annotations

from dataclasses import dataclass

from rag_assets.descriptions.kind_builder import Facts, Subject, TypeAwareBuilder
from rag_assets.descriptions.kinds.service_like import BehaviourDescription, behaviour_facts
from rag_assets.languages.csharp.messages.handled_messages import HandledMessage, handled_messages


@dataclass(kw_only=True)
class HandlerDescription(BehaviourDescription):
    """A handler of messages; several where a class handles several."""

    handled: tuple[HandledMessage, ...] = ()

    @property
    def subtype_flavor(self) -> str:
        """That of its messages where they agree (A10)."""
        flavors = {message.flavor.value for message in self.handled}
        return flavors.pop() if len(flavors) == 1 else ""

    def finder_facts(self) -> list[tuple[str, str]]:
        """Without the interfaces that only repeat the message."""
        said = {message.evidence for message in self.handled}
        kept = [(key, value) for key, value in super().finder_facts() if key != "ImplementsInterface"]
        others = ", ".join(name for name in self.interfaces_first() if name not in said)
        return [("Handles", self._handles()), ("ImplementsInterface", others), *kept]

    def kind_facts(self) -> list[tuple[str, str]]:
        return []

    def listed_facts(self) -> list[tuple[str, tuple[str, ...]]]:
        handled = (
            f"{m.flavor or 'Request'} {m.request}{f' → {m.response}' if m.response else ''}"
            f"{' (by convention)' if m.by_convention else ''}"
            for m in self.handled
        )
        return [("Handles", tuple(handled)), *super().listed_facts()]

    def _handles(self) -> str:
        return "; ".join(f"{m.request} → {m.response}" if m.response else m.request for m in self.handled)


class HandlerBuilder(TypeAwareBuilder):
    """Describes classes of kind Handler; the messages decide the flavor (A10)."""

    name = "handler"
    description = (
        "Handlers: message and answer from IRequestHandler<,>, INotificationHandler<>, IConsumer<> and their like, "
        "else by the convention of Handle, Consume and Invoke methods. The flavor is Command, Query, Notification, "
        "Message or Middleware."
    )
    describes = HandlerDescription

    def facts(self, subject: Subject) -> Facts:
        return behaviour_facts(subject.text, self.declared_types) | {"handled": handled_messages(subject.whole)}
