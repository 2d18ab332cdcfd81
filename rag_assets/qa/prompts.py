"""Prompts: text files with a system and a user part, and names in braces that are filled once.

What comes from people, models or repositories is fenced as data (`markers.fenced`); what the program says itself is
written as it is. A filled text is never filled again, so a question that has `{evidence}` in it stays one.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag_assets.contracts.llm import ChatMessage
from rag_assets.contracts.protocol_markers import fenced
from rag_assets.qa.errors import PipelineError
from rag_assets.settings.yaml_loader import Mark, Problem
from rag_assets.suggestions import nearest

PROMPT_SUFFIX = ".md"
PROMPT_FOLDER = "prompts"

DATA = frozenset(
    {"question", "original_question", "history", "evidence", "compared_evidence", "text", "request", "draft"}
)
"""Untrusted: always fenced."""

FACTS = frozenset(
    {"modes", "language", "repository", "label", "compared_label", "limit", "persona", "artifact", "sections"}
)
"""Of the settings and the program."""

_NAME = re.compile(r"\{([a-z_]+)\}")
_PARTS = re.compile(r"^# (system|user)[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Prompt:
    """`digest` is of the text as it is written: part of the lock of a turn."""

    name: str
    system: str
    user: str
    digest: str

    @property
    def names(self) -> frozenset[str]:
        """The names in braces."""
        return frozenset(_NAME.findall(self.system)) | frozenset(_NAME.findall(self.user))

    def messages(self, values: Mapping[str, str]) -> tuple[ChatMessage, ...]:
        """Both parts, filled. A name without a value stays empty: there is no history in a first turn."""
        return ChatMessage("system", _filled(self.system, values)), ChatMessage("user", _filled(self.user, values))


def parse_prompt(name: str, text: str, file: str) -> Prompt:
    """Raises PipelineError for a part that is missing or a name that nothing fills."""
    text = text.replace("\r\n", "\n")
    pieces = _PARTS.split(text)
    parts = dict(zip(pieces[1::2], (piece.strip() for piece in pieces[2::2]), strict=True))
    problems = []
    if pieces[0].strip() or len(pieces) != 5 or not parts.get("system") or not parts.get("user"):
        problems.append(
            Problem(
                Mark(file, 1), "a prompt has two parts that are not empty, each below its line: `# system`, `# user`"
            )
        )
    known = sorted(DATA | FACTS)
    for number, line in enumerate(text.split("\n"), 1):
        problems += [
            Problem(Mark(file, number), f"nothing fills {{{name}}}{nearest(name, known)}")
            for name in _NAME.findall(line)
            if name not in known
        ]
    if problems:
        raise PipelineError(problems)
    return Prompt(name, parts["system"], parts["user"], hashlib.sha256(text.encode()).hexdigest()[:16])


def find_prompt(name: str, folders: Sequence[Any]) -> Prompt | None:
    """The prompt of that name in the first folder that has it; None where none has. Folders are paths or package
    resources. Raises PipelineError for one that cannot be used."""
    for folder in folders:
        file = folder / f"{name}{PROMPT_SUFFIX}"
        if file.is_file():
            try:
                return parse_prompt(name, file.read_text(encoding="utf-8"), _shown(file))
            except (OSError, UnicodeDecodeError) as error:
                raise PipelineError([Problem(Mark(_shown(file), 1), f"cannot be read: {error}")]) from error
    return None


def prompt_names(folders: Sequence[Any]) -> list[str]:
    """All names in these folders, sorted."""
    found = {
        file.name.removesuffix(PROMPT_SUFFIX)
        for folder in folders
        if folder.is_dir()
        for file in folder.iterdir()
        if file.name.endswith(PROMPT_SUFFIX)
    }
    return sorted(found)


def _shown(file: Any) -> str:
    return str(file) if isinstance(file, Path) else file.name


def _filled(template: str, values: Mapping[str, str]) -> str:
    return _NAME.sub(lambda found: _value(found[1], values), template)


def _value(name: str, values: Mapping[str, str]) -> str:
    value = values.get(name, "")
    return fenced(name.replace("_", "-"), value) if name in DATA and value else value
