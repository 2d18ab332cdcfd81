"""The card of the table: data, licences, recipe, hash and numbers, each with the command that gives it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from rag_assets.models.static_code.embedder import MODEL_ID
from rag_assets.training.pairs import PairKind, Pairs
from training.repositories import HELD_OUT, JUDGED, TRAIN, Repository

_KINDS = ("commit", "documentation", "name")


def card(
    repositories: Sequence[Repository], pairs: Pairs, file: Path, digest: str, recipe: str,
    runs: Sequence[Path], judged: Sequence[Path],
) -> str:  # fmt: skip
    """Markdown. `runs`, `judged`: what `python -m training evaluate` printed of each role, a file each, named by what
    was evaluated."""
    learnt = [row for row in repositories if row.role == TRAIN]
    kinds = Counter(pairs.column("kind").tolist())
    of_kind = ", ".join(f"{kinds[kind]:,} {kind.name.lower()}" for kind in PairKind)
    lines = f"""\
# {MODEL_ID}

A vector for each word of code and of questions about code; the vector of a text is their weighted mean. Trained from
public repositories by `training/`, whose README says how and lists what is left out. MIT, as the project.

- File: `{file.name}`, {file.stat().st_size:,} bytes, sha256 `{digest}`
- Recipe: {recipe}
- Pairs: {of_kind} (`python -m training pairs`)
- Learnt from: {len(learnt)} repositories, listed with revision and licence in `training/repositories.tsv`
  ({_counted(row.language for row in learnt)})
- Their licences, checked in their licence files: {_counted(row.licence for row in learnt)}
- None of them is a repository that the project is judged on. Files in a folder or namespace of such a name, and copies
  of those that lay beside as mirrors, are left out; secrets are masked.
- The start is distilled from all-MiniLM-L6-v2 (Apache-2.0).
- Related words are those of near vectors and of `rag_assets/training/synonyms.txt`, which a language model wrote.
""".splitlines()
    for role, files, chosen in (
        (HELD_OUT, runs, "The recipe was chosen on them."),
        (JUDGED, judged, "Nothing was chosen on them: they were scored once, at the end."),
    ):
        names = [row.name for row in repositories if row.role == role]
        lines += [f"\n## nDCG@10 on {len(names)} repositories that it has not learnt from: {role}\n"]
        lines += [f"{', '.join(names)}.", chosen]
        lines += ["Each is at the revision of the list. Dense alone / blended in equal parts with BM25. Documentation"]
        lines += ["is taken out of the texts; commits are later than the revision and spell no name of an answer.\n"]
        lines += ["| evaluated | commit | documentation | name |", "|---|---|---|---|", *_rows(files)]
    lines += ["\n`python -m training evaluate TABLE --role ROLE`, and `minilm` in place of TABLE, give these numbers."]
    return "\n".join(lines) + "\n"


def _rows(files: Sequence[Path]) -> Iterator[str]:
    keyword = ""
    for file in files:
        words = _last(file).split()[1:]
        found = dict(zip(words[::2], words[1::2], strict=True))
        cells = [f"{found.get(f'dense/{kind}', '')} / {found.get(f'blend/{kind}', '')}" for kind in _KINDS]
        yield f"| {file.stem} | {' | '.join(cells)} |"
        keyword = " | ".join(found.get(f"bm25/{kind}", "") for kind in _KINDS)
    yield f"| BM25 of the same texts | {keyword} |"


def _last(path: Path) -> str:
    return next(line for line in reversed(path.read_text(encoding="utf-8").splitlines()) if line.startswith("mean "))


def _counted(values: Iterable[str]) -> str:
    counts = Counter(values)
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items(), key=lambda row: (-row[1], row[0])))
