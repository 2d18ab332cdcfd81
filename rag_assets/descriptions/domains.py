"""The noun of the domain catalog: a business domain with its clusters and classes."""

from __future__ import annotations

from dataclasses import dataclass

from rag_assets.contracts.result import Message


@dataclass(frozen=True, slots=True, order=True)
class Cluster:
    """A named part of a domain."""

    key: str = ""
    name: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class Domain:
    """A business domain. `paths` and `namespaces` are globs; `*` in a namespace spans dots.

    `classes` are the fully qualified names of the models that name the domain, `declared_at` is `path:line` of the
    code that declares it; both are empty for a domain of the configuration.
    """

    key: str
    title: str
    tagline: str = ""
    description: str = ""
    paths: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()
    clusters: tuple[Cluster, ...] = ()
    classes: tuple[str, ...] = ()
    declared_at: str = ""


def collision(kept: Domain, refused: Domain) -> Message:
    """Two domains under one key: reported, never merged silently (domain reference §4)."""
    text = (
        f"domain key {kept.key!r} is declared twice: {kept.title!r} ({kept.declared_at or 'configuration'}) is used, "
        f"{refused.title!r} ({refused.declared_at or 'configuration'}) is not; rename one of them"
    )
    return Message("DOMAIN.collision", text)


def first_sentence(text: str) -> str:
    """The tagline that a description offers."""
    head, dot, _ = text.partition(". ")
    return head + "." if dot else text
