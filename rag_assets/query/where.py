"""Where to look for an answer: what the caller allows, besides the filters in the question itself (E08)."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datetime import date


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Arguments of `Searchable.search`, which says what they mean. They hold for every search of a turn. `literal`: the
    question has no filters, its words are words."""

    path: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    source_types: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    since: str | date | None = None
    before: str | date | None = None
    literal: bool = False

    @property
    def is_everywhere(self) -> bool:
        return not any(self.filters.values())

    @property
    def filters(self) -> dict[str, Any]:
        """All but `literal`, by name."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name != "literal"}


EVERYWHERE = Where()
