"""The kind of a segment (SubtypeKind, open to kinds of rule packs) and the content type of a point (B01)."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import TypeAlias


class SubtypeKind(StrEnum):
    """The role of a segment. `rag_assets.classification` detects it once, before builders run (A09).

    These are the built-in kinds. A rule pack may declare more, as plain strings of the same form (A44). Annotate
    with `Kind` what accepts any of them.
    """

    DOMAIN_DESCRIPTION = "DomainDescription"
    MODEL = "Model"
    SUMMARY_LIST_MODEL = "SummaryListModel"
    MANAGER = "Manager"
    REPOSITORY = "Repository"
    CONTROLLER = "Controller"
    SERVICE = "Service"
    TEST = "Test"
    INTERFACE = "Interface"
    STARTUP = "Startup"
    PROGRAM = "Program"
    CLIENT = "Client"
    CONFIGURATION = "Configuration"
    HANDLER = "Handler"
    RESOURCE_FILE = "ResourceFile"
    CODE_ATTRIBUTE = "CodeAttribute"
    EXCEPTION = "Exception"
    EXTENSION_METHODS = "ExtensionMethods"
    REQUEST = "Request"
    RESULT = "Result"
    RESPONSE = "Response"
    PROXY_SERVICES = "ProxyServices"
    MESSAGE = "Message"
    ENUM = "Enum"
    EF_DATA_CONTEXT = "EfDataContext"
    DDR = "Ddr"
    MARKDOWN = "Markdown"
    SQL_OBJECT = "SqlObject"
    DOCUMENT = "Document"
    TRANSCRIPT = "Transcript"
    OTHER = "Other"


Kind: TypeAlias = str
"""The name of a kind: a `SubtypeKind`, or a kind that a selected rule pack declares."""

_KIND_NAME = re.compile(r"[A-Z][A-Za-z0-9]*")
"""Kinds become section keys, ids and graph texts, so they must look like the built-in ones."""


_BUILT_IN: dict[str, Kind] = {kind.lower(): kind for kind in SubtypeKind}


def checked_kind(name: str) -> Kind:
    """The kind of that name, as a SubtypeKind if it is built in. Raises ValueError for a text that cannot name one."""
    if not _KIND_NAME.fullmatch(name):
        raise ValueError(f"{name!r} cannot name a kind; kinds look like {SubtypeKind.SERVICE.value!r}")
    try:
        return SubtypeKind(name)
    except ValueError:
        return name


def known_kind(name: str, declared: Iterable[Kind] = ()) -> Kind:
    """The spelling of a kind typed in any case, built in or `declared`. Raises ValueError naming the nearest."""
    found = _BUILT_IN.get(name.lower())
    if found is not None:
        return found
    known = dict(_BUILT_IN)
    for kind in declared:
        known.setdefault(kind.lower(), kind)
    found = known.get(name.lower())
    if found is None:
        near = difflib.get_close_matches(name.lower(), known, n=1)
        hint = f"did you mean {known[near[0]]}?" if near else f"valid: {', '.join(known.values())}"
        raise ValueError(f"unknown kind {name!r}; {hint}")
    return found


class RagContentType(IntEnum):
    """IDX-025 §2.1 (B01). Persisted as `ContentTypeId`, the name as `ContentType`."""

    UNKNOWN = 0
    DOMAIN_DOCUMENT = 1
    SOURCE_CODE = 2
    POLICY = 3
    PROCEDURE = 4
    REFERENCE = 5
    CONFIGURATION = 6
    INFRASTRUCTURE = 7
    SCHEMA = 8
    API_CONTRACT = 9
    SPEC = 10

    @property
    def label(self) -> str:
        """The seed's spelling, `SourceCode` for `SOURCE_CODE`."""
        return self.name.title().replace("_", "")

    @classmethod
    def named(cls, written: str) -> RagContentType | None:
        """`ApiContract`, `api contract` and `api_contract`; None for another name and for UNKNOWN."""
        wanted = re.sub(r"[\s_-]", "", written).lower()
        return next((known for known in cls if known and known.label.lower() == wanted), None)


@dataclass(frozen=True, slots=True)
class Classification:
    """A kind with the evidence that decided it, so that a wrong kind can be explained."""

    kind: Kind
    reason: str
    evidence: tuple[str, ...] = ()
    rule: str = ""
    pack: str = ""
