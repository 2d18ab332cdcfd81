"""python -m training COMMAND: from a list of repositories to the table in the package. README.md has the order."""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rag_assets.errors import RagAssetsError, SourceError
from rag_assets.training.errors import TrainingError
from rag_assets.training.evaluation import held_out, scores, table_embed
from rag_assets.training.model import DIMENSIONS, Recipe, Table, mean, train
from rag_assets.training.pairs import PairKind, Pairs, build
from rag_assets.training.table_file import as_stored, read_table, relate, write_table
from training.card import card
from training.listing import row_of
from training.negatives import mine
from training.pair_files import extract, read_changes, read_units
from training.repositories import HELD_OUT, JUDGED, LIST, TRAIN, Banned, read_banned, read_list, write_list
from training.teacher import Teacher, minilm_embed
from training.vocabulary import learn

WORK = Path(".training")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m training", description=__doc__)
    parser.add_argument("--work", type=Path, default=WORK, help="folder of everything that is made on the way")
    parser.add_argument("--list", type=Path, default=LIST, help="repositories, a row each")
    commands = parser.add_subparsers(dest="command", required=True)

    listing = commands.add_parser("list", help="write the list of repositories: revisions, licences, languages")
    _add_sources(listing)
    listing.add_argument("names", type=Path, help="one owner/name a line, ` held-out` or ` judged` after some")

    extraction = commands.add_parser("extract", help="questions and answers of each repository")
    _add_sources(extraction)
    extraction.add_argument("--share", default="0/1", help="i/n: every n-th repository, beginning with i")

    commands.add_parser("vocabulary", help="the entries, from the pairs of the repositories that train")
    commands.add_parser("pairs", help="the pairs as arrays of entries")
    asking = commands.add_parser("vectors", help="what MiniLM says of each entry")
    asking.add_argument("--cache", type=Path, default=WORK / "models", help="what the model's embedder may keep")
    starting = commands.add_parser("start", help="the table before training")
    starting.add_argument("--dimension", type=int, default=DIMENSIONS[0])

    teaching = commands.add_parser("teacher", help="MiniLM's vectors of questions and texts of some pairs")
    teaching.add_argument("--cache", type=Path, default=WORK / "models")

    mining = commands.add_parser("negatives", help="hard negatives of each pair")
    mining.add_argument("--by", type=Path, help="a trained table; default: BM25")
    mining.add_argument("--to", type=Path, required=True)

    training = commands.add_parser("train", help="one run, or several seeds and their mean")
    training.add_argument("--to", type=Path, required=True)
    training.add_argument("--recipe", type=json.loads, default={}, help="JSON object: fields of training.model.Recipe")
    training.add_argument("--seeds", type=int, nargs="+", default=[0])
    training.add_argument("--negatives", type=Path)
    training.add_argument("--teacher", action="store_true", help="what `teacher` made; recipe: its weight")

    averaging = commands.add_parser("mean", help="the mean of trained tables")
    averaging.add_argument("tables", type=Path, nargs="+")
    averaging.add_argument("--to", type=Path, required=True)

    judging = commands.add_parser("evaluate", help="nDCG@10 on the held-out repositories")
    judging.add_argument("table", help="a trained table, a written one (.bin), or `minilm`")
    judging.add_argument("--form", choices=("outline", "code"), default="outline")
    judging.add_argument("--dimension", type=int, help="only the first so many")
    judging.add_argument("--cache", type=Path, default=WORK / "models")
    judging.add_argument("--role", choices=(HELD_OUT, JUDGED), default=HELD_OUT, help="judged: once, at the end")
    judging.add_argument("--only", default="", help="part of the name of a repository")

    writing = commands.add_parser("write", help="the file for the package")
    writing.add_argument("table", type=Path)
    writing.add_argument("--to", type=Path, required=True)

    relating = commands.add_parser("relate", help="write the related words of a file anew, after a change of synonyms")
    relating.add_argument("file", type=Path)

    showing = commands.add_parser("card", help="the card beside the file")
    showing.add_argument("file", type=Path)
    showing.add_argument("--recipe", required=True, help="what the table is made with, in words")
    showing.add_argument("--evaluated", type=Path, nargs="+", required=True, help="what evaluate printed, a file each")
    showing.add_argument("--judged", type=Path, nargs="+", required=True, help="the same with --role judged")
    showing.add_argument("--to", type=Path, required=True)

    arguments = parser.parse_args()
    try:
        return int(globals()[f"_{arguments.command}"](arguments) or 0)
    except RagAssetsError as error:
        print(error, file=sys.stderr)
        return 1


def _add_sources(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--mirrors", type=Path, required=True, help="folder of OWNER+NAME/repo, git directories")
    parser.add_argument("--banned", type=Path, required=True, help="file of repositories not to learn from")
    parser.add_argument("--questions", type=Path, help="folder of question sets; their texts are left out")


def _banned(arguments: argparse.Namespace) -> Banned:
    sets = sorted(arguments.questions.rglob("*.json*")) if arguments.questions else []
    return read_banned(arguments.banned, sets, arguments.mirrors)


def _list(arguments: argparse.Namespace) -> None:
    banned = _banned(arguments)
    rows = []
    for line in arguments.names.read_text(encoding="utf-8").splitlines():
        name, _, role = line.partition(" ")
        if not name:
            continue
        try:
            rows.append(row_of(name, arguments.mirrors, banned, role or TRAIN))
        except TrainingError as reason:
            print(f"left out: {reason}")
        except SourceError as reason:
            print(f"left out: {name}: {reason}")
    write_list(rows, arguments.list)
    print(f"{len(rows)} repositories in {arguments.list}")


def _extract(arguments: argparse.Namespace) -> None:
    banned = _banned(arguments)
    folder = arguments.work / "pairs"
    folder.mkdir(parents=True, exist_ok=True)
    first, _, step = arguments.share.partition("/")
    rows = sorted(read_list(arguments.list), key=lambda row: row.role == TRAIN)
    for repository in rows[int(first) :: int(step)]:
        if banned.refuses(repository.name):
            raise TrainingError(f"{repository.name}: the project is judged on it; delete its row from the list")
        if (folder / f"{repository.stem}.changes.jsonl").exists():  # written last: a stopped run goes on
            continue
        try:
            counts = extract(repository, arguments.mirrors, banned, folder)
        except RagAssetsError as reason:  # a mirror may lack objects
            print(f"left out: {repository.name}: {reason}; delete its row from the list", file=sys.stderr)
            continue
        print(json.dumps({"repository": repository.name, **counts}), flush=True)


def _known(arguments: argparse.Namespace, role: str) -> list[str]:
    """Repositories of the list that are extracted."""
    folder = arguments.work / "pairs"
    stems = [row.stem for row in read_list(arguments.list) if row.role == role]
    absent = [stem for stem in stems if not (folder / f"{stem}.changes.jsonl").exists()]
    if absent:
        raise TrainingError(f"not extracted yet: {', '.join(absent)}. Run: python -m training extract")
    return stems


def _entries(arguments: argparse.Namespace) -> list[str]:
    path: Path = arguments.work / "vocabulary.txt"
    return path.read_text(encoding="ascii").split("\n")


def _vocabulary(arguments: argparse.Namespace) -> None:
    entries = learn(arguments.work / "pairs", _known(arguments, TRAIN))
    (arguments.work / "vocabulary.txt").write_text("\n".join(entries), encoding="ascii")
    print(f"{len(entries)} entries, {sum(entry.startswith('##') for entry in entries)} of them continue a word")


def _pairs(arguments: argparse.Namespace) -> None:
    folder = arguments.work / "pairs"
    stems = _known(arguments, TRAIN)
    made = build(((read_units(folder, stem), read_changes(folder, stem)) for stem in stems), _entries(arguments))
    made.save(arguments.work / "pairs.npz")
    kinds = {kind.name.lower(): int((made.column("kind") == kind).sum()) for kind in PairKind}
    print(json.dumps({"pairs": len(made.table), **kinds, "tokens": len(made.texts.ids)}))


def _vectors(arguments: argparse.Namespace) -> None:
    from training.start import vectors_of

    np.save(arguments.work / "vectors.npy", vectors_of(_entries(arguments), arguments.cache))


def _start(arguments: argparse.Namespace) -> None:
    from training.start import start

    vectors = np.load(arguments.work / "vectors.npy")
    table, kept = start(vectors, Pairs.load(arguments.work / "pairs.npz"), arguments.dimension)
    table.save(arguments.work / "start.npz")
    print(f"{arguments.dimension} components keep {kept:.3f} of the variance")


def _teacher(arguments: argparse.Namespace) -> None:
    from training.teacher import ask

    teacher = ask(Pairs.load(arguments.work / "pairs.npz"), _entries(arguments), arguments.cache)
    teacher.save(arguments.work / "teacher.npz")
    print(f"{len(teacher.pairs)} pairs of {len(np.unique(teacher.repository))} repositories")


def _negatives(arguments: argparse.Namespace) -> None:
    table = Table.load(arguments.by) if arguments.by else None
    found = mine(Pairs.load(arguments.work / "pairs.npz"), len(_entries(arguments)), table)
    np.save(arguments.to, found)
    print(f"{int((found[:, 0] >= 0).sum())} of {len(found)} pairs have some")


def _train(arguments: argparse.Namespace) -> None:
    pairs, first = Pairs.load(arguments.work / "pairs.npz"), Table.load(arguments.work / "start.npz")
    negatives = np.load(arguments.negatives) if arguments.negatives else None
    teacher = Teacher.load(arguments.work / "teacher.npz") if arguments.teacher else None
    runs = [
        train(first, pairs, Recipe(**{**arguments.recipe, "seed": seed}), negatives, teacher, _say_step)
        for seed in arguments.seeds
    ]
    mean(runs).save(arguments.to)


def _say_step(done: int, loss: float, scale: float) -> None:
    if done % 50 == 0:
        print(f"step {done} loss {loss:.3f} scale {scale:.1f}", flush=True)


def _mean(arguments: argparse.Namespace) -> None:
    mean([Table.load(path) for path in arguments.tables]).save(arguments.to)


def _evaluate(arguments: argparse.Namespace) -> None:
    entries = _entries(arguments)
    if arguments.table == "minilm":
        embed = minilm_embed(arguments.cache)
    else:
        path = Path(arguments.table)
        table, own = read_table(path) if path.suffix == ".bin" else (as_stored(Table.load(path)), entries)
        table.rows = table.rows[:, : arguments.dimension]
        embed = table_embed(table, own)
    found, folder = [], arguments.work / "pairs"
    for stem in _known(arguments, arguments.role):
        if arguments.only in stem:
            units, changes = read_units(folder, stem), read_changes(folder, stem)
            row = scores(held_out(stem, units, changes, arguments.form), embed, entries)
            found.append(row)
            print(
                stem,
                " ".join(f"{system}/{kind} {value:.3f}" for (system, kind), value in sorted(row.items())),
                flush=True,
            )
    print("mean", " ".join(f"{system}/{kind} {value:.3f}" for (system, kind), value in _averages(found).items()))


def _averages(found: Sequence[dict[tuple[str, str], float]]) -> dict[tuple[str, str], float]:
    """The mean over repositories; one without questions of a kind does not count for it."""
    total: Counter[tuple[str, str]] = Counter()
    count: Counter[tuple[str, str]] = Counter()
    for row in found:
        for key, value in row.items():
            total[key] += value  # type: ignore[assignment]
            count[key] += 1
    return {key: total[key] / count[key] for key in sorted(total)}


def _write(arguments: argparse.Namespace) -> None:
    print(write_table(Table.load(arguments.table), _entries(arguments), arguments.to))


def _relate(arguments: argparse.Namespace) -> None:
    print(relate(arguments.file))


def _card(arguments: argparse.Namespace) -> None:
    digest = hashlib.sha256(arguments.file.read_bytes()).hexdigest()
    pairs = Pairs.load(arguments.work / "pairs.npz")
    evaluated, judged = arguments.evaluated, arguments.judged
    text = card(read_list(arguments.list), pairs, arguments.file, digest, arguments.recipe, evaluated, judged)
    arguments.to.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
