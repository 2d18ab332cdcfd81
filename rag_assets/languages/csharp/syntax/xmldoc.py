"""Documentation comments as plain text: the summary first, then one line per other tag.

A tolerant tag scanner, not an XML parser: broken documentation is common and its words are still wanted. Nothing
is fetched or expanded; the cost is linear.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from rag_assets.contracts.segment import first_paragraph

_TAG = re.compile(r"<(/?+)([A-Za-z]\w*+)\b([^<>]*+)>|<!\[CDATA\[|\]\]>|<!--|-->")
_EMPTY_REFERENCE = re.compile(r'<(?:see|paramref|typeparamref)\s++(?:cref|name|langword)="([^"<>{}]*+)"\s*+/>')
_WHOLE_SECTION = re.compile(
    r"""\s*+<(summary|param|typeparam|returns|value|remarks|exception)(?:\s++(name|cref)="([^"<>{}]*+)"\s*+)?>"""
    r"""([^<]*+)</\1>\s*+"""
)
_ATTRIBUTE = re.compile(r"""([A-Za-z]+)\s*+=\s*+(?:"([^"]*+)"|'([^']*+)')""")
_ENTITY = re.compile(r"&(?:(lt|gt|amp|quot|apos|nbsp)|#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6}));")
_CREF_PREFIX = re.compile(r"\A[A-Z!]:")
_BLOCK_LINE = re.compile(r"^[ \t]*\*(?!/)[ \t]?", re.MULTILINE)
_COMMENT_SLASHES = re.compile(r"\A/{2,}!?")
_WORD = re.compile(r"\w")
_LOOKS_LIKE_CODE = (";", "{", "}")  # last character of a line of code that was commented out
_TOOL_COMMENT = ("ReSharper ",)  # instructions to a tool, not documentation

_SAYS_NOTHING = frozenset({"<inheritdoc />", "<inheritdoc/>"})
_ENTITIES = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'", "nbsp": " "}
_SECTIONS = frozenset(
    {"summary", "param", "typeparam", "returns", "value", "remarks", "exception", "example", "permission"}
)
_NAMED_BY = {"param": "name", "typeparam": "name", "exception": "cref", "permission": "cref"}
_INLINE = frozenset(
    [
        "a",
        "b",
        "br",
        "c",
        "code",
        "description",
        "em",
        "i",
        "include",
        "inheritdoc",
        "item",
        "li",
        "list",
        "listheader",
        "note",
        "ol",
        "p",
        "para",
        "paramref",
        "pre",
        "see",
        "strong",
        "term",
        "tt",
        "typeparamref",
        "u",
        "ul",
    ]
)
_BREAKS = frozenset({"br", "code", "description", "item", "li", "listheader", "note", "p", "para", "pre", "term"})
_REFERENCES = ("cref", "langword", "name", "href")  # attributes of empty tags that stand for their text


def is_documentation(comment: str) -> bool:
    """Whether a comment is `///` or `/** */`; `////` and `/***` are ordinary comments, as for the compiler."""
    return (comment.startswith("///") and not comment.startswith("////")) or (
        comment.startswith("/**") and not comment.startswith("/***") and len(comment) > 4
    )


def plain_documentation(comments: list[str]) -> str:
    """The text of documentation comments (source text, in order). Empty if they say nothing."""
    raw = "\n".join([comment[3:] if comment.startswith("///") else _block(comment, 3) for comment in comments])
    if "<" not in raw:
        return _words(raw)
    if raw.strip() in _SAYS_NOTHING:
        return ""
    usual = _whole_sections(raw)
    return _sections(raw) if usual is None else usual


def plain_comment(comments: list[str]) -> str:
    """The text of ordinary comments, without rulers, instructions to tools and code that was commented out."""
    lines: list[str] = []
    for comment in comments:
        text = _block(comment, 2) if comment.startswith("/*") else _COMMENT_SLASHES.sub("", comment)
        for line in text.splitlines():
            stripped = line.strip()
            if (
                _WORD.search(stripped)
                and not stripped.endswith(_LOOKS_LIKE_CODE)
                and not stripped.startswith(_TOOL_COMMENT)
            ):
                lines.append(stripped)
    return " ".join(" ".join(lines).split())


def _block(comment: str, opening: int) -> str:
    return _BLOCK_LINE.sub("", comment[opening:].removesuffix("*/"))


def _whole_sections(raw: str) -> str | None:
    """What `_sections` gives, three times as fast, for most comments: sections one after the other, tags in none.

    None for any other comment.
    """
    text = _EMPTY_REFERENCE.sub(_plain_reference, raw) if "/>" in raw else raw
    summary: list[str] = []
    others: list[str] = []
    done = 0
    while found := _WHOLE_SECTION.match(text, done):
        done = found.end()
        name, attribute, value, content = found.groups()
        if attribute != _NAMED_BY.get(name):
            return None
        words = _words(content)
        if name == "summary":
            summary.append(words)
        elif words:
            reference = _words(_CREF_PREFIX.sub("", value)) if value else ""
            label = f"{name} {reference}" if reference else name
            others.append(f"{label}: {words}")
    if done < len(text):
        return None
    first = " ".join(filter(None, summary))
    return "\n".join([first, "", *others] if first and others else [first, *others]).strip()


def _plain_reference(tag: re.Match[str]) -> str:
    return _CREF_PREFIX.sub("", tag.group(1)).strip()


def _sections(raw: str) -> str:
    """Walks the tags once: text goes to the open section, known inline tags become text, others stay as written."""
    summary: list[str] = []
    others: list[tuple[str, list[str]]] = []
    current = summary
    done = 0
    for tag in _TAG.finditer(raw):
        current.append(raw[done : tag.start()])
        done = tag.end()
        closing, name, attributes = tag.group(1, 2, 3)
        name = name.lower() if name else ""
        if name in _SECTIONS:
            if closing or attributes.endswith("/"):
                current = summary
            elif name == "summary":
                current = summary
                current.append(" ")
            else:
                current = []
                others.append((_label(name, attributes), current))
        elif name == "seealso":
            if not closing:
                others.append(("see also", [_reference(attributes, _REFERENCES)]))
        elif name in _INLINE:
            current.append(_inline(raw, tag, name))
        elif name:
            current.append(tag.group())
    current.append(raw[done:])
    lines = [f"{label}: {text}" for label, pieces in others if (text := _words("".join(pieces)))]
    first = _words("".join(summary))
    return "\n".join([first, "", *lines] if first and lines else [first, *lines]).strip()


def _label(name: str, attributes: str) -> str:
    wanted = _NAMED_BY.get(name)
    value = _words(_reference(attributes, (wanted,))) if wanted else ""
    return f"{name} {value}" if value else name


def _inline(raw: str, tag: re.Match[str], name: str) -> str:
    """What stands for an inline tag: the name it refers to, a break, or nothing (its content follows by itself)."""
    closing, attributes = tag.group(1), tag.group(3)
    if closing:
        return " " if name in _BREAKS else ""
    empty = attributes.endswith("/") or raw.startswith("</", tag.end())
    if empty and name not in _BREAKS:
        reference = _reference(attributes, _REFERENCES)
        return f"inheritdoc {reference}" if name == "inheritdoc" and reference else reference
    return " " if name in _BREAKS else ""


def _reference(attributes: str, names: tuple[str, ...]) -> str:
    values = {found.group(1): found.group(2) or found.group(3) or "" for found in _ATTRIBUTE.finditer(attributes)}
    value = next((values[name] for name in names if name in values), "")
    return _CREF_PREFIX.sub("", value).replace("{", "<").replace("}", ">").strip()


def _words(text: str) -> str:
    return " ".join((_ENTITY.sub(_decoded, text) if "&" in text else text).split())


def _decoded(entity: re.Match[str]) -> str:
    name, decimal, hexadecimal = entity.groups()
    if name:
        return _ENTITIES[name]
    code = int(decimal) if decimal else int(hexadecimal, 16)
    is_character = 0x20 <= code < 0xD800 or 0xE000 <= code <= 0x10FFFF
    return chr(code) if is_character else entity.group()


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
