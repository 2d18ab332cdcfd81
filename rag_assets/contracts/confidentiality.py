"""How confidential indexed text is, and who may see it (E08, E12)."""

from __future__ import annotations

from enum import StrEnum


class Confidentiality(StrEnum):
    """The levels, least confidential first. Payloads hold them as `Confidentiality`."""

    PUBLIC = "public"
    INTERNAL = "internal"
    CONFIDENTIAL = "confidential"
    RESTRICTED = "restricted"


DEFAULT_LEVEL = Confidentiality.INTERNAL
"""The level of unclassified files, and the clearance of a reader without a role."""

_ORDER = tuple(Confidentiality)


def levels_up_to(clearance: Confidentiality) -> tuple[Confidentiality, ...]:
    """The levels that a reader with this clearance may see."""
    return _ORDER[: _ORDER.index(clearance) + 1]


def may_see(clearance: Confidentiality, level: Confidentiality) -> bool:
    return _ORDER.index(level) <= _ORDER.index(clearance)


def most_confidential(levels: list[Confidentiality]) -> Confidentiality:
    """The highest of `levels`, which must not be empty."""
    return max(levels, key=_ORDER.index)


def known_level(name: str) -> Confidentiality:
    """The level of that name, in any letter case. Raises ValueError naming the valid levels."""
    try:
        return Confidentiality(name.strip().lower())
    except ValueError:
        raise ValueError(f"unknown confidentiality {name!r}; valid: {', '.join(Confidentiality)}") from None
