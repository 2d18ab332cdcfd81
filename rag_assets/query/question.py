"""What a typed question asks for, without a model: its words, its filters, its phrases, the names and places in it.

The filters are those of code search tools (`kind:Service -path:tests/ lang:csharp symbol:OrderService "exact text"`)
and the same as the options of the commands. Pure.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, field
from enum import StrEnum

from rag_assets.languages import TEXT, detect_language
from rag_assets.query.errors import WrongQuestion
from rag_assets.query.pasted import without_paste
from rag_assets.query.traces import CodePlace, Trace, read_trace
from rag_assets.stores.filters import UNNARROWED, Narrowing, has_wildcard
from rag_assets.stores.periods import ALWAYS, Period, PeriodError, moment


class QuestionKind(StrEnum):
    """What a question looks like."""

    PROSE = "prose"
    SYMBOL = "symbol"  # identifiers and nothing else
    PATH = "path"  # files and nothing else
    ERROR = "error"  # an error message or a stack trace


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """`text` is what is searched for, '' where there are only filters; `typed` what was asked, without pasted marks.
    All `phrases` must occur as they are written. `changed` is when its files were changed last. `symbols` are the names
    and `places` the files that the text mentions. `notes` say what could have been meant otherwise."""

    typed: str
    text: str
    kind: QuestionKind
    phrases: tuple[str, ...] = ()
    wanted: Narrowing = UNNARROWED
    excluded: Narrowing = UNNARROWED
    changed: Period = ALWAYS
    symbols: tuple[str, ...] = ()
    places: tuple[CodePlace, ...] = ()
    notes: tuple[str, ...] = ()


FILTER_KEYS = {
    "kind": "kinds",
    "path": "paths",
    "file": "paths",
    "lang": "languages",
    "language": "languages",
    "symbol": "symbols",
    "source_type": "source_types",
}
"""What may stand before a colon, in any letter case, and the field of `Narrowing` it is; `file` as in Sourcegraph."""

DATE_KEYS = ("since", "before")
"""What may stand before a date, and the field of `Period` it is; as in `git log`."""

_KEYS = (*FILTER_KEYS, *DATE_KEYS)
_EMPTY = "the query is empty; ask a question or name an identifier"
_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"'})  # a text editor's, as pasted questions have them
_QUOTED = r'"(?P<{0}>(?:[^"\\]|\\.)*)"'
_TOKEN = re.compile(
    rf"(?P<minus>-?)(?P<key>[A-Za-z_]+):(?:{_QUOTED.format('quoted_value')}|(?P<value>[^\s\":/][^\s\"]*))(?=\s|$)"
    rf"|(?P<not>-?){_QUOTED.format('phrase')}(?=\s|$)"
    r"|(?P<word>\S+)"
)
# A value begins with neither `:` nor `/`: `std::sort` and `https://…` are no filters.
_ESCAPE = re.compile(r"\\(.)")
_NEAR_KEY = 0.8  # of equal letters: `knd`, `langs`, `pth`, `symbols`; not `king`, `math`, `long`
_SHORTEST_TYPO = 3  # letters; `id:5` is no slip of anything

_IDENTIFIER = re.compile(r"@?[A-Za-z_]\w*(?:`\d+)?")
_DECORATION = re.compile(r"\([^()]*\)$|<[^<>]*>$|\[\]$")  # of a call, of a generic type, of an array
_INNER_CAPITAL = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]|^I[A-Z]|_\w")
_MOST_SYMBOLS = 4  # names in a question that is no sentence
_WITH_LINE = re.compile(r"(?P<path>.+?)(?::(?P<line>\d+)(?:[:-]\d+)?|#L(?P<hash>\d+).*|\((?P<paren>\d+)(?:,\d+)*\))?")
_LINE_IN_BRACKETS = re.compile(r"\(\d+(?:,\d+)*\)$")
_MARKS = ".,;!?"
_WRAPS = "()[]{}'`"


def understand(typed: str) -> Question:
    """Reads a question, without what was only pasted with it. Raises WrongQuestion where a filter is misspelt, or
    nothing is left to search for."""
    typed = _asked(typed)
    trace = read_trace(typed)
    if trace is not None:
        return _of_trace(typed, trace)
    read = _Reading()
    for found in _TOKEN.finditer(typed.translate(_QUOTES)):
        read.take(found)
    names = read.wanted.get("symbols", [])
    text = " ".join(read.words) or " ".join(name for name in names if not has_wildcard(name))
    if not (read.phrases or read.wanted or read.excluded or read.changed):
        text = typed  # a text that is pasted is searched as it is, line ends included
    if not (text or read.wanted or read.changed):
        raise WrongQuestion(f"there is nothing to search for in {typed!r}; add a word, or what should be listed")
    words = [word.strip(_MARKS) for word in read.bare]
    places = tuple(place for place in map(_place, words) if place is not None)
    symbols = tuple(dict.fromkeys(name for name in map(_symbol, words) if name))
    return Question(
        typed=typed,
        text=text,
        kind=_kind(words, places, symbols),
        phrases=tuple(dict.fromkeys(read.phrases)),
        wanted=_narrowing(read.wanted),
        excluded=_narrowing(read.excluded),
        changed=read.changed,
        symbols=symbols,
        places=tuple(dict.fromkeys(places)),
        notes=tuple(read.notes),
    )


def plain_question(typed: str) -> Question:
    """A question whose words are words: for texts that were never written as a query. Raises WrongQuestion where there
    are none."""
    typed = _asked(typed)
    return Question(typed=typed, text=typed, kind=QuestionKind.PROSE)


def _asked(typed: str) -> str:
    asked = without_paste(typed)
    if not asked.strip():
        raise WrongQuestion(_EMPTY)
    return asked


def _of_trace(typed: str, trace: Trace) -> Question:
    """Quotes and colons of a trace are its own: nothing in it is a filter."""
    return Question(
        typed=typed,
        text=trace.text,
        kind=QuestionKind.ERROR,
        symbols=trace.symbols,
        places=trace.places,
    )


@dataclass(slots=True)
class _Reading:
    """What was read so far. `words` is what is searched for, phrases included; `bare` are those outside of quotes."""

    words: list[str] = field(default_factory=list)
    bare: list[str] = field(default_factory=list)
    phrases: list[str] = field(default_factory=list)
    wanted: dict[str, list[str]] = field(default_factory=dict)
    excluded: dict[str, list[str]] = field(default_factory=dict)
    changed: Period = ALWAYS
    notes: list[str] = field(default_factory=list)

    def take(self, found: re.Match[str]) -> None:
        if found["phrase"] is not None:
            self._take_phrase(found)
        elif found["key"] is not None and self._is_filter(found):
            value = found["value"] or _ESCAPE.sub(r"\1", found["quoted_value"] or "")
            if not value.strip():
                raise WrongQuestion(f"{found.group()}: the filter is empty; name what it should let through")
            if found["key"].lower() in DATE_KEYS:
                self._take_date(found, value)
                return
            side = self.excluded if found["minus"] else self.wanted
            side.setdefault(FILTER_KEYS[found["key"].lower()], []).append(value)
        else:
            self._take_word(found.group())

    def _take_phrase(self, found: re.Match[str]) -> None:
        phrase = " ".join(_ESCAPE.sub(r"\1", found["phrase"]).split())
        if found["not"] and phrase:
            raise WrongQuestion(
                f"{found.group()}: a phrase cannot be excluded; exclude with -path:, -kind: or -symbol:"
            )
        if not any(character.isalnum() for character in phrase):
            self.notes.append(f"{found.group()} has no word, so it is not looked for")
            return
        self.phrases.append(phrase)
        self.words.append(phrase)

    def _take_date(self, found: re.Match[str], value: str) -> None:
        key = found["key"].lower()
        if found["minus"]:
            other = next(known for known in DATE_KEYS if known != key)
            raise WrongQuestion(f"{found.group()}: a date cannot be excluded; write {other}:{value}")
        try:
            self.changed = self.changed.within(Period(**{key: moment(value)}))
        except PeriodError as error:
            quoted = found.group().replace('"', "")
            raise WrongQuestion(f'{found.group()}: {error}. To look for the text, write "{quoted}"') from error

    def _take_word(self, word: str) -> None:
        if word.startswith('"'):
            self.notes.append(f"the quote before {word[1:]!r} is not closed, so its words are searched one by one")
        self.words.append(word)
        self.bare.append(word)

    def _is_filter(self, found: re.Match[str]) -> bool:
        """Raises WrongQuestion for a slip in a key; other words before a colon are words."""
        key = found["key"].lower()
        if key in _KEYS:
            return True
        near = difflib.get_close_matches(key, _KEYS, n=1, cutoff=_NEAR_KEY) if len(key) >= _SHORTEST_TYPO else []
        if near:
            quoted = found.group().replace('"', "")
            raise WrongQuestion(
                f'unknown filter {found["key"]}:; did you mean {near[0]}:? To look for the text, write "{quoted}"'
            )
        return False


def _narrowing(values: dict[str, list[str]]) -> Narrowing:
    return (
        Narrowing(**{name: tuple(dict.fromkeys(found)) for name, found in values.items()}) if values else (UNNARROWED)
    )


def _kind(words: list[str], places: tuple[CodePlace, ...], symbols: tuple[str, ...]) -> QuestionKind:
    if words and len(places) == len(words):
        return QuestionKind.PATH
    one_name = len(words) == 1 and words[0][:1].isupper() and _IDENTIFIER.fullmatch(words[0]) is not None
    if one_name or (words and len(symbols) == len(words) <= _MOST_SYMBOLS):
        return QuestionKind.SYMBOL
    return QuestionKind.PROSE


def _place(word: str) -> CodePlace | None:
    """The file that a word names, with its line where it has one: `src/A.cs:12`, `A.cs(12,5)`, `src/A.cs#L12`."""
    found = _WITH_LINE.fullmatch(word.lstrip(_WRAPS) if _LINE_IN_BRACKETS.search(word) else word.strip(_WRAPS))
    if found is None:
        return None
    path = found["path"].replace("\\", "/")
    name = path.rpartition("/")[2]
    stem, dot, extension = name.rpartition(".")
    if not (dot and stem and extension) or "://" in path or detect_language(name) == TEXT != _text_extension(extension):
        return None
    line = found["line"] or found["hash"] or found["paren"]
    return CodePlace(path, int(line) if line else 0)


def _text_extension(extension: str) -> str:
    return TEXT if extension.lower() in ("txt", "text", "log") else ""


def _symbol(word: str) -> str:
    """The identifier that a word is, where only code is written so (`OrderService`, `max_retries`, `Order.Cancel()`);
    '' for a word of prose."""
    bare = word.strip(_WRAPS) if not word.endswith(("()", ">", "[]")) else word
    plain = _DECORATION.sub("", _DECORATION.sub("", bare))
    parts = re.split(r"\.|::", plain)
    if not all(_IDENTIFIER.fullmatch(part) for part in parts):
        return ""
    called = plain != bare
    is_code = (
        called or any(_INNER_CAPITAL.search(part) for part in parts) or (len(parts) > 1 and parts[-1][0].isupper())
    )
    return plain.replace("::", ".") if is_code and _place(word) is None else ""
