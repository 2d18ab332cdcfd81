"""`rag-assets eval mine`: a question set from the history of a repository, and how to ask it honestly."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rag_assets.interfaces.cli.failures import CommandError
from rag_assets.interfaces.cli.labels import complete_label
from rag_assets.interfaces.cli.new_file import Force, check_new_file
from rag_assets.interfaces.cli.output import short
from rag_assets.interfaces.cli.session import Session, session_of

if TYPE_CHECKING:
    from rag_assets.evaluation.mining import Mined
    from rag_assets.settings import RepositorySettings
    from rag_assets.sources import Snapshot

_SHORTEST_GOOD_SET = 10  # questions: fewer say little about a mean


def mine(
    context: typer.Context,
    repository: Annotated[
        str,
        typer.Argument(metavar="REPO", help="Configured id, label, path or git URL.", autocompletion=complete_label),
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the set there (.jsonl). Default: on stdout.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=2_000, help="How many questions at most.")] = 100,
    since: Annotated[
        str | None,
        typer.Option(
            metavar="COMMIT|DATE",
            help="The commit that will be indexed: questions are of commits after it. Default: far enough back.",
        ),
    ] = None,
    until: Annotated[
        str | None, typer.Option(metavar="COMMIT", help="The last commit to make questions of. Default: the newest.")
    ] = None,
    answers: Annotated[
        bool,
        typer.Option(
            "--answers",
            help="Instead, of the index that is served: questions that it can answer, and that it cannot.",
        ),
    ] = False,
    beside: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LABEL",
            help="With --answers: an index of another repository, whose questions this one cannot answer. Repeatable.",
            autocompletion=complete_label,
        ),
    ] = None,
    force: Force = False,
    as_json: Annotated[bool, typer.Option("--json", help="What was made, as one JSON object; needs --out.")] = False,
) -> None:
    """Make questions of what developers wrote about their commits; the files that they changed are the answers.

    Ask them of an index of an earlier commit: one that knows a commit finds it by its own words. With --answers the
    questions are about what the index declares, and half of them are about what it does not have: ask those with `eval
    run --answers`."""
    if as_json and out is None:
        raise typer.BadParameter("the set itself goes to stdout; name a file for it with --out", param_hint="--json")
    if out is not None and out.suffix != ".jsonl":
        raise typer.BadParameter(f"{out} is no .jsonl file, by which eval run knows the form", param_hint="--out")
    if out is not None:
        check_new_file(out, "--out", force=force)
    session = session_of(context)
    if beside and not answers:
        raise typer.BadParameter("it says what an index cannot answer; it needs --answers", param_hint="--beside")
    if answers:
        if since is not None or until is not None:
            raise typer.BadParameter(
                "--answers asks about the index that is served, not about commits", param_hint="--since, --until"
            )
        from rag_assets.interfaces.cli.eval_mine_answers import mine_answers

        mine_answers(session, repository, beside or [], out, limit, as_json)
        return
    chosen = _repository(session, repository)
    with _history(session, chosen, since, until, limit) as (snapshot, found):
        name, commit = _name(snapshot, chosen), snapshot.info.commit_sha
    rows = [question.row(name, commit) for question in found.questions]
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    leaky = sum(question.leaky for question in found.questions)
    if out is None:
        for row in text.splitlines():
            session.output.line(row)
    else:
        out.write_text(text, encoding="utf-8")
    if as_json:
        session.output.json(
            {
                "file": str(out),
                "repository": name,
                "snapshot": commit,
                "questions": len(rows),
                "leaky": leaky,
                "left_out": {reason.value: count for reason, count in sorted(found.left_out.items())},
            }
        )
        return
    _advise(session, repository, commit, out, found, leaky)


def _advise(session: Session, repository: str, commit: str, out: Path | None, found: Mined, leaky: int) -> None:
    output, made = session.output, len(found.questions)
    output.note(f"{made} questions about commit {short(commit)}, of the commits after it; {leaky} name their answer")
    for reason, count in sorted(found.left_out.items(), key=lambda pair: (-pair[1], pair[0])):
        output.note((f"  left out {count:>5}  ", "dim"), reason.value)
    if made < _SHORTEST_GOOD_SET:
        output.warning(f"{made} questions say little; choose an earlier --since")
    home = Path(f"{session.home().root}-eval")
    file = "FILE" if out is None else shlex.quote(str(out))
    prefix = f"rag-assets --home {shlex.quote(str(home))}"
    output.note("to ask them of an index that does not know the answers:")
    output.note(f"  {prefix} index {shlex.quote(repository)} --commit {commit}")
    output.note(f"  {prefix} eval run --set {file}")


def _repository(session: Session, word: str) -> RepositorySettings:
    from rag_assets.interfaces.cli.labels import label_named
    from rag_assets.interfaces.cli.targets import repository_named

    settings, home = session.settings(), session.home()
    known = home.known_labels()
    if word not in known and not Path(word).exists() and any(label.partition("@")[0] == word for label in known):
        word = label_named(known, word)
    return repository_named(settings, home, word)


@contextmanager
def _history(
    session: Session, repository: RepositorySettings, since: str | None, until: str | None, limit: int
) -> Iterator[tuple[Snapshot, Mined]]:
    """The snapshot, open, and the questions about it. Raises SourceError, MiningError, CommandError."""
    from rag_assets.evaluation.mining_range import chosen_snapshot, commit_at, is_date, mine_after
    from rag_assets.stores.path_levels import PathLevels

    levels = PathLevels(repository.confidentiality, repository.confidential_paths)
    sees = cache(partial(levels.visible, clearance=session.clearance()))
    with _opened(session, repository, until) as newest:
        past = newest.past()
        if past is None:
            raise CommandError(f"{repository.location} has no history; mining needs a git repository")
        if since is None:
            since = chosen_snapshot(past, limit, sees)
        elif is_date(since):
            since = commit_at(past, since)
        with _opened(session, repository, since) as snapshot:
            yield snapshot, mine_after(past, snapshot, limit, sees)


def _opened(session: Session, repository: RepositorySettings, ref: str | None) -> Snapshot:
    from rag_assets.stages.discovered_files import open_repository

    chosen = repository if ref is None else repository.model_copy(update={"ref": ref})
    return open_repository(session.home(), session.settings(), chosen, None)


def _name(snapshot: Snapshot, repository: RepositorySettings) -> str:
    """What the set calls the repository: `owner/repo` of its address, else its id."""
    from rag_assets.evaluation.selection import name_of_address

    return name_of_address(snapshot.info.remote_url) or repository.id
