"""The form of an artifact: split at its headings, and everything that is wrong with it said in words that a model can
act on (E17). Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from rag_assets.answer.artifact.templates import NOTHING_FOUND, Template
from rag_assets.answer.citations import cited_ids

_HEADING = re.compile(r"#{1,6}[ \t]+(?P<title>.*?)[ \t]*#*$")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_NUMBER = re.compile(r"^\d+[.)]\s*")
_MARKUP = "*_` :"
_MOST_NAMED = 5  # unknown ids in a complaint: enough to see what was meant


@dataclass(frozen=True, slots=True)
class Section:
    """One section as it was written: its heading line, without the blanks around the rest."""

    heading: str
    body: str

    @property
    def says_nothing(self) -> bool:
        """Whether it is the honest sentence and nothing else."""
        return " ".join(self.body.split()).casefold().rstrip(".") == NOTHING_FOUND.casefold().rstrip(".")


def split(text: str) -> tuple[str, tuple[Section, ...]]:
    """(what stands before the first heading, the sections). A `#` in a code block or a quote is no heading."""
    lines: list[list[str]] = [[]]
    headings: list[str] = []
    fence = ""
    for line in text.replace("\r\n", "\n").strip().split("\n"):
        mark = _FENCE.match(line)
        if fence:
            closes = mark is not None and mark[1].startswith(fence) and not line[mark.end() :].strip()
            fence = "" if closes else fence
        elif mark is not None:
            fence = mark[1]
        elif _HEADING.match(line):
            headings.append(line.strip())
            lines.append([])
            continue
        lines[-1].append(line)
    before, *bodies = ("\n".join(part).strip() for part in lines)
    return before, tuple(Section(heading, body) for heading, body in zip(headings, bodies, strict=True))


def problems_of(text: str, template: Template, known: Collection[str]) -> tuple[str, ...]:
    """What keeps a text from being the artifact of a template: exactly its headings, in order, none empty, each with a
    citation of `known` evidence or the honest sentence. Nothing for an artifact as it should be.

    A heading with the right words and other marks (`**Goals**:` behind the hashes, a number, another level) is taken
    for what it means; `normalised` writes it as it should be.
    """
    before, sections = split(text)
    found = [_meant(section.heading, template) for section in sections]
    made = [f"there is text before the first heading: {_beginning(before)!r}"] if before else []
    made += [
        f"{section.heading!r} is no heading of a {template.name}"
        for section, meant in zip(sections, found, strict=True)
        if meant is None
    ]
    wanted = template.headings
    made += [f"the heading {heading!r} is missing" for heading in wanted if heading not in found]
    made += [f"the heading {heading!r} is there twice" for heading in wanted if found.count(heading) > 1]
    order = [meant for meant in dict.fromkeys(found) if meant is not None]
    if order != [heading for heading in wanted if heading in order]:
        made.append(f"the headings are not in their order: {', '.join(wanted)}")
    for section, meant in zip(sections, found, strict=True):
        if meant is not None:
            made += _problems_of_section(section, meant, known)
    return tuple(made)


def normalised(text: str, template: Template) -> tuple[Section, ...]:
    """The sections of an artifact without `problems_of`, their headings written as the template has them."""
    _, sections = split(text)
    return tuple(
        Section(heading, NOTHING_FOUND if section.says_nothing else section.body)
        for heading, section in zip(template.headings, sections, strict=True)
    )


def joined(sections: Sequence[Section]) -> str:
    return "\n\n".join(f"{section.heading}\n\n{section.body}" for section in sections)


def _problems_of_section(section: Section, heading: str, known: Collection[str]) -> list[str]:
    if not section.body:
        return [f"the section {heading!r} is empty; where there is no evidence for it, write: {NOTHING_FOUND}"]
    if section.says_nothing:
        return []
    cited = cited_ids(section.body)
    if not cited:
        return [f"the section {heading!r} cites nothing; end every sentence with [chunk: id]"]
    unknown = [identifier for identifier in cited if identifier not in known]
    if len(unknown) == len(cited):
        return [f"the section {heading!r} cites what is not in the evidence: {', '.join(unknown[:_MOST_NAMED])}"]
    return []


def _meant(heading: str, template: Template) -> str | None:
    """The heading of the template that a line means."""
    found = _HEADING.match(heading)
    title = _NUMBER.sub("", found["title"].strip(_MARKUP)).strip(_MARKUP).casefold() if found else ""
    known = {section.title.casefold(): at for at, section in enumerate(template.sections)}
    return template.headings[known[title]] if title in known else None


def _beginning(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 60 else f"{flat[:59]}…"
