"""Takes out of a model's text every link, image and tag that the evidence does not have. Pure.

Whoever opens an answer in a viewer of Markdown asks the host of each image, and one click asks that of a link: a model
that was talked into it by a sentence in the sources could send there what it has read. So a target stays only where
the evidence has it, whole and letter by letter. The text is looked at as viewers and people read it: entities decoded,
escapes undone, invisible characters dropped, look-alikes as what they look like.
"""

from __future__ import annotations

import html
import re
import string
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property

from rag_assets.contracts.evidence import Evidence
from rag_assets.contracts.protocol_markers import fold_char
from rag_assets.identifiers import word_set

REMOVED = "‹link removed›"
"""Without a bracket that could begin a link of its own."""

_NO_TAG, _NO_DOT, _NO_COLON = "‹", "․", "∶"
_SHAPES = str.maketrans("∕⁄╱⧸⟋⧹∖。", "/////\\\\.")
_NO_ANGLES = str.maketrans("<>", "‹›")
"""As an entity they begin and end nothing."""

_NO_BLANK = "\xa0"
"""What blanks are read as that do not end a target: all but those of ASCII."""

_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_ESCAPED = frozenset(string.punctuation)

_COUNTRIES = (
    "a[cdefgilmnoqrstuwxz]|b[abdefghijmnorstvwyz]|c[acdfghiklmnoruvwxyz]|d[ejkmoz]|e[cegrstu]|f[ijkmor]|"
    "g[abdefghilmnpqrstuwy]|h[kmnrtu]|i[delmnoqrst]|j[emop]|k[eghimnprwyz]|l[abcikrstuvy]|m[acdeghklmnopqrstuvwxyz]|"
    "n[acefgilopruz]|om|p[aefghklmnrstwy]|qa|r[eosuw]|s[abcdeghijklmnortuvxyz]|t[cdfghjklmnortvwz]|u[agksyz]|"
    "v[aceginu]|w[fs]|y[et]|z[amw]"
)
_GENERIC = (
    "aero|app|asia|biz|click|cloud|com|coop|dev|edu|gov|info|link|live|mov|museum|name|net|online|org|pro|pф|shop|site|"
    "store|tech|top|web|xxx|xyz|zip|xn--[a-z0-9-]+"
)
"""What viewers take for the end of a host where no scheme stands before it."""

_PLAIN = re.compile(r"[\t\n\r !-%'-\[\]-~]*")
"""Nothing to fold but the case: ASCII without entities and escapes."""

_RUN = r"[^\s<>]*"
_ADDRESS = re.compile(
    rf"\w[\w+.-]*:[/\\]{{2}}{_RUN}"  # scheme://
    rf"|(?<![:/\\])[/\\]{{2}}(?:localhost\b|[\w-]+(?:\.[\w-]+)+){_RUN}"
    rf"|(?<!\w)www\.{_RUN}"
    rf"|(?<!\w)(?:mailto|javascript|vbscript|tel|sms|xmpp):[^\s<>]{_RUN}"
    rf"|(?<!\w)data:[\w/+.-]*[;,]{_RUN}"
)
_LABEL = r"[^\s!-#%-*,./:;?@\[\]\\{}<>|`]"
_HOST = re.compile(
    rf"(?<![\w/\\-])(?:[\w.+%!#$&'*/=?^{{|}}~-]{{1,1000}}@)?(?:{_LABEL}+\.)+(?:{_COUNTRIES}|{_GENERIC})(?![^\W_]|-)"
    rf"(?:[/:?#]{_RUN})?"
)
_BLANK = r"[ \t\r\n]"
_DESTINATION = rf"(?:<(?P<angled>[^<>\n]*)>|(?P<bare>(?!<|{_BLANK})[^ \t\r\n]+))"
_TITLE = r"(?:\"[^\"]*\"|'[^']*'|\([^()]*\))"
_BARE = re.compile(rf"{_BLANK}*{_DESTINATION}(?:{_BLANK}+{_TITLE})?{_BLANK}*")
_ANGLED = re.compile(rf"{_BLANK}*<(?P<angled>[^<>\n]*)(?:>[^()]*\)?)?")
_DEFINITION = re.compile(
    rf"^[ \t>*+\-\d.)]*\[?[^\[\]]{{1,999}}\]:[ \t]*\n?[ \t]*{_DESTINATION}[ \t]*(?:\n?[ \t]*{_TITLE})?[ \t]*$",
    re.MULTILINE,
)
_BEGUN_DEFINITION = re.compile(r"\[[^\]\n]{1,999}\](?P<colon>:)\s*\Z")
_TAG = re.compile(r"<(?P<name>[a-z][a-z0-9-]*|[!?])(?P<rest>[^<>]*)(?P<end>>?)")
_AUTOLINK = re.compile(r"[a-z][a-z0-9+.-]{1,31}:|[^\s<>@]+@")
_ACTIVE = word_set(
    "applet audio base body button embed form frame frameset html iframe img input link listing math meta noembed",
    "noframes noscript object plaintext portal script select source style svg template textarea title track video",
    "xmp",
)
"""Tags that do something without an attribute, or swallow the text after them."""

_TRAILING = frozenset(".,;:!?)]}*\"'’”…")
"""What is no part of an address that it follows."""

_MORE = r"[\w%+&=?#/:@~$-]"
"""What an address goes on with."""

_FENCE = re.compile(r" {0,3}(?P<mark>`{3,}(?=[^`]*$)|~{3,})")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
"""As Markdown has lines: characters that Python ends lines at end none."""
_TICKS = re.compile(r"`+")


def guarded(text: str, evidence: Iterable[Evidence], *, also: str = "", in_code: bool | None = None) -> str:
    """The text of a model without links, images and tags whose targets neither the evidence nor `also` has. Code stays
    as it is but for addresses; `in_code` says that all of the text is code, or that none is."""
    allowed = _Allowed(evidence, also)
    for _ in range(_MOST_PASSES):  # what is left of one link can be a part of another
        made = _once(text, allowed, in_code)
        if made == text:
            break
        text = made
    return text


_MOST_PASSES = 8


class LineGuard:
    """The same for a text that comes line by line."""

    def __init__(self, evidence: Sequence[Evidence]) -> None:
        self._evidence = evidence
        self._fence = ""
        self._is_sure = True  # that what ends lines here does so everywhere

    def __call__(self, line: str) -> str:
        self._is_sure &= "\r" not in line.removesuffix("\n").removesuffix("\r")
        mark = _FENCE.match(line)
        inside = bool(self._fence)
        if mark is not None and not inside:
            self._fence = mark["mark"]
        elif mark is not None and _closes(line, self._fence):
            self._fence = ""
        return guarded(line, self._evidence, in_code=inside and bool(self._fence) and self._is_sure)


class _Allowed:
    """What stands in the evidence. Joined when the first target is looked for: most answers have none."""

    def __init__(self, evidence: Iterable[Evidence], also: str) -> None:
        self._evidence = evidence
        self._also = also

    @cached_property
    def _text(self) -> str:
        said = (
            f"{one.path}\n{one.place}\n{one.symbol}\n{one.title}\n{one.via}\n{one.description}\n{one.text}"
            for one in self._evidence
        )
        return "\n".join((self._also, *said))

    def has_text(self, text: str) -> bool:
        return text in self._text

    def has(self, token: str, before: str = _MORE) -> bool:
        """Whether a token stands there whole: no address that is longer has it."""
        if token not in self._text:
            return False
        whole = rf"(?<!{before}){re.escape(token)}(?!{_MORE}|[.,;!*']+{_MORE})"
        return re.search(whole, self._text) is not None


class _Folded:
    """A text as it is read, and where each of its characters comes from."""

    def __init__(self, text: str, read: Callable[[str, int], tuple[str, int]]) -> None:
        """`read` says what stands at a position, and where that ends."""
        self._raw = text
        self.text, self._at = text.lower(), list[tuple[int, int]]()
        if _PLAIN.fullmatch(text):
            return
        made: list[str] = []
        start = 0
        while start < len(text):
            value, end = read(text, start)
            for char in "".join(map(_folded_char, value.translate(_SHAPES))):
                made.append(char)
                self._at.append((start, end))
            start = end
        self.text = "".join(made)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Of the text that was folded."""
        if not self._at or start >= end:
            return start, end
        return self._at[start][0], self._at[end - 1][1]

    def closings(self) -> dict[int, int]:
        """Where each parenthesis is closed; those that were written as escapes or entities are none."""
        closed, waiting = {}, list[int]()
        for at, char in enumerate(self.text):
            start, end = self.span(at, at + 1)
            if char in "()" and end == start + 1:
                if char == "(":
                    waiting.append(at)
                elif waiting:
                    closed[waiting.pop()] = at
        return closed

    def raw(self, start: int, end: int) -> str:
        """What was folded, with the invisible characters around it: they are part of a target."""
        begin, stop = self.span(start, end)
        while begin and not _folded_char(self._raw[begin - 1]):
            begin -= 1
        while stop < len(self._raw) and not _folded_char(self._raw[stop]):
            stop += 1
        return self._raw[begin:stop]


def _folded_char(char: str) -> str:
    return _NO_BLANK if char.isspace() and not char.isascii() else fold_char(char)


def _literal(text: str, at: int) -> tuple[str, int]:
    return text[at], at + 1


def _unescaped(text: str, at: int) -> tuple[str, int]:
    if text[at] == "&" and (entity := _ENTITY.match(text, at)):
        value = html.unescape(entity.group())
        if value != entity.group():
            return value.translate(_NO_ANGLES), entity.end()
    if text[at] == "\\" and text[at + 1 : at + 2] in _ESCAPED:
        return text[at + 1], at + 2
    return text[at], at + 1


def _once(text: str, allowed: _Allowed, in_code: bool | None) -> str:
    code = [(0, len(text))] if in_code else [] if in_code is False else _code_spans(text)
    found: list[_Change] = []
    for read in (_literal, _unescaped) if "&" in text or "\\" in text else (_literal,):  # viewers differ in the order
        folded = _Folded(text, read)
        found += _addresses(folded, allowed, code)
        for change in (*_links(folded, allowed), *_tags(folded, allowed), *_hosts(folded, allowed)):
            if not any(begin <= change[0] < stop for begin, stop in code):
                found.append(change)
    made: list[str] = []
    at = 0
    for start, end, instead in sorted(found, key=lambda change: (change[0], -change[1])):
        if start >= at:
            made += (text[at:start], instead)
            at = end
    return "".join((*made, text[at:]))


_Change = tuple[int, int, str]


def _addresses(folded: _Folded, allowed: _Allowed, code: Sequence[tuple[int, int]]) -> Iterator[_Change]:
    for found in _ADDRESS.finditer(folded.text):
        start, end = found.span()
        first, last = folded.span(start, end)
        limit = next((stop for begin, stop in code if begin <= first < stop), last)
        while folded.span(end - 1, end)[1] > limit:  # the backtick behind it
            end -= 1
        if not _stands_there(folded, start, end, allowed):
            yield (*folded.span(start, _trimmed(folded, start, end)), REMOVED)


def _stands_there(folded: _Folded, start: int, end: int, allowed: _Allowed, before: str = _MORE) -> bool:
    """Whether the evidence has a run of characters, without some or all of the punctuation behind it."""
    least = _trimmed(folded, start, end)
    return any(allowed.has(folded.raw(start, stop), before) for stop in range(end, least - 1, -1))


def _trimmed(folded: _Folded, start: int, end: int) -> int:
    """Without the punctuation behind it, unless a tag follows."""
    if folded.text[end : end + 1] in ("<", ">"):
        return end
    while end > start + 1 and folded.raw(end - 1, end) in _TRAILING:
        end -= 1
    return end


def _links(folded: _Folded, allowed: _Allowed) -> Iterator[_Change]:
    text = folded.text
    closings = folded.closings() if "](" in text else {}
    at = text.find("](")
    while at >= 0:
        angled = _ANGLED.match(text, at + 2)
        close = closings.get(at + 1, len(text)) if angled is None else angled.end() - 1
        inside = angled or _BARE.fullmatch(text, at + 2, close)
        if not text[at + 2 :].strip():
            yield (*folded.span(at + 1, at + 2), REMOVED)  # its target would be on the next line
        elif _is_invisible(folded, at + 1, close) or (inside and not _has_target(inside, folded, allowed)):
            yield (*folded.span(at + 1, min(close + 1, len(text))), REMOVED)
        at = text.find("](", at + 1)
    for found in _DEFINITION.finditer(text):
        if not _has_target(found, folded, allowed):
            start, end = _target(found)
            brackets = int(found["bare"] is None)
            yield (*folded.span(start - brackets, end + brackets), REMOVED)
    begun = _BEGUN_DEFINITION.search(text)
    if begun is not None:
        yield (*folded.span(*begun.span("colon")), _NO_COLON)


def _is_invisible(folded: _Folded, opened: int, close: int) -> bool:
    return close == opened + 1 and len(folded.raw(opened, close + 1)) > len("()")


def _target(found: re.Match[str]) -> tuple[int, int]:
    return found.span("angled" if found["angled"] is not None else "bare")


def _has_target(found: re.Match[str], folded: _Folded, allowed: _Allowed) -> bool:
    start, end = _target(found)
    return start == end or allowed.has(folded.raw(start, end))


def _tags(folded: _Folded, allowed: _Allowed) -> Iterator[_Change]:
    for found in _TAG.finditer(folded.text):
        name, rest = found["name"], found["rest"]
        inside = found.start() + 1, found.end() - len(found["end"])
        if found["end"] and _AUTOLINK.match(folded.text, *inside):
            is_known = allowed.has(folded.raw(*inside))
        else:
            is_known = bool(found["end"]) and allowed.has_text(folded.raw(*found.span()))
            is_known |= name not in _ACTIVE and name not in "!?" and not (rest and rest[0] in " \t\n\r\f\v/")
        if not is_known:
            yield (*folded.span(found.start(), found.start() + 1), _NO_TAG)


def _hosts(folded: _Folded, allowed: _Allowed) -> Iterator[_Change]:
    for found in _HOST.finditer(folded.text):
        if not _stands_there(folded, *found.span(), allowed, before=r"[\w@-]"):
            for at in range(*found.span()):
                if folded.text[at] == ".":
                    yield (*folded.span(at, at + 1), _NO_DOT)


def _closes(line: str, fence: str) -> bool:
    bare = line.strip()
    return bare.startswith(fence) and not bare.strip(fence[0])


def _code_spans(text: str) -> list[tuple[int, int]]:
    """Where every viewer sees code: what is between fences, and between backticks of a paragraph whose lines all have
    them in pairs, with nothing that would be stronger than a backtick."""
    spans: list[tuple[int, int]] = []
    paragraph: list[tuple[int, str]] = []
    fence, opened, at = "", 0, 0
    for line in _LINE.findall(text) if "\r" not in text.replace("\r\n", "") else ():
        mark = _FENCE.match(line)
        if fence:
            if _closes(line, fence):
                spans.append((opened, at))
                fence = ""
        elif mark is not None:
            spans += _inline(paragraph)
            fence, opened, paragraph = mark["mark"], at + len(line), []
        elif line.strip():
            paragraph.append((at, line))
        else:
            spans += _inline(paragraph)
            paragraph = []
        at += len(line)
    return [*spans, (opened, at)] if fence else [*spans, *_inline(paragraph)]


def _inline(paragraph: Sequence[tuple[int, str]]) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    for at, line in paragraph:
        outside, runs = "", list(_TICKS.finditer(line))
        end = 0
        while runs:
            first = runs.pop(0)
            closing = next((run for run in runs if len(run.group()) == len(first.group())), None)
            if closing is None:
                return []
            outside += line[end : first.start()]
            spans.append((at + first.end(), at + closing.start()))
            end = closing.end()
            runs = [run for run in runs if run.start() >= end]
        if "<" in outside + line[end:] or "\\" in outside:
            return []
    return spans
