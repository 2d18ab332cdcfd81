"""The description artifact: markdown for people and models, read once a snippet has been found (C07, C08)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag_assets.contracts.segment import Member, MemberKind

if TYPE_CHECKING:
    from rag_assets.descriptions.general import GeneralDescription


def description_markdown(description: GeneralDescription) -> str:
    """The whole description: title, purpose, signature, facts, and every member with its documentation."""
    from rag_assets.sections.tiling import leaves_of

    members = [member_markdown(leaf.member, leaf.owner) for leaf in leaves_of(description.members)]
    return "\n".join([declaration_markdown(description), *members]) + "\n"


def declaration_markdown(description: GeneralDescription) -> str:
    """Everything but the members; ends with the heading under which they follow."""
    d = description
    place = f"{d.path}:{d.span.line_start}-{d.span.line_end}"
    lines = [f"# {d.kind} {d.name}", "", f"`{d.fqn}` · {d.declaration} · {place}", ""]
    lines += [d.doc or d.summary, ""]
    if d.signature:
        lines += [f"```{d.code_language}", *(f"[{attribute}]" for attribute in d.attributes), d.signature, "```", ""]
    facts = (
        ("Domain", [d.domain_title] if d.domain_key else []),
        ("Inherits", d.base_types),
        ("Implements", d.interfaces),
        ("Depends on", d.dependencies),
    )
    listed = [f"- {label}: {', '.join(f'`{value}`' if label != 'Domain' else value for value in values)}"
              for label, values in facts if values]  # fmt: skip
    lines += [*listed, ""] if listed else []
    if d.members:
        lines += ["## Members", ""]
    return "\n".join(lines)


def member_markdown(member: Member, owner: str = "") -> str:
    """One list entry: signature, and below it attributes and the full documentation."""
    prefix = f"{owner}: " if owner else ""
    text = member.signature or member.name
    if member.kind is MemberKind.ENUM_VALUE and member.value and member.value not in text:
        text = f"{text} = {member.value}"
    lines = [f"- {prefix}`{text}`"]
    if member.attributes:
        lines.append("  " + " ".join(f"`[{attribute}]`" for attribute in member.attributes))
    lines += [f"  {line}".rstrip() for line in member.doc.splitlines()]
    return "\n".join(lines)
