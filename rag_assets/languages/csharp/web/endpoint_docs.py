"""What a documentation comment says of an endpoint: its summary, its parameters, its responses."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from rag_assets.identifiers import identifier_words
from rag_assets.languages.doc_summaries import first_paragraph

_RESPONSE_TAG = re.compile(r"<response\b([^<>]*)>(.*?)(?:</response>|(?=<response\b)|\Z)", re.DOTALL)
_RESPONSE_LINE = re.compile(r"^response (\d{3}): *(.*)$", re.MULTILINE)
_CODE = re.compile(r"""\bcode\s*=\s*["'](\d{3})["']""")
_PARAMETER_LINE = re.compile(r"^param ([^:\n]+): *(.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ActionDoc:
    """`text` is the documentation without the response tags, `summary` its first paragraph on one line."""

    summary: str = ""
    text: str = ""
    parameters: dict[str, str] = field(default_factory=dict)
    responses: dict[int, str] = field(default_factory=dict)


_NOTHING = ActionDoc()


def action_doc(doc: str) -> ActionDoc:
    """The parts of the plain text of a documentation comment."""
    if not doc:
        return _NOTHING
    responses = {int(code): text for code, text in _RESPONSE_LINE.findall(doc)}
    text = doc
    if "<response" in doc:
        for attributes, content in _RESPONSE_TAG.findall(doc):
            code = _CODE.search(attributes)
            if code:
                responses.setdefault(int(code[1]), " ".join(content.split()))
        text = _RESPONSE_TAG.sub("", doc)
    text = "\n".join(line.rstrip() for line in _RESPONSE_LINE.sub("", text).splitlines()).strip()
    parameters = {name.strip(): value.strip() for name, value in _PARAMETER_LINE.findall(text)}
    return ActionDoc(first_paragraph(text), text, parameters, responses)


def words_of(name: str) -> str:
    """A name as words: `GetByNumberAsync` → `get by number`."""
    return " ".join(identifier_words(name.removesuffix("Async") or name)).lower()
