"""Questions of documentation: the first sentence that is written about a member, and the lines of the member.

The same index gives the same questions. An index that holds the sentence finds it by its own words, so numbers compare
ways of reading and versions of this package, not with questions of people.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

from rag_assets.contracts.segment import Segment, first_paragraph, leaves_of
from rag_assets.evaluation.mining import spells_an_answer
from rag_assets.index.parquet_parts import read_all
from rag_assets.search.index import LabelIndex
from rag_assets.search.ranking.penalties import is_test_path
from rag_assets.serialization import from_json

LEAST_WORDS = 5
MOST_OF_A_FILE = 2
_ID_DIGITS = 10
_SENTENCE_END = re.compile(r"(?<=[.!?])\s")
_WORD = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True, slots=True)
class DocumentationQuestion:
    """A sentence and the lines of the member that it is about, its documentation among them."""

    text: str
    path: str
    start: int
    end: int

    def row(self, repository: str, commit: str) -> dict[str, Any]:
        """The question in the history form (`evaluation.questions`)."""
        digest = hashlib.sha256(f"{self.path}\n{self.text}".encode()).hexdigest()
        return {
            "id": f"{repository}#d-{digest[:_ID_DIGITS]}",
            "repo": repository,
            "snapshot_rev": commit,
            "type": "doc",
            "query": self.text,
            "relevant": [self.path],
            "leaky": spells_an_answer(self.text, (self.path,)),
            "spans": [f"{self.path}:{self.start}-{self.end}"],
        }


def documentation_questions(index: LabelIndex, limit: int) -> list[DocumentationQuestion]:
    """At most `limit` questions of what the clearance of the index reaches, no two of them with the same words."""
    found = _documented(index)
    said = Counter(question.text for question in found)
    chosen: list[DocumentationQuestion] = []
    of_file: Counter[str] = Counter()
    for question in sorted(found, key=_by_chance):
        if said[question.text] == 1 and of_file[question.path] < MOST_OF_A_FILE and len(chosen) < limit:
            of_file[question.path] += 1
            chosen.append(question)
    return sorted(chosen, key=lambda question: (question.path, question.start))


def _documented(index: LabelIndex) -> list[DocumentationQuestion]:
    manifest = index.manifest
    tables = read_all(index.generation.directory, "segments", manifest.bucket_count, columns=["path", "segment"])
    made = []
    for table in tables:
        for row in table.to_pylist():
            path = row["path"]
            if is_test_path(path) or not index.may_read(path):
                continue
            for leaf in leaves_of(from_json(row["segment"], Segment).members):
                sentence = _SENTENCE_END.split(first_paragraph(leaf.member.doc), maxsplit=1)[0]
                if not leaf.member.members and len(_WORD.findall(sentence)) >= LEAST_WORDS:
                    span = leaf.member.span
                    made.append(DocumentationQuestion(sentence, path, span.line_start, span.line_end))
    return made


def _by_chance(question: DocumentationQuestion) -> str:
    """An order that has nothing to do with paths, and is the same every time."""
    return hashlib.sha256(f"{question.path}:{question.start} {question.text}".encode()).hexdigest()
