"""Parses a typed question without a model: its words, filters, phrases, and the names and places in it. Pure.

The filters are those of code search tools (`kind:Service -path:tests/ lang:csharp symbol:OrderService "exact text"`)
and the same as the options of the commands. What people paste with a question and do not ask about goes first: colours
of a terminal, and the marks of an answer. A search would look for them, and the check whether there is enough evidence
would miss them in it.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, field, replace
from typing import Any

from rag_assets.errors import QueryError, WrongQuestion
from rag_assets.index.vectors.filters import (
    ALWAYS,
    METADATA,
    NO_FILTERS,
    Period,
    PeriodError,
    SearchFilters,
    has_wildcard,
    moment,
)
from rag_assets.search import CodePlace, Question, QuestionKind

FILTER_KEYS = {
    "kind": "kinds",
    "path": "paths",
    "file": "paths",
    "lang": "languages",
    "language": "languages",
    "symbol": "symbols",
    "source_type": "source_types",
    **{known.name: name for name, known in METADATA.items()},
}
"""What may stand before a colon, in any letter case, and its field of `SearchFilters`; `file` as in Sourcegraph."""

DATE_KEYS = ("since", "before")
"""What may stand before a date, and the field of `SearchFilters` it is; as in `git log`."""

_KEYS = (*FILTER_KEYS, *DATE_KEYS)
_MISSPELT_KEYS = tuple(key for key in _KEYS if FILTER_KEYS.get(key) not in METADATA)
"""Those that a slip is compared with: `state:` and `main:` are seldom meant as `stage:` and `domain:`."""
_EMPTY = "the query is empty; ask a question or name an identifier"
_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"'})  # a text editor's, as pasted questions have them
_QUOTED = r'"(?P<{0}>(?:[^"\\]|\\.)*)"'
_TOKEN = re.compile(
    rf"(?P<minus>-?)(?P<key>[A-Za-z_]+):(?:{_QUOTED.format('quoted_value')}|(?P<value>[^\s\":/][^\s\"]*))(?=\s|$)"
    rf"|(?P<not>-?){_QUOTED.format('phrase')}(?=[.,;:!?]*(?:\s|$))"
    r"|(?P<word>\S+)"
)
# A value begins with neither `:` nor `/`: `std::sort` and `https://…` are no filters.
_ESCAPE = re.compile(r"\\(.)")
_NEAR_KEY = 0.8  # of equal letters: `knd`, `langs`, `pth`, `symbols`; not `king`, `math`, `long`
_SHORTEST_TYPO = 3  # letters; `id:5` is no slip of anything

_IDENTIFIER = re.compile(r"@?[A-Za-z_]\w*(?:`\d+)?")
_ONE_NAME = re.compile(rf"{_IDENTIFIER.pattern}(?:-\w+)*")  # `Get-GitStatus` too
_DECORATION = re.compile(r"\([^()]*\)$|<[^<>]*>$|\[\]$")  # of a call, of a generic type, of an array
_INNER_CAPITAL = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]|^I[A-Z]|_\w")
_MOST_SYMBOLS = 4  # names in a question that is no sentence
_WITH_LINE = re.compile(
    r"(?P<path>.+?)(?::(?P<line>\d{1,9})(?:[:-]\d+)?|#L(?P<hash>\d{1,9}).*|\((?P<paren>\d{1,9})(?:,\d+)*\))?"
)
_LINE_IN_BRACKETS = re.compile(r"\(\d+(?:,\d+)*\)$")
_LINE_SAID = re.compile(
    r"\blines? (?P<first>\d{1,9})(?: ?(?:-|–|to) ?\d{1,9})? (?:in|of) (?:the )?(?:file )?(?P<of>\S+)"
    r"|(?P<in>\S+\.\w+),? (?:(?:at|in|on) )?lines? (?P<line>\d{1,9})\b",
    re.IGNORECASE,
)
"""A line in words, beside the name of its file."""
_MARKS = ".,;!?"
_TEXT_EXTENSIONS = frozenset({"txt", "text", "log"})
_ENVIRONMENT = ("process.env", "import.meta.env")  # of JavaScript, and no files
_WRAPS = "()[]{}'`"
_OF_TRACES = frozenset('(:"')  # no frame, message of a compiler or exception is without them

_TERMINAL = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours and moves of the cursor (ECMA-48 §5.4)
    r"|\x1b[\]PX^_][^\x07\x1b]{0,2000}(?:\x07|\x1b\\)"  # titles, links and other strings
    r"|\x1b[ -/]*[0-~]?"
    r"|\^\[\[[0-9;]*[A-Za-z]"  # as terminals show what they do not obey
)
_COLOUR = re.compile(r"\[(?:[01234579]|[2349]\d|10\d|[34]8;[25];[\d;]+)(?:;\d{1,3})*m(?!\])")
"""A colour whose escape character was lost on the way."""

_UNSEEN = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")
_COURTESY = re.compile(
    r"(?:^|(?<=[.!?\n]))\s{0,40}+(?:"
    r"(?:hi|hello|hey|dear|good (?:morning|afternoon|evening))(?: (?:there|all|everyone|everybody|folks|guys|team))?,?"
    r"|(?:many )?(?:thanks|thank you|thx|cheers)(?: (?:a lot|so much|very much|in advance|again|for (?:any|your) \w+))*"
    r"|any (?:ideas?|help|hints?|pointers?|suggestions?)(?: (?:is|are|would be) (?:welcome|appreciated))?"
    r"|(?:can|could) (?:someone|somebody|anyone|anybody|you) (?:please )?(?:help|explain)(?: me)?(?: out)?"
    r"|please (?:help|advise)"
    r")\s*(?:(?:(?<=,)|[.!?]+)(?=\s|$)|$)",
    re.IGNORECASE,
)
"""A sentence that greets, thanks or begs, and asks nothing."""
_MEANT = re.compile(r"\"[^\"\n]*\"|“[^”\n]*”|`[^`\n]*`")
"""What stands between quotes or backticks is asked for as it is."""
_ASKING = re.compile(r"\s*(?:are|do|does|how|is|what|when|where|which|who|why)(?!n['’]t)\b", re.IGNORECASE)
_CONTRACTED = re.compile(r"\b(how|it|that|there|they|what|when|where|which|who|why)['’](s|re)\b", re.IGNORECASE)
_LONG = {"s": "is", "re": "are"}
_DEALING = re.compile(
    r"^(?P<list>\W*(?:which|what|list|show)\b[\w /-]{0,40}? (?:(?P<called>apis|endpoints|routes|urls)|\w+(?<!\bi)s))"
    r"(?: that| which)? (?:(?:deal|dealing|have to do) with|concern(?:ing)?"
    r"|(?(called)(?:handle|manage|cover|work with|relate to|are related to"
    r"|(?:exist|are there|are responsible) (?:for|to) (?:handl|manag)\w+)|(?!)))"
    r" (?=(?!errors?\b|exceptions?\b)\w)",
    re.IGNORECASE,
)
"""What is about something, however a question says so; of endpoints also what they do with it."""
_LONGEST_WORDING = 300
_SAYS_MORE = re.compile(
    r"\b(?:are|do|does|how|if|is|please|what|when|where|whether|which|who|why|you)\b"
    r"|\b(?:find|locate)\b.+\b(?:code|logic|implementation)\b|\b(?:have|like|need|trying|want) to\b",
    re.IGNORECASE,
)
_DIRECT = re.compile(
    r"\s*(?:(?:how|what|when|where|who|why) (?:are|can|could|did|do|does|happens|is|many|much|should|was|were|will)"
    r"|which|are|does|is|who|what(?!.* (?:are|comes? from|do|does|is|looks? like|means?|returns?|works?)\W*$))\b",
    re.IGNORECASE,
)
_OF_CODE = re.compile(
    r"\b(?:care|cares|charge|class|code|contains?|deals?|find|implementation|implements|logic|responsible)\b"
    r"|\b(?:absence|behaviou?r|behave|case|consequence|effect|event|outcome|react|reason|respond|result)\b"
    r"|^\W*what (?:do|does|will|would) .+ do (?:if|in|when)\b"
    r"|\b(?:approach|being|dbs?|get|mechanism|obtains?|part of|permitted|piece of|process|procedure|strategy"
    r"|technique)\b|ing\b.+\bwork\b"
    r"|^\W*(?:how|when|where|why) (?:do|does) (?:our|the|this|we|you)\b|^\W*where in\b"
    r"|^\W*what (?:[\w-]+ ){1,4}(?:are|can|do|have|must|should)\b"
    r"|\b(?:DI|execute|frequently|invoke[ds]|launch|occurs?|utili[sz]\w+)\b"
    r"|^\W*(?:how|where) (?:is|are) (?:called|configured|created|declared|defined|handled|implemented|kept|located"
    r"|registered|saved|set|stored|used|written) (?:the|an?|our|[A-Z])",
    re.IGNORECASE,
)
_FILLED = re.compile(
    r"\b(?:actually|at the moment|basically|by the way|currently|exactly|for me|if possible|please|really|right now"
    r"|these days|though|in (?:here|the|this|our|your) \w+)\b",
    re.IGNORECASE,
)
"""What `wording` may shorten, and what it need not look at."""
_FEW_LETTERS, _SENTENCE = 3, 4
"""What so many words tell of with so few letters in quotes (`words like "HR"`) is an example, and no text to find."""


def understand(typed: str) -> Question:
    """Reads a question, without what was only pasted with it. Raises WrongQuestion where a filter is misspelt, or
    nothing is left to search for."""
    typed = _asked(typed)
    if not _OF_TRACES.isdisjoint(typed):
        from rag_assets.search.stack_traces import read_trace  # start-up budget: few questions can be a trace

        trace = read_trace(typed)
        if trace is not None:
            # quotes and colons of a trace are its own: nothing in it is a filter
            return Question(
                typed=typed, text=trace.text, kind=QuestionKind.ERROR, symbols=trace.symbols, places=trace.places
            )
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
    phrases = [one for one in read.phrases if len(one) > _FEW_LETTERS or len(words) < _SENTENCE]
    places = _with_lines(tuple(place for place in map(_place, words) if place is not None), " ".join(words))
    symbols = tuple(dict.fromkeys(name for name in map(_symbol, words) if name))
    return Question(
        typed=typed,
        text=text,
        kind=_kind(words, places, symbols),
        phrases=tuple(dict.fromkeys(phrases)),
        wanted=_filters(read.wanted, read.changed),
        excluded=_filters(read.excluded),
        symbols=symbols,
        places=tuple(dict.fromkeys(places)),
        notes=tuple(read.notes),
    )


def plain_question(typed: str) -> Question:
    """A question whose words are words: for texts that were never written as a query. Raises WrongQuestion where there
    are none."""
    typed = _asked(typed)
    return Question(typed=typed, text=typed, kind=QuestionKind.PROSE)


def understood_or_plain(text: str) -> Question:
    """A text that nobody may have written as a query, read as one; where something in it is only like a filter, its
    words are words. Raises WrongQuestion where there are none."""
    try:
        return understand(text)
    except QueryError:
        return plain_question(text)


def _asked(typed: str) -> str:
    asked = without_paste(typed)
    if not asked.strip():
        raise WrongQuestion(_EMPTY)
    bare = _COURTESY.sub("", asked)
    if not bare.strip():
        return asked
    written = _written_out(bare)
    if len(written) > _LONGEST_WORDING or "\n" in written.strip() or _MEANT.search(written):
        return written
    is_plain = _DIRECT.match(written) and not _FILLED.search(written)
    if not _SAYS_MORE.search(written) or (is_plain and not _OF_CODE.search(written)):
        return written
    from rag_assets.search.wording import plainly  # start-up budget: most questions are asked plainly

    return plainly(written)


def _written_out(text: str) -> str:
    """A question with `what is` for `what's`, and `are about` for `deal with`; a message that is pasted stays as it
    is."""
    text = _DEALING.sub(r"\g<list> are about ", text) if "\n" not in text else text
    if ("'" not in text and "’" not in text) or not _ASKING.match(text) or _MEANT.search(text):
        return text
    return _CONTRACTED.sub(lambda found: f"{found[1]} {_LONG[found[2].lower()]}", text)


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
        known = _MISSPELT_KEYS if len(key) >= _SHORTEST_TYPO else ()
        near = difflib.get_close_matches(key, known, n=1, cutoff=_NEAR_KEY)
        if near:
            quoted = found.group().replace('"', "")
            raise WrongQuestion(
                f'unknown filter {found["key"]}:; did you mean {near[0]}:? To look for the text, write "{quoted}"'
            )
        return False


def _filters(values: dict[str, list[str]], changed: Period = ALWAYS) -> SearchFilters:
    if not (values or changed):
        return NO_FILTERS
    known: dict[str, Any] = {name: tuple(dict.fromkeys(found)) for name, found in values.items()}
    return SearchFilters(**known, since=changed.since, before=changed.before)


def _kind(words: list[str], places: tuple[CodePlace, ...], symbols: tuple[str, ...]) -> QuestionKind:
    if words and len(places) == len(words):
        return QuestionKind.PATH
    one_name = len(words) == 1 and words[0][:1].isupper() and _ONE_NAME.fullmatch(words[0]) is not None
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
    if not (dot and stem and extension) or "://" in path or path.endswith(_ENVIRONMENT):
        return None
    from rag_assets.languages.detection import TEXT, detect_language  # start-up budget: few questions name a file

    if detect_language(name) == TEXT and extension.lower() not in _TEXT_EXTENSIONS:
        return None
    line = found["line"] or found["hash"] or found["paren"]
    return CodePlace(path, int(line) if line else 0)


def _with_lines(places: tuple[CodePlace, ...], text: str) -> tuple[CodePlace, ...]:
    """The places with the lines that a text says in words: `line 42 of A.cs`, `A.cs, line 42`."""
    if not places:
        return ()
    lines: dict[CodePlace | None, int] = {}
    for found in _LINE_SAID.finditer(text):
        lines[_place((found["of"] or found["in"]).strip(_MARKS))] = int(found["first"] or found["line"])
    return tuple(replace(place, line=lines.get(place, place.line)) for place in places)


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


def names_in(text: str) -> tuple[str, ...]:
    """The identifiers of a text, each once: what only code is written as."""
    return tuple(dict.fromkeys(filter(None, (_symbol(word.strip(_MARKS)) for word in text.split()))))


def without_paste(text: str) -> str:
    """The question without terminal escapes, and without citations and prefixes of the protocol outside of quotes; one
    that has nothing else keeps them. A text without any is returned as it is."""
    seen = _UNSEEN.sub("", _TERMINAL.sub("", text))
    made = []
    at = 0
    for meant in _MEANT.finditer(seen):
        made += [_bare(seen[at : meant.start()]), meant.group()]
        at = meant.end()
    made.append(_bare(seen[at:]))
    asked = "".join(made)
    if asked == text:
        return text
    return asked if any(char.isalnum() for char in asked) else seen


def _bare(text: str) -> str:
    uncoloured = _COLOUR.sub("", text)
    if text.isascii() and "[" not in text and "<" not in text:
        return uncoloured
    from rag_assets.contracts.protocol_markers import without_markers  # start-up budget: few questions have brackets

    return without_markers(uncoloured)
