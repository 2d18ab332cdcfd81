"""Everything that a parser may do to its process; a format each, named by the ending of the file."""

from __future__ import annotations

import ctypes
import itertools
import os
import time
from collections.abc import Callable
from pathlib import Path

from rag_assets.contracts.description import DomainCatalog, ResourceDictionary
from rag_assets.contracts.kinds import SubtypeKind
from rag_assets.contracts.result import InvokeResult
from rag_assets.contracts.segment import SymbolText
from rag_assets.contracts.source_file import IndexFileContext
from rag_assets.descriptions.registry import DescriptionBuilderRegistry
from rag_assets.descriptions.symbol_description import SymbolDescription
from rag_assets.errors import RagAssetsError


def fine(data: bytes) -> str:
    return data.decode()


def aborts(data: bytes) -> str:
    os.abort()


def exits(data: bytes) -> str:
    os._exit(3)


def faults(data: bytes) -> str:
    return ctypes.string_at(0).decode()


def sleeps(data: bytes) -> str:
    time.sleep(3_600)
    return ""


def spins(data: bytes) -> str:
    """In C, where no signal handler of Python ever runs."""
    if "HOSTILE_SPINNING" in os.environ:
        Path(os.environ["HOSTILE_SPINNING"]).touch()
    return str(sum(itertools.repeat(1)))


def grows(data: bytes) -> str:
    taken = []
    while True:
        taken.append(bytearray(1 << 24))


def recurs(data: bytes) -> str:
    return recurs(data + b"x")


def raises(data: bytes) -> str:
    raise FileNotFoundError("a font")


def tells(data: bytes) -> str:
    raise ValueError(f"not understood: {data.decode()}")


def refuses(data: bytes) -> str:
    """An error that is not the fault of the file ends the build."""
    try:
        return tells(data)
    except ValueError as error:
        raise RagAssetsError(f"no text can be read: {data.decode()}") from error


def _cannot_read(_: bytes) -> str:
    raise OSError(Path(os.environ["HOSTILE_RAG_TEXT"]).read_text(encoding="utf-8"))


class EndingBuilder:
    """Ends its process at an enum whose name says how; describes nothing."""

    name = "ending"
    description = "Ends its process."

    def build(
        self,
        file_context: IndexFileContext,
        symbol_text: SymbolText,
        domain_catalog: DomainCatalog,
        resource_dictionary: ResourceDictionary,
    ) -> InvokeResult[SymbolDescription]:
        endings: dict[str, Callable[[bytes], str]] = {
            "Aborts": aborts,
            "Exits": exits,
            "Spins": spins,
            "Unreadable": _cannot_read,
        }
        if symbol_text.segment.name in endings:
            endings[symbol_text.segment.name](b"")
        return InvokeResult.create(None)


def register(registry: DescriptionBuilderRegistry) -> None:
    registry.register(EndingBuilder, SubtypeKind.ENUM)
