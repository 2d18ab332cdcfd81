"""What a question takes for granted, and the passages that are to answer it do not say: an amount ("why is it 30
days?"), an environment that has no files ("in staging"). They then show how it is, and are no answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from posixpath import commonpath

from rag_assets.answer.passage_ranking import RankedPassages
from rag_assets.answer.question_analysis import root, roots_of

_WHY = re.compile(r"\W*(?:why|how come|for what reason|what(?:'s| is) the reason)\b", re.IGNORECASE)
_COUNTS = (
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen"
    " nineteen twenty"
)
_WORDS = {word: at for at, word in enumerate(_COUNTS.split(), 2)} | {"thirty": 30, "sixty": 60, "ninety": 90}
_STATED = re.compile(
    rf"(?<![\w.,:/#@+$-])\$?(?:(?P<number>\d[\d,_]*(?:\.\d+)?)(?P<unit>[A-Za-z%]*)|(?P<word>{'|'.join(_WORDS)}))"
    r"(?![\w-]*\d)(?=\W)(?:[\s-]+(?P<noun>[A-Za-z]+))?",
    re.IGNORECASE,
)
_SUPPOSED = re.compile(r"\b(?:although|because|but|even|if|once|though|when|while)\b", re.IGNORECASE)
"""Behind these a question tells of a case, which no text need say."""
_OF_NO_AMOUNT = re.compile(r"st|nd|rd|th|d|fa|xx|bit|x", re.IGNORECASE)
"""What makes a name of a number: `2nd`, `2FA`, `4xx`."""
_NUMBERED = re.compile(
    r"\b(?:adr|appendix|article|chapter|figure|issue|lines?|page|part|phase|pr|release|request|rfc|rule|section|stage|step|ticket"
    r"|type|version)s? #?$",
    re.IGNORECASE,
)
"""What a number stands behind as its name."""
_OF_STATUS = re.compile(r"\b(?:codes?|errors?|https?|redirect\w*|respon\w+|returns?|status\w*)\b", re.IGNORECASE)
_SECONDS = {
    "millisecond": 0.001,
    "second": 1,
    "minute": 60,
    "hour": 3600,
    "day": 86400,
    "week": 604800,
    "month": 2592000,
    "year": 31536000,
}
_SHORT = {"ms": "millisecond", "s": "second", "sec": "second", "min": "minute", "h": "hour", "d": "day"}
_ONCE = r"an?|one|each|every|per|hourly|daily|nightly|weekly|monthly|yearly|annual\w*"
_TIMES = frozenset(map(root, _SECONDS))
_BEHIND = re.compile(r"[A-Za-z]+")
_FEWEST_ABOUT, _MOST_COUNTED = 2, 12
_NEAR = 24  # characters behind a number, in which its unit is
_MOST_PROVING = 3

_ENVIRONMENTS: Mapping[str, str] = {
    "production": "production|prod|prd|live",
    "staging": "staging|stage|stg",
    "development": "development|develop|dev",
    "test": "testing|test|tst",
    "QA": "qa",
    "UAT": "uat",
    "pre-production": "pre-?prod(?:uction)?",
    "acceptance": "acceptance|acc",
    "sandbox": "sandbox",
    "demo": "demo",
    "review": "review",
    "local": "local",
}
_OF_BASE = frozenset({"production", "development", "local"})
"""What holds where no file is of it: the base is made for one of these."""
_ANY = "|".join(f"(?P<e{at}>{names})" for at, names in enumerate(_ENVIRONMENTS.values()))
_STAGE = r" (?:cluster|env|environment|slot|stage|tier)\b"
_IN_ENVIRONMENT = re.compile(
    rf"\b(?:for|in|of|on|to|with) (?:a |our |the )?(?:{_ANY})"
    rf"(?:(?<=staging)|(?<=qa)|(?<=uat)|(?<=prod)|(?<=e-production)|(?<=eproduction)|(?<=acceptance)|(?={_STAGE}))"
    rf"(?=\W*$|,|{_STAGE})",
    re.IGNORECASE,
)
"""A word of more meanings (`review`) only where it says what it is."""
_TOKEN = re.compile(rf"(?<![A-Za-z])(?:{_ANY})(?![A-Za-z])", re.IGNORECASE)
_CONFIGURES = re.compile(
    r"(?:\.(?:bicepparam|config|env|ini|json|properties|sh|tf|tfvars|toml|xml|ya?ml)|(?:^|/)\.?env\.[\w.-]+)$",
    re.IGNORECASE,
)


def takes_for_granted(question: str) -> bool:
    """Whether a question may state something that has to be so."""
    return _WHY.match(question) is not None or _IN_ENVIRONMENT.search(question) is not None


def premise_unsaid(question: str, found: RankedPassages, told: Sequence[str], paths: Iterable[str]) -> str:
    """What a question states and neither the passages to quote nor the lines that are `told` say; '' where they say
    it, or nothing is stated. `paths` are those of all files."""
    if _WHY.match(question):
        return _amount_unsaid(question, found, told)
    asked = _IN_ENVIRONMENT.search(question)
    return _environment_unsaid(_named(asked), found, told, paths) if asked is not None else ""


def _amount_unsaid(question: str, found: RankedPassages, told: Sequence[str]) -> str:
    quoted = [found.passages[at] for at in found.chosen()]
    texts = [*told, *(f"{one.evidence.path}\n{one.text}" for one in quoted)]
    of_prose = [False] * len(told) + [one.is_prose for one in quoted]
    stating = _SUPPOSED.split(question.partition("?")[0])[0]
    for stated in _STATED.finditer(f"{stating} ") if texts else ():
        number, unit, noun = stated["number"], stated["unit"] or "", stated["noun"] or ""
        if (unit and _OF_NO_AMOUNT.fullmatch(unit)) or _NUMBERED.search(stating[: stated.start()]):
            continue
        amount = float(re.sub("[,_]", "", number)) if number else float(_WORDS[stated["word"].lower()])
        if number and not unit and 100 <= amount < 600 and _OF_STATUS.search(question):
            continue
        kind = _SHORT.get(unit.lower()) or next((one for one in _SECONDS if root(noun) == root(one)), "")
        is_count = amount <= _MOST_COUNTED and noun.endswith("s") and not kind and noun.lower() != "times"
        about = frozenset(word.root for word in found.words) - roots_of(stated.group())
        forms = _forms_of_time(amount, kind) if kind else [(_pattern(amount, unit), {root(noun)})]
        is_said = any(
            _says(text, forms, about, alone=not (kind and is_prose))
            for text, is_prose in zip(texts, of_prose, strict=True)
        )
        if is_count or not (number or kind or noun.lower() in ("percent", "times")):  # of few things each is named
            is_said = is_said or not noun or not _says_otherwise(noun, _pattern(amount), texts)
        if not is_said:
            words = (number or stated["word"]) + unit, noun if kind or noun.endswith("s") else ""
            return f"nothing that was found says {' '.join(filter(None, words))}"
    return ""


def _forms_of_time(amount: float, kind: str) -> list[tuple[re.Pattern[str], set[str]]]:
    """How a text may write a time, and the units that then stand behind the number."""
    seconds = amount * _SECONDS[kind]
    minutes, rest = divmod(round(seconds), 60)
    clock = re.compile(rf"\b{minutes // 60 % 24:02d}:{minutes % 60:02d}:{rest:02d}\b")
    each = [
        (seconds / one, {root(name), *(short for short, of in _SHORT.items() if of == name)})
        for name, one in _SECONDS.items()
    ]
    return [(clock, set[str]()), *((_pattern(number), units) for number, units in each if number >= 1)]


def _says(text: str, forms: Sequence[tuple[re.Pattern[str], set[str]]], about: frozenset[str], *, alone: bool) -> bool:
    """Whether a text, below its path, says an amount with its unit near words that the question has beside it; or in
    digits `alone`, on the line of some, as code does. The path may say them too, but one."""
    path, *lines = text.casefold().split("\n")
    named = {one for one in about if one in path}
    for at, line in enumerate(lines):
        for said, units in ((said, units) for form, units in forms for said in form.finditer(line)):
            behind = _BEHIND.findall(f"{line[said.end() :]} {' '.join(lines[at + 1 : at + 2])}"[:_NEAR])
            kinds = set(map(root, behind))
            if not (kinds & units or ((alone or not units) and said.group()[0].isdigit() and not kinds & _TIMES)):
                continue
            near = " ".join(lines[max(0, at - 1) : at + 2] if kinds & units else [line])
            told = {one for one in about if one in near}
            if told and len(told | named) >= min(len(about), _FEWEST_ABOUT):
                return True
    return False


def _pattern(amount: float, unit: str = "") -> re.Pattern[str]:
    """How a text may write an amount."""
    digits = re.escape(f"{amount:g}") if amount % 1 else f"{int(amount):,}".replace(",", "[,_.]?")
    made = [
        rf"(?<![\w.-])0*{digits}(?:\.0+)?(?!\d|[./]\d|[A-Za-z]{{4}}|-[\dA-F]{{4}})"
        + (rf"\s*{re.escape(unit)}" if unit else "")
    ]
    made += [rf"\b{word}\b" for word, value in _WORDS.items() if value == amount and not unit]
    made += [rf"\b(?:{_ONCE})\b"] if amount == 1 and not unit else []
    return re.compile("|".join(made), re.IGNORECASE)


def _says_otherwise(noun: str, said: re.Pattern[str], texts: Iterable[str]) -> bool:
    """Whether texts say how many there are, and never so many: few things that are two are called so."""
    stem = re.escape(noun[:-1] if noun.endswith("s") else noun)
    counted = re.compile(
        rf"(?<![\w.])(?P<before>\d+|{'|'.join(_WORDS)})\s+{stem}s?\b|\b\w*{stem}s?[\"']?\s*[:=]?\s*[\"']?(?P<behind>\d+)(?![\w.])",
        re.I,
    )
    amounts = [one["before"] or one["behind"] for text in texts for one in counted.finditer(text)]
    return bool(amounts) and not any(map(said.fullmatch, amounts))


def _named(found: re.Match[str]) -> str:
    """The environment that a word means."""
    return next(name for at, name in enumerate(_ENVIRONMENTS) if found[f"e{at}"])


def _environment_unsaid(name: str, found: RankedPassages, told: Sequence[str], paths: Iterable[str]) -> str:
    """That files of configuration are of other environments, where what is quoted neither names this one nor lies next
    to files of it."""
    proving = [found.passages[at] for at in found.chosen(_MOST_PROVING)]
    texts = [*(f"{one.evidence.path}\n{one.text}" for one in proving), *told]
    if not proving or any(_named(one) == name for text in texts for one in _TOKEN.finditer(text)):
        return ""
    families: dict[tuple[str, str], set[str]] = {}
    for path, family, environment in _of_environments(paths):
        families.setdefault((path, family), set()).add(environment)
    several = {key: known for key, known in families.items() if len(known) > 1}
    folder = proving[0].evidence.path.rpartition("/")[0]
    near = max((_shared(folder, key[0]) for key in several), default=0)
    others = set[str]().union(*(known for key, known in several.items() if _shared(folder, key[0]) == near))
    if not others or name in others or name in _OF_BASE:
        return ""
    *first, last = sorted(others)
    listed = f"{', '.join(first)} and {last}" if first else last
    return f"no file of configuration is of {name}, those there are of {listed}"


def _of_environments(paths: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """(folder, the rest of the name, environment) of each file of configuration that is called after one, or whose
    folder is."""
    for path in paths:
        if not _CONFIGURES.search(path):
            continue
        folder, _, name = path.rpartition("/")
        above, _, last = folder.rpartition("/")
        if (of := _TOKEN.search(name)) is not None and not name.endswith(".tf"):
            yield folder, f"{name[: of.start()]}*{name[of.end() :]}", _named(of)
        elif (of := _TOKEN.fullmatch(last)) is not None:
            yield above, f"*/{name}", _named(of)


def _shared(one: str, other: str) -> int:
    """How many folders two have in common, from the root."""
    both = commonpath([one, other]) if one and other else ""
    return len(both.split("/")) if both else 0
