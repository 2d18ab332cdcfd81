"""The description artifact: markdown for people and models, read once a snippet has been found (C07, C08)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rag_assets.contracts.segment import Member, MemberKind, OtherPart
from rag_assets.sections.tiling import leaves_of

if TYPE_CHECKING:
    from rag_assets.descriptions.symbol import SymbolDescription


def description_markdown(description: SymbolDescription) -> str:
    """The whole description: title, purpose, signature, facts, and every member with its documentation."""
    members = [member_markdown(leaf.member, leaf.owner) for leaf in leaves_of(description.members)]
    heading = ["## Members", ""] if members else []
    return "\n".join([declaration_markdown(description), *heading, *members]) + "\n"


def declaration_markdown(description: SymbolDescription) -> str:
    """Everything but the members."""
    d = description
    place = f"{d.path}:{d.span.line_start}-{d.span.line_end}"
    lines = [
        f"# {d.kind} {d.name}",
        "",
        f"{inline_code(d.fqn)} · {d.declaration} · {place}",
        "",
        d.doc or d.summary,
        "",
    ]
    if d.signature:
        attributes = [f"[{attribute}]" for attribute in d.attributes]
        lines += [fenced_code("\n".join([*attributes, d.signature]), d.code_language), ""]
    facts = [f"- Domain: {d.domain_title}"] if d.domain_key else []
    facts += [f"- {label}: {', '.join(map(inline_code, values))}" for label, values in d.listed_facts() if values]
    facts += [f"- Other part: {_other_part(part)}" for part in d.other_parts]
    lines += [*facts, ""] if facts else []
    return "\n".join(lines)


def _other_part(part: OtherPart) -> str:
    """`src/Orders.Audit.cs:1-40` and below it its members with their signatures; of a skipped one the reason."""
    if part.skipped:
        return f"{inline_code(part.path)}, not indexed: {part.skipped}"
    place = inline_code(f"{part.path}:{part.line_start}-{part.line_end}")
    return "\n".join([place, *(f"  - {inline_code(signature)}" for signature in part.members)])


def facts_markdown(facts: Iterable[tuple[str, Sequence[str]]]) -> str:
    """A list of facts and an empty line; '' where there are none. Facts without value are left out."""
    lines = [f"- {label}: {', '.join(map(inline_code, values))}" for label, values in facts if values]
    return "".join(f"{line}\n" for line in [*lines, ""]) if lines else ""


def member_markdown(member: Member, owner: str = "") -> str:
    """One list entry: signature, and below it attributes and the full documentation."""
    prefix = f"{owner}: " if owner else ""
    text = member.signature or member.name
    if member.kind is MemberKind.ENUM_VALUE and member.value and member.value not in text:
        text = f"{text} = {member.value}"
    lines = [f"- {prefix}{inline_code(text)}"]
    if member.attributes:
        lines.append("  " + " ".join(inline_code(f"[{attribute}]") for attribute in member.attributes))
    lines += [f"  {line}".rstrip() for line in member.doc.splitlines()]
    return "\n".join(lines)


def inline_code(text: str) -> str:
    """A code span that also holds the backtick of an arity, as CommonMark wants it."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def fenced_code(text: str, language: str = "") -> str:
    """A code block whose fence is longer than any run of backticks inside."""
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


_BACKTICKS = re.compile(r"`+")
