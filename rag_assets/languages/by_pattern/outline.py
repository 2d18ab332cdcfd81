"""The declarations of a piece of source, as parts that follow one another: for reading a section again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rag_assets.languages.by_pattern.comments import Masked, masked, plain_text
from rag_assets.languages.by_pattern.declarations import Declaration, comments_between, declarations_in, merged_clauses
from rag_assets.languages.by_pattern.table import PATTERNS, LanguagePatterns, Role

_READ_AT_ONCE = 1_000  # characters: of longer clauses each is read by itself
_AROUND = (Role.CONTAINER, Role.OWNER, Role.TYPE)


@dataclass(frozen=True, slots=True)
class Outlined:
    """One declaration, `text[start:end]`: of what has members only the head, with the values of an enumeration. `head`
    is where it begins behind its documentation and its attributes, which begin at `attributes`; `inside` counts the
    declarations around it."""

    start: int
    attributes: int
    head: int
    signature_end: int
    body: int
    end: int
    name: str
    doc: str
    is_type: bool
    inside: int


def outlined(text: str, language: str) -> list[Outlined]:
    """What a piece of source declares, in text order and without overlaps; nothing of an unknown language."""
    rules = PATTERNS.get(language)
    if rules is None:
        return []
    code = masked(text, rules.comments)
    return list(_parts(declarations_in(text, code, rules), text, code, 0, rules))


def _parts(
    declared: Iterable[Declaration], text: str, code: Masked, inside: int, rules: LanguagePatterns
) -> Iterator[Outlined]:
    for one in merged_clauses(declared, clauses=rules.clauses, most_chars=_READ_AT_ONCE):
        if one.role is Role.PACKAGE:
            continue
        body = one.body if one.body >= 0 else one.end
        is_enumeration = "enum" in text[one.head : body].split()  # its values go before what its body declares
        inner = [part for part in one.inner if part.head >= body] if is_enumeration else one.inner
        is_around = one.role in _AROUND and bool(inner)
        end = min(one.end if is_enumeration else body, inner[0].start) if is_around else one.end
        doc = plain_text(text[start:stop] for start, stop in comments_between(code, one.start, one.head))
        within = comments_between(code, body, one.end)[:1] if rules.doc_inside and is_around and not doc else []
        if within and not code.code[body : within[0][0]].strip():
            doc = plain_text([text[slice(*within[0])]])
        above = code.code[one.start : one.head]
        yield Outlined(
            one.start,
            one.start + len(above) - len(above.lstrip()),
            one.head,
            min(one.signature_end, end),
            min(body, end),
            end,
            one.name,
            doc,
            one.role in _AROUND,
            inside,
        )
        yield from _parts(inner, text, code, inside + 1, rules)
