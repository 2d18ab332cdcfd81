"""What a file says of itself in its front matter, else what the configuration says of its path (025 §3.2, §3.4, §3.6).

Each field by itself: front matter first, then the first rule of the configuration that matches and has the field. The
language of a document that nobody names is detected. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from rag_assets.classification.rule_packs import glob_pattern
from rag_assets.contracts.identity import slug
from rag_assets.contracts.kinds import RagContentType
from rag_assets.contracts.retrieval import PRIORITIES
from rag_assets.contracts.source_file import FileMetadata
from rag_assets.identifiers import word_set
from rag_assets.languages.detection import DETECTS_LANGUAGES, DOCUMENTS, source_type
from rag_assets.languages.documents.text import front_matter

if TYPE_CHECKING:
    from rag_assets.settings.repositories import MetadataSettings

MAX_VALUE_CHARS = 200
"""Of one value: a name or a tag. Longer ones are prose in the wrong place."""
_MOST_TAGS = 50

_KEYS = {
    "contenttype": "content_type",
    "businessdomainkey": "business_domain_key",
    "businessdomain": "business_domain_key",
    "domain": "business_domain_key",
    "businessdomainarea": "business_domain_area",
    "domainarea": "business_domain_area",
    "area": "business_domain_area",
    "audience": "audience",
    "persona": "persona",
    "stage": "stage",
    "language": "language",
    "lang": "language",
    "priority": "priority",
    "labelslugs": "label_slugs",
    "labels": "label_slugs",
    "tags": "label_slugs",
    "keywords": "label_slugs",
    "labelids": "label_ids",
}
"""Keys of front matter without case, blanks, `-` and `_`; where several mean one field, the first of these counts."""

_LANGUAGE_TAG = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")
_NOT_LETTERS = re.compile(r"[\s_-]")


def file_metadata(rules: Sequence[MetadataSettings], path: str, language: str, text: str) -> FileMetadata | None:
    """None where nobody says anything. `rules` are those of the repository, in their order. Raises PatternError for a
    glob that cannot be used."""
    found = FileMetadata()
    is_document = source_type(language) in DOCUMENTS
    if is_document:
        found = said_in(front_matter(text))
    for rule in rules:
        if any(_pattern(glob).fullmatch(path) for glob in rule.paths):
            found = _completed(found, rule.metadata())
    if is_document and not found.language:
        found = replace(found, language=detected_language(text))
    return found if found != FileMetadata() else None


_pattern = cache(glob_pattern)


def _completed(found: FileMetadata, other: FileMetadata) -> FileMetadata:
    """`found` with the fields of `other` that it lacks."""
    missing = {f.name: getattr(other, f.name) for f in fields(FileMetadata) if not getattr(found, f.name)}
    return replace(found, **missing)


def said_in(matter: Mapping[str, Any]) -> FileMetadata:
    """What front matter says; values that cannot be meant are left out."""
    written = {_NOT_LETTERS.sub("", key).lower(): value for key, value in matter.items()}
    known: dict[str, Any] = {}
    for key, name in _KEYS.items():
        if key in written and name not in known:
            value = _READERS.get(name, _text)(written[key])
            if value:
                known[name] = value
    return FileMetadata(**known)


def _text(value: object) -> str:
    """One value as text, several with commas between them; '' for anything else."""
    values = _texts(value)
    return ", ".join(values)[:MAX_VALUE_CHARS]


def _texts(value: object) -> tuple[str, ...]:
    values = value if isinstance(value, list) else [value]
    said = (" ".join(str(one).split()) for one in values if isinstance(one, str | int | float) and one is not True)
    return tuple(dict.fromkeys(one[:MAX_VALUE_CHARS] for one in said if one))[:_MOST_TAGS]


def _tags(value: object) -> tuple[str, ...]:
    """Slugs of a list, or of a text with commas."""
    values = _texts(value.split(",") if isinstance(value, str) else value)
    return tuple(dict.fromkeys(slug(one) for one in values if any(map(str.isalnum, one))))


def _language(value: object) -> str:
    return value if isinstance(value, str) and _LANGUAGE_TAG.fullmatch(value) else ""


def _priority(value: object) -> int:
    return value if isinstance(value, int) and value is not True and value in PRIORITIES else 0


def _content_type(value: object) -> RagContentType:
    return RagContentType.named(value) or RagContentType.UNKNOWN if isinstance(value, str) else RagContentType.UNKNOWN


_READERS: Mapping[str, Callable[[object], Any]] = {
    "content_type": _content_type,
    "language": _language,
    "priority": _priority,
    "label_slugs": _tags,
    "label_ids": _texts,
}

_ENGLISH = frozenset(
    ["the", "and", "to", "of", "is", "this", "that", "for", "with", "you", "are", "from", "by", "it", "be"]
)
_ELSEWHERE = word_set(
    "der die das und ist nicht mit ein eine den von auf wird le les des est une dans pour que du et sur qui el los",
    "las una por con del como se il che di della per non sono un os uma com da het een van dat niet voor zijn op",
    "en och att det som er ikke av med nie jest na yang dan untuk dengan ini ve bir bu ja on ei az hogy ang ng wa",
)
"""Function words of languages that are written like English."""
_WORD = re.compile(r"[^\W\d_]+")
_CLEARLY_ENGLISH = 0.1
"""The share of these words: .2 to .4 in English prose, .04 in other languages that have a few of them."""
_PERHAPS_ANOTHER = 0.03
"""The least share of words, or of letters outside ASCII, that another language has."""
_NO_LANGUAGE = "zxx"  # keys, hashes
_DETECTED_CHARS = 4_000
_LEAST_LETTERS = 100
"""Of prose: fewer are names and commands as often as sentences."""
_SURE = 0.9
_CODE = re.compile(r"^(?:```|~~~).*?^(?:```|~~~)|`[^`\n]*`|https?://\S+|<[^<>\n]{1,200}>|^(?: {4}|\t).*$", re.M | re.S)
_HEAD = re.compile(r"\A(?:---|\+\+\+)\n.*?\n(?:---|\+\+\+)\n", re.S)


def detected_language(text: str) -> str:
    """`de`, `fr` …; '' for English, which is the default, where it is not sure, and without the package that knows.
    Code and links do not count."""
    if not DETECTS_LANGUAGES:
        return ""
    prose = _CODE.sub(" ", _HEAD.sub("", text[: 4 * _DETECTED_CHARS]))[:_DETECTED_CHARS]
    if sum(map(str.isalpha, prose)) < _LEAST_LETTERS or not _may_be_another(prose):
        return ""
    found, share = _identifier().classify(prose)
    return found if share >= _SURE and found not in ("en", _NO_LANGUAGE) else ""


def _may_be_another(prose: str) -> bool:
    """Whether the model is worth loading, which takes longer than to describe the documents of most repositories. Of
    3,600 documents of public repositories it denied no other language, and let pass 57 English ones."""
    words = _WORD.findall(prose.lower())
    if sum(word in _ENGLISH for word in words) >= _CLEARLY_ENGLISH * len(words):
        return False
    letters = "".join(words)
    outside = sum(not letter.isascii() for letter in letters)
    strange = sum(word in _ELSEWHERE for word in words)
    return outside >= _PERHAPS_ANOTHER * len(letters) or strange >= _PERHAPS_ANOTHER * len(words)


@cache
def _identifier() -> Any:
    """The model has 5 MB and takes .7 s to load: once per process, and only where documents are not clearly English."""
    from py3langid import langid  # start-up budget: see above

    return langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE, norm_probs=True)
