"""What lies beside the product: tests, samples, benchmarks, documents. It uses the same words and is seldom what is
looked for.

Decided by path alone, with the conventions of the languages that are indexed. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from enum import Enum
from functools import lru_cache

from rag_assets.identifiers import identifier_words
from rag_assets.index.keyword.terms import runs, word_terms

_CACHED_PATHS = 1 << 14  # of a large repository those that searches meet

DEMOTION = 0.5
"""What the score of a file beside the product is multiplied with, unless the question asks for that kind of code.
nDCG@10 as in `search.ranking`, without history, with 1, .8, .6, .5 and .4: commit .427 .492 .508 .514
.515, doc .699 .712 .721 .722 .722, nothing else changes; with test files removed altogether .515 and .722. A factor
lets the test through that is the only one to answer."""

DOCUMENT_DEMOTION = 0.6
"""The same for documents: they are welcome on a page, after the code that does it. nDCG@10 of 24 repositories in four
languages whose files were all ranked (commit subjects that do not spell the name of an answer / doc summaries), with 1,
.8, .7, .6, .5: .515 .554 .568 .578 .582 and .784 .800 .806 .808 .811; annotators in five languages .812 .817 .827 .829
.832. Not less than .6, because no answer of these sets is a document, and of people's questions some are."""

_FIRST_WORDS = 3
"""Of a question, where it says what it is for: "tests of the basket", "which tests cover refunds". "Round up and add
tests" is not a question for tests; taking it for one costs commit .02."""
_FEW_WORDS = 4  # of which each says what it is for: "refund policy unit tests"


class BesideProduct(Enum):
    """What a file is beside the code of the product, and the words with which a question asks for it."""

    TEST = frozenset({"test", "spec"})
    SAMPLE = frozenset({"sample", "example", "demo"})
    BENCHMARK = frozenset({"benchmark"})
    DOCUMENT = frozenset(
        (
            *("doc", "document", "documentation", "guide", "tutorial", "manual", "handbook", "readme", "changelog"),
            *("faq", "policy", "procedure", "runbook", "playbook", "adr", "decision", "proposal", "transcript"),
        )
    )


_FOLDERS = {
    **dict.fromkeys(("test", "tests", "testing", "spec", "specs", "testdata", "fixtures", "mocks"), BesideProduct.TEST),
    **dict.fromkeys(("sample", "samples", "example", "examples", "demo", "demos"), BesideProduct.SAMPLE),
    **dict.fromkeys(("benchmark", "benchmarks", "perf"), BesideProduct.BENCHMARK),
}
"""The last word of a folder: `tests`, `Shop.UnitTests`, `ShopTests`, `__tests__`, `Shop.Benchmarks`."""
_FILES = frozenset({"test", "tests", "spec", "specs"})
"""The last word of a file name: `OrderTests.cs`, `order_test.go`, `order.spec.ts`."""
_DOCUMENTS = (".md", ".mdx", ".markdown", ".rst", ".adoc", ".asciidoc", ".org", ".txt", ".pdf", ".docx")
_HOW_TO = re.compile(r"\s*(?:how\s+(?:do|can|should|would)\s+(?:i|we|you|one)|how\s?to)\b", re.IGNORECASE)
_MAY_BE_TEST = re.compile("test|spec", re.IGNORECASE)  # what all of them have, found before words are told apart
_FIRST_WORD = re.compile(r"(?:test_\w+|conftest)\.py")


@lru_cache(maxsize=_CACHED_PATHS)
def non_product_code(path: str) -> BesideProduct | None:
    """What a file is by its path, the nearest folder deciding; None for the product itself and its documents."""
    folder, _, name = path.rpartition("/")
    if _MAY_BE_TEST.search(name):
        stem = [word.lower() for word in identifier_words(name.rpartition(".")[0])]
        if (len(stem) > 1 and stem[-1] in _FILES) or _FIRST_WORD.fullmatch(name):
            return BesideProduct.TEST
    return _side_of_folder(folder)


@lru_cache(maxsize=_CACHED_PATHS)
def _side_of_folder(path: str) -> BesideProduct | None:
    """Asked for the files of a question that nobody has asked before, most of which are in folders that are known."""
    above, _, folder = path.rpartition("/")
    words = identifier_words(folder)
    side = _FOLDERS.get(words[-1].lower()) if words else None
    return _side_of_folder(above) if side is None and above else side


def is_test_path(path: str) -> bool:
    return non_product_code(path) is BesideProduct.TEST


def asked_for(text: str) -> frozenset[BesideProduct]:
    """The kinds of files beside the product that a question is for: of code where it says so at its beginning, of
    documents anywhere, or as "how do I …", which guides answer."""
    words = [term for run in runs(text) for term in word_terms(run)]
    telling = words if len(words) <= _FEW_WORDS else words[:_FIRST_WORDS]
    asked = {
        side
        for side in BesideProduct
        if not side.value.isdisjoint(words if side is BesideProduct.DOCUMENT else telling)
    }
    if _HOW_TO.match(text):
        asked.add(BesideProduct.DOCUMENT)
    return frozenset(asked)


def demotion(path: str, asked: Collection[BesideProduct]) -> float:
    """1 for the product and for what is asked for, else DEMOTION or DOCUMENT_DEMOTION."""
    side = non_product_code(path)
    if side is not None:
        return 1.0 if side in asked else DEMOTION
    if BesideProduct.DOCUMENT not in asked and path.lower().endswith(_DOCUMENTS):
        return DOCUMENT_DEMOTION
    return 1.0


PRIORITY_FACTORS = {1: 1.25, 2: 1.1, 4: 0.9, 5: 0.75}
"""What the score of a file is multiplied with by the priority that people gave it (B08); 3 is the usual one. Enough to
put one of two files before the other that say about the same, too little to put first what says half as much."""


def priority_factor(priority: int) -> float:
    return PRIORITY_FACTORS.get(priority, 1.0)
