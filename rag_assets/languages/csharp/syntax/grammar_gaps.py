"""C# newer than the grammar (0.23.5): what it cannot parse, masked by something of the same length that it can.

Only method bodies and headers are touched; facts are read from the original text afterwards. All patterns work on
the code of a Scan (no strings, no comments) and are possessive: linear in the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from rag_assets.languages.csharp.syntax.lexer import Scan, brackets
from rag_assets.languages.csharp.syntax.masks import Mask

_EXTENSION = re.compile(r"[{};\]]\s*+(extension)\s*+(<[\w\s,@\[\].]*+>\s*+)?\(")
_EXTENSION_BODY = re.compile(r"\s*+(?:where\b[^;{}]*+)?\{")
_MAYBE_EXTENSION = re.compile(r"extension\s*+[<(]")  # begins with a literal: fast on every file
_BEFORE_EXTENSION = frozenset(" \t\r\n{};]/")
_IDENTIFIER = re.compile(r"@?\w+")
_ALLOWS = re.compile(r"\b(allows\s++ref)\s++struct\b")
_REF_PARTIAL = re.compile(r"\b(ref)\s++partial\s++struct\b")
_COMPOUND_OPERATOR = re.compile(r"\boperator\b\s*+(?:checked\b\s*+)?+(?:>>>|>>|<<|[+\-*/%&|^])(=)\s*+\(")
_LAMBDA_PARAMETERS = re.compile(r"\(([\w\s,@]*+)\)\s*+=>")
_UNTYPED_WITH_MODIFIER = re.compile(r"\s*+((?:(?:ref|out|in|scoped|params|readonly)\s++(?=\w|@))*+)@?\w++\s*\Z")
_CONDITIONAL_ACCESS = re.compile(r"(?<=[\w)\]\"!])\s*+\?(?=\s*+\.\s*+[A-Za-z_@])|(?<=[\w)\]\"!])\?(?=\[)")
_CHAIN_LINK = re.compile(r"\s*+(?:\??+\s*+\.\s*+@?\w++|\??+([\[(])|!(?!=))")
_ASSIGNMENT = re.compile(r"\s*+(?:=(?![=>])|(?:[+\-*/%&|^]|<<|>>>|>>|\?\?)=)")

_MODIFIER = "new"  # as long as `ref`, and a modifier where the grammar wants one
_STRUCT = "struct ee"  # as long as `extension`; the name never shows, the node is known by its offset
_IGNORED_DIRECTIVES = frozenset({":", "!", "r", "load"})  # file-based programs and scripts
_KEPT_DIRECTIVES = frozenset({"if", "elif", "else", "endif", "region", "endregion"})


@dataclass(frozen=True, slots=True)
class Construct:
    """One construct: what it is, the offset it is at, and the masks that hide it."""

    what: str
    at: int
    masks: tuple[Mask, ...]
    receiver: tuple[int, int] | None = None  # of an extension block: the range between its parentheses


def may_hold_extension(text: str) -> bool:
    """Whether an extension block may be there: with methods only, the grammar takes it for a constructor, silently."""
    return any(text[m.start() - 1 : m.start()] in _BEFORE_EXTENSION for m in _MAYBE_EXTENSION.finditer(text))


def find_constructs(code: str) -> list[Construct]:
    """Unsupported constructs in `code` (of a Scan, after `#if` masking) but extension blocks. Masks never overlap."""
    found = [Construct("allows ref struct", m.start(1), (Mask(*m.span(1)),)) for m in _ALLOWS.finditer(code)]
    found += [
        Construct("ref partial struct", m.start(1), (Mask(*m.span(1), _MODIFIER),)) for m in _REF_PARTIAL.finditer(code)
    ]
    found += [
        Construct("compound assignment operator", m.start(), (Mask(*m.span(1)),))
        for m in _COMPOUND_OPERATOR.finditer(code)
    ]
    found += _lambdas(code)
    if _CONDITIONAL_ACCESS.search(code):
        found += _conditional_assignments(code, brackets(code))
    return found


def find_extensions(code: str) -> list[Construct]:
    """The extension blocks of `code`."""
    if not may_hold_extension(code):
        return []
    matches = brackets(code)
    return [made for m in _EXTENSION.finditer(code) if (made := _extension(code, m, matches)) is not None]


def directive_masks(found: Scan) -> tuple[list[Mask], list[Construct]]:
    """Masks for directives that hold no code (pragma, line …); those of file-based programs count as constructs."""
    masks, constructs = [], []
    for directive in found.directives:
        is_shebang = directive.word == "!" and directive.start == 0
        if is_shebang or directive.word in _KEPT_DIRECTIVES:
            continue
        mask = Mask(directive.start, directive.end)
        if directive.word in _IGNORED_DIRECTIVES:
            constructs.append(Construct(f"#{directive.word} directive", directive.start, (mask,)))
        else:
            masks.append(mask)
    return masks, constructs


def _extension(code: str, found: re.Match[str], matches: dict[int, int]) -> Construct | None:
    opening = found.end() - 1
    closing = matches.get(opening)
    if closing is None or _EXTENSION_BODY.match(code, closing + 1) is None:
        return None
    receiver = code[opening + 1 : closing]
    if not receiver.strip():
        return None  # a constructor of a class called extension
    masks = [Mask(*found.span(1), _STRUCT)]
    words = receiver.split()
    if len(words) < 2 or _IDENTIFIER.fullmatch(words[-1]) is None:  # a type alone: the grammar wants a name
        masks.append(Mask(opening, closing + 1))
    return Construct("extension block", found.start(1), tuple(masks), (opening + 1, closing))


def _lambdas(code: str) -> list[Construct]:
    """`(text, out r) =>`: modifiers on parameters without types."""
    found = []
    for candidate in _LAMBDA_PARAMETERS.finditer(code):
        start = candidate.start(1)
        masks: list[Mask] = []
        for parameter in candidate.group(1).split(","):
            shape = _UNTYPED_WITH_MODIFIER.match(parameter)
            if shape is None:
                masks.clear()
                break
            if shape.group(1):
                masks.append(Mask(start + shape.start(1), start + shape.end(1)))
            start += len(parameter) + 1
        if masks:
            found.append(Construct("lambda parameter modifier", candidate.start(), tuple(masks)))
    return found


def _conditional_assignments(code: str, matches: dict[int, int]) -> list[Construct]:
    """`a?.b.c = 1`: the question marks of a chain that ends in an assignment."""
    found = []
    done = 0
    for access in _CONDITIONAL_ACCESS.finditer(code):
        position = access.end() - 1
        if position < done:
            continue
        marks: list[Mask] = []
        while link := _CHAIN_LINK.match(code, position):
            mark = code.find("?", position, link.end())
            if mark != -1:
                marks.append(Mask(mark, mark + 1))
            position = link.end()
            if link.group(1):
                closing = matches.get(position - 1)
                if closing is None:
                    break
                position = closing + 1
        done = position
        if marks and _ASSIGNMENT.match(code, position):
            found.append(Construct("null-conditional assignment", marks[0].start, tuple(marks)))
    return found
