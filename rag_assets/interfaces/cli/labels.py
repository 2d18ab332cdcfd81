"""Which label a command is about when it is not told."""

from __future__ import annotations

import difflib
import subprocess
from pathlib import Path

import typer

from rag_assets.interfaces.cli.failures import CommandError
from rag_assets.interfaces.cli.output import Output
from rag_assets.interfaces.cli.session import Session
from rag_assets.interfaces.freshness import remembered_repository
from rag_assets.sources.urls import is_remote
from rag_assets.stores.generations import active_generation, has_pointer
from rag_assets.stores.home import Home, index_label, path_slug

_NOTHING = "nothing is indexed in {}; run: rag-assets index"


def chosen_label(session: Session, home: Home, wanted: str | None, *, how: str = "with --label") -> str:
    """The label `wanted` names, else the only one with an index, else the one the current folder belongs to.

    A repository id will do where it has one label. Raises CommandError listing the candidates, and `how` a command
    is told one of them.
    """
    served = served_labels(home)
    if not served:
        raise CommandError(_NOTHING.format(home.root))
    return only_label(home, served, how=how) if wanted is None else label_named(served, wanted)


def known_label(home: Home, wanted: str | None, *, how: str = "with --label") -> str:
    """As `chosen_label`, also of labels that nothing is served of, for commands that repair that or read elsewhere."""
    known = home.known_labels()
    if not known:
        raise CommandError(_NOTHING.format(home.root))
    if wanted is not None:
        return label_named(known, wanted)
    return only_label(home, known if len(known) == 1 else served_labels(home) or known, how=how)


def only_label(home: Home, known: list[str], *, how: str) -> str:
    """The only one of `known` labels, else the one the current folder belongs to. Raises CommandError listing the
    candidates, and `how` a command is told one of them."""
    if len(known) == 1:
        return known[0]
    here = [label for label in known if _covers(home, label, Path.cwd())]
    if len(here) > 1:
        here = [label for label in here if _is_checked_out(home, label)] or here
    if len(here) == 1:
        return here[0]
    raise CommandError(f"several labels are indexed; choose one {how}: {', '.join(here or known)}")


def chosen_labels(home: Home, org: str | None) -> list[str]:
    """All labels with an index, those of one organisation where one is named. Raises CommandError where there is none,
    or where a choice of organisation is needed."""
    owners: dict[str, list[str]] = {}
    for label in served_labels(home):
        owners.setdefault(active_generation(home, label).manifest.org_id, []).append(label)
    if not owners:
        raise CommandError(_NOTHING.format(home.root))
    if org is None and len(owners) > 1:
        raise CommandError(f"labels of several organisations are indexed; choose one with --org: {', '.join(owners)}")
    if org is not None and org not in owners:
        raise CommandError(f"no label of organisation {org!r} is indexed; there are: {', '.join(owners)}")
    return owners[org] if org is not None else next(iter(owners.values()))


def served_labels(home: Home) -> list[str]:
    """Labels with an active generation, sorted; also those whose pointer is damaged, which says so when one is
    opened."""
    return [label for label in home.known_labels() if has_pointer(home, label)]


def complete_label(context: typer.Context, incomplete: str) -> list[str]:
    """Shell completion of `--label`."""
    options = context.find_root().params
    home = Session(options.get("home"), options.get("config"), False, Output()).home()
    return [label for label in served_labels(home) if label.startswith(incomplete)]


def label_named(known: list[str], wanted: str) -> str:
    """The label that `wanted` is, or the only one of the repository it names; both may be written as the repository and
    the ref are (`Shop@feature/X`). Raises CommandError with near names."""
    if wanted in known:
        return wanted
    spelt = spelt_label(known, wanted)
    if spelt is not None:
        return spelt
    of_repository = [label for label in known if label.partition("@")[0] in (wanted, path_slug(wanted))]
    if len(of_repository) == 1:
        return of_repository[0]
    if of_repository:
        raise CommandError(f"{wanted!r} has several labels; choose one of: {', '.join(of_repository)}")
    near = difflib.get_close_matches(wanted, known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(known) or 'none'}"
    raise CommandError(f"no label {wanted!r}; {hint}")


def spelt_label(known: list[str], written: str) -> str | None:
    """The known label of an id and a ref with `@` between them, written as they are; either may have one itself."""
    places = [at for at, character in enumerate(written) if character == "@"]
    found = (index_label(written[:at], written[at + 1 :]) for at in reversed(places))
    return next((label for label in found if label in known), None)


def _is_checked_out(home: Home, label: str) -> bool:
    """True when the current folder is on the branch of the label."""
    from rag_assets.sources.git import git_environment, git_executable

    command = [git_executable(), "symbolic-ref", "--quiet", "--short", "HEAD"]
    done = subprocess.run(command, capture_output=True, text=True, env=git_environment(network=False), check=False)
    return done.stdout.strip() == remembered_repository(home, label).get("ref")


def _covers(home: Home, label: str, folder: Path) -> bool:
    location = str(remembered_repository(home, label).get("location", ""))
    if not location or is_remote(location):
        return False
    return folder.resolve().is_relative_to(Path(location))
