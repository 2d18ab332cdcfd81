"""The options that commands share: the global ones (`CliSession`), and which label a command is about."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rag_assets.cli.console import PROGRAM, CommandError, Output
from rag_assets.contracts.confidentiality import DEFAULT_LEVEL, Confidentiality
from rag_assets.errors import NoWorkTree, WorkTreeError
from rag_assets.index.freshness import branch_of, labels_of_folder
from rag_assets.index.generations import active_generation, served_labels
from rag_assets.index.layout import IndexHome, LabelError, label_named, path_slug
from rag_assets.settings.config_file import ConfigError, config_of, resolve_home

if TYPE_CHECKING:
    from rag_assets.search.index import LabelIndex
    from rag_assets.settings import Settings

_NOTHING = "nothing is indexed in {}; run: rag-assets index"


@dataclass(frozen=True, slots=True)
class CliSession:
    """The global options. `home`, `config` and `role` are what the user typed, if anything."""

    home_option: Path | None
    config_option: Path | None
    debug: bool
    output: Output
    role: str | None = None

    def command(self) -> str:
        """`rag-assets` with the global options that the user typed: the beginning of a command to run next."""
        return self.output.command

    def option_of(self, label: str) -> str:
        """` --label LABEL` for a command to run next in this folder; '' where it takes that label without."""
        home = self.home()
        known = served_labels(home)
        if known == [label] or labels_of_folder(home, known, Path.cwd()) == [label]:
            return ""
        return f" --label {shlex.quote(label)}"

    def config(self) -> Path | None:
        """The configuration file in use, as `config_of` finds it. Raises ConfigError where the environment names one
        that is absent."""
        return config_of(self.home().root, self.config_option)

    def home(self) -> IndexHome:
        """The home directory, without loading the settings model: searching needs no more than this."""
        return IndexHome(resolve_home(self.home_option, config=self.config_option))

    def clearance(self) -> Confidentiality:
        """How far the user sees. The settings are loaded for a role only: they cost a search a third of its time.
        Raises ConfigError for a role that the configuration does not have."""
        if self.role is None:
            return DEFAULT_LEVEL
        from rag_assets.settings.roles import clearance_of  # start-up budget: loaded when it runs

        return clearance_of(self.role, self.settings().roles)

    def settings(self) -> Settings:
        """The effective settings, `--home` included. Raises ConfigError."""
        from rag_assets.settings import load_settings  # start-up budget: loaded when it runs

        settings = load_settings(self.config())
        return settings.model_copy(update={"home": self.home().root})


def command_of(home: Path | None, config: Path | None, role: str | None) -> str:
    """`rag-assets` with these global options."""
    typed = {"--config": config, "--home": home, "--role": role}
    words = [word for option, value in typed.items() if value is not None for word in (option, str(value))]
    return shlex.join([PROGRAM, *words])


def session_of(context: typer.Context) -> CliSession:
    """The session that the application's callback made for this invocation."""
    session = context.find_root().obj
    assert isinstance(session, CliSession)
    return session


def chosen_label(home: IndexHome, wanted: str | None, *, how: str = "with --label") -> str:
    """The label `wanted` names, else the only one with an index, else the one the current folder belongs to.

    A repository id is enough where it has one label. Raises CommandError with the candidates; `how` says how to
    choose one.
    """
    served = served_labels(home)
    if not served:
        raise CommandError(_NOTHING.format(home.root))
    if wanted is None:
        return only_label(home, served, how=how)
    try:
        return label_named(served, wanted)
    except LabelError as error:
        is_known = any(label.partition("@")[0] in (wanted, path_slug(wanted)) for label in served)
        how = "" if is_known else _how_to_index(home, wanted)
        between = "" if not how else " " if str(error).endswith("?") else "; "
        raise CommandError(f"{error}{between}{how}") from None


def _how_to_index(home: IndexHome, wanted: str) -> str:
    """The command that makes the label of a configured repository; '' for any other word."""
    from rag_assets.settings import load_settings  # start-up budget: only where a label is missing

    name, _, ref = wanted.partition("@")
    try:
        known = {repository.id for repository in load_settings(config_of(home.root)).repositories}
    except ConfigError:
        return ""
    if name not in known:
        return ""
    of_ref = f" --ref {shlex.quote(ref)}" if ref else ""
    return f"{name} is configured, so index it with: rag-assets index {shlex.quote(name)}{of_ref}"


def known_label(home: IndexHome, wanted: str | None, *, how: str = "with --label") -> str:
    """As `chosen_label`, but labels without an active generation count too: some commands repair them."""
    known = home.known_labels()
    if not known:
        raise CommandError(_NOTHING.format(home.root))
    if wanted is not None:
        return label_named(known, wanted)
    return only_label(home, known if len(known) == 1 else served_labels(home) or known, how=how)


def only_label(home: IndexHome, known: list[str], *, how: str) -> str:
    """The only one of `known` labels, else the one the current folder belongs to. Raises CommandError with the
    candidates; `how` says how to choose one."""
    if len(known) == 1:
        return known[0]
    here = labels_of_folder(home, known, Path.cwd())
    if len(here) == 1:
        return here[0]
    raise CommandError(f"several labels are indexed; choose one {how}: {', '.join(here or known)}")


def chosen_labels(home: IndexHome, org: str | None) -> list[str]:
    """All labels with an index, or those of one organisation. Raises CommandError where there is none, or where the
    labels belong to several organisations and none is named."""
    owners = owners_of(home)
    if not owners:
        raise CommandError(_NOTHING.format(home.root))
    if org is None and len(owners) > 1:
        raise CommandError(f"labels of several organisations are indexed; choose one with --org: {', '.join(owners)}")
    if org is not None and org not in owners:
        raise CommandError(f"no label of organisation {org!r} is indexed; there are: {', '.join(owners)}")
    return owners[org] if org is not None else next(iter(owners.values()))


def owners_of(home: IndexHome) -> dict[str, list[str]]:
    """organisation → its labels with an index."""
    owners: dict[str, list[str]] = {}
    for label in served_labels(home):
        owners.setdefault(active_generation(home, label).manifest.org_id, []).append(label)
    return owners


def named_in(values: Sequence[str] | None, option: str, if_empty: str) -> list[str]:
    """The names of an option that is repeatable and takes several with commas between; none without the option. Raises
    BadParameter, which says `if_empty`, for a value without a name."""
    found = [name.strip() for value in values or () for name in value.split(",") if name.strip()]
    if values and not found:
        raise typer.BadParameter(if_empty, param_hint=option)
    return found


def with_overlay(index: LabelIndex, wanted: bool | None, *, is_named: bool, output: Output) -> LabelIndex:
    """The index under the work tree, where that is `wanted` (`--overlay`). Without the option (None): where the current
    folder is in a checkout of the repository, and that is what the user means: of a label that `is_named`, only where
    its branch is checked out. Raises WorkTreeError where it is wanted and there is none."""
    here = _around_checkout()
    if wanted is False or (wanted is None and (here is None or not index.manifest.is_git)):
        return index
    if wanted is None and here is not None and is_named and branch_of(here) != index.manifest.ref:
        return index
    try:
        return index.with_work_tree(here)
    except NoWorkTree:
        if wanted is None:
            return index
        if here is None:
            raise
        return index.with_work_tree()  # the current folder is in another repository
    except WorkTreeError as error:
        if wanted:
            raise
        output.warning(f"the work tree is left out: {error}")
        return index


def _around_checkout() -> Path | None:
    """The current folder, where it is in a checkout of git."""
    here = Path.cwd()
    return here if any((folder / ".git").exists() for folder in (here, *here.parents)) else None


def complete_label(context: typer.Context, incomplete: str) -> list[str]:
    """Shell completion of `--label`."""
    options = context.find_root().params
    home = CliSession(options.get("home"), options.get("config"), False, Output()).home()
    return [label for label in served_labels(home) if label.startswith(incomplete)]


AsJson = Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite a file that exists.")]
WithOverlay = Annotated[
    bool | None,
    typer.Option(
        "--overlay/--no-overlay",
        help="Files that differ from the indexed commit, as the work tree has them now. "
        "Default: where the current folder is in a checkout of the repository.",
        show_default=False,
    ),
]
LexicalOnly = Annotated[bool, typer.Option("--lexical-only", help="Without the embedding model: keyword search only.")]
LabelOption = Annotated[
    str | None,
    typer.Option("--label", "-l", help="Which index. Default: as for search.", autocompletion=complete_label),
]
LabelArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="LABEL", help="Default: the only one, or that of the current folder.", autocompletion=complete_label
    ),
]
GenerationOption = Annotated[
    str, typer.Option("--generation", "-g", help="Id, commit, tag or 'previous'. Default: what is served.")
]
SetRepository = Annotated[
    str, typer.Option(help="Ask the questions about this repository, as the set calls it. Default: by the name.")
]
WithoutLeaky = Annotated[
    bool, typer.Option("--without-leaky", help="Leave out questions that give their own answer away.")
]
AgentFolders = Annotated[
    list[Path] | None, typer.Option("--agents", metavar="FOLDER", help="A folder of agents; repeatable.")
]
AgentName = Annotated[
    str | None, typer.Option("--agent", metavar="NAME|FILE", help="Who answers. See: rag-assets agent list")
]
OneCommit = Annotated[str | None, typer.Option("--commit", help="A commit of the ref. Default: its head.")]
OneRef = Annotated[str | None, typer.Option("--ref", help="Branch or tag. Default: as configured, else that of HEAD.")]
NewId = Annotated[
    str | None, typer.Option("--id", help="Name for a repository that is not configured. Default: from its path.")
]


def require_writable(home: IndexHome) -> None:
    """Raises OSError naming the home directory, before anything else has started."""
    home.root.mkdir(parents=True, exist_ok=True)
    probe = home.root / ".writable"
    probe.write_bytes(b"")
    probe.unlink()


def one_repository(named: list[str], commit: str | None, identifier: str | None) -> None:
    """Raises BadParameter where an option of a single repository is given for several, or is empty."""
    for option, value in (("--commit", commit), ("--id", identifier)):
        if value is not None and len(named) > 1:
            raise typer.BadParameter(f"{option} is about one repository: name exactly one")
        if value is not None and not value.strip():
            raise typer.BadParameter("it is empty", param_hint=option)


def existing_folders(folders: list[Path] | None, option: str) -> tuple[Path, ...]:
    """Raises BadParameter for one that is not a folder."""
    for folder in folders or ():
        if not folder.is_dir():
            said = f"{folder} is a file, not a folder" if folder.exists() else f"there is no folder {folder}"
            raise typer.BadParameter(said, param_hint=option)
    return tuple(folders or ())


def check_new_file(target: Path, option: str, *, force: bool) -> None:
    """Raises BadParameter where `target` cannot be written as a new file, before a command does its work."""
    if target.is_dir():
        raise typer.BadParameter(f"{target} is a folder; name a file in it", param_hint=option)
    existing_folders([target.parent], option)
    if not os.access(target if target.exists() else target.parent, os.W_OK):
        raise typer.BadParameter(f"this user may not write {target}; name another file", param_hint=option)
    if target.exists() and not force:
        raise typer.BadParameter(f"{target} exists; choose another name or add --force", param_hint=option)
