"""Repositories of several tenants with the same texts, each with files of every level, and words that give a leak away.

Every tenant and level has two canaries: `name` is part of paths, symbols and commit subjects, which an attacker may
know, and `secret` stands in texts only. No request has a secret in it, so an answer with the secret of somebody else
shows what it must not, however it was asked.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from rag_assets import Index
from rag_assets.contracts.confidentiality import DEFAULT_LEVEL, Confidentiality, levels_up_to
from rag_assets.index.generations import active_generation
from rag_assets.index.layout import IndexHome
from rag_assets.pipeline.run_stages import run_stages
from rag_assets.settings import EmbedderSettings, RepositorySettings, Settings
from rag_assets_tests.git_repository import Repository

OWNERS = (("acme", "shop", "shop"), ("acme", "site", "site"), ("globex", "shop", "store"))
"""(organisation, project, repository)"""
ROLES: Mapping[str | None, Confidentiality] = {None: DEFAULT_LEVEL, **{level.value: level for level in Confidentiality}}
CONFIG = "rag_assets.yaml"
QUESTIONS = "questions.jsonl"
PLAIN = "src/{}/Plain.cs"
LEDGER = "src/{}/Ledger.cs"
"""A part of one type in every level; its name tells nothing."""

_CODE = """\
namespace Shop.Orders;

/// <summary>Refunds money for returned orders. {secret}</summary>
public class OrderService{Name} : IOrders{Name}, IPublic, IInternal, IConfidential, IRestricted
{{
    private readonly Invoices{Name} invoices;
    public string Denied => PublicTexts.Denied + InternalTexts.Denied + ConfidentialTexts.Denied;
    public string Refused => RestrictedTexts.Denied;
    public OrderService{Name}(Invoices{Name} invoices) {{ this.invoices = invoices; }}

    /// <summary>Pays back what a customer returned. {secret}</summary>
    public decimal RefundOrder(int id)
    {{
        invoices.Post(id); // {secret}
        return 0m;
    }}
}}

public interface IOrders{Name} {{ decimal RefundOrder(int id); }}

public class Invoices{Name}
{{
    public void Post(int id) => throw new System.InvalidOperationException("no invoice {secret}");
}}
"""
_CONTRACT = """\
namespace Shop.Orders;

/// <summary>What can be paid back. {secret}</summary>
public interface I{Level}
{{
    /// <summary>Until when, {secret}</summary>
    int Days{Name}();
}}
"""
_TEXTS = """\
<?xml version="1.0" encoding="utf-8"?>
<root>
  <data name="Denied" xml:space="preserve"><value>No refund, {secret}.</value></data>
</root>
"""
_LEDGER = """\
namespace Shop.Orders;

/// <summary>Books what was paid. {secret}</summary>
public partial class Ledger
{{
    public void Book{Name}(string {secret}) {{ }}
}}
"""


_LETTERS = dict(zip(Confidentiality, ("jk", "mw", "hx", "zq"), strict=True))
"""Nothing else has these letters: a made-up name is exactly as much like the names that one may see as a hidden one."""


@dataclass(frozen=True)
class Canary:
    name: str
    secret: str


def canary(label: str, level: Confidentiality) -> Canary:
    return Canary(*(_letters(f"{part} {label} {level}", _LETTERS[level]) for part in ("name", "secret")))


def _letters(text: str, alphabet: str) -> str:
    """Letters that are in no other text, in a form that names, paths and tables may have. All end alike, so that
    splitting and stemming treat them alike."""
    return "".join(alphabet[digit & 1] for digit in hashlib.sha256(text.encode()).digest()[:12]) + alphabet[1] * 3


@dataclass(frozen=True, eq=False)
class WalledShop:
    """One tenant's label. `points` are the payloads of all its points, `generations` its ids, oldest first. At the
    levels of `made_up` it has names instead that are nowhere."""

    org: str
    label: str
    repository: Repository
    generations: tuple[str, ...]
    points: tuple[dict[str, Any], ...]
    made_up: frozenset[Confidentiality] = frozenset()

    def canary(self, level: Confidentiality) -> Canary:
        return canary(f"nowhere {self.label}" if level in self.made_up else self.label, level)

    def code(self, level: Confidentiality) -> str:
        return f"src/{level}/Order{self.canary(level).name.capitalize()}.cs"

    def words_of(self, levels: frozenset[Confidentiality]) -> list[str]:
        """All by which somebody may ask for what is of these levels, in lower case, the longest first."""
        ids = [point["id"] for point in self.points if point["Confidentiality"] in levels]
        return [*ids, *(known[:8] for known in ids), *map(str.lower, self.words(levels))]

    def words(self, levels: frozenset[Confidentiality]) -> list[str]:
        known = [self.canary(level) for level in sorted(levels)]
        words = [word for one in known for word in (one.name, one.name[:-1], one.name[:-2], one.secret)]
        return [variant for word in words for variant in (word, word.capitalize())]


@cache
def imagined(shop: WalledShop, levels: frozenset[Confidentiality]) -> WalledShop:
    """The shop with names and ids for these levels that are nowhere."""
    other = replace(shop, made_up=levels)
    ids = [point["id"] for point in shop.points if point["Confidentiality"] in levels]
    known = {known: str(uuid.uuid5(uuid.NAMESPACE_OID, known)) for known in ids}
    known |= dict(zip(shop.words(levels), other.words(levels), strict=True))

    def renamed(value: Any) -> Any:
        for real, made_up in known.items() if isinstance(value, str) else ():
            value = value.replace(real, made_up)
        return value

    points = tuple({key: renamed(value) for key, value in point.items()} for point in shop.points)
    return replace(other, points=points)


@dataclass(frozen=True)
class Asker:
    """Somebody who may see one label up to a level."""

    shop: WalledShop
    role: str | None
    index: Index

    @property
    def clearance(self) -> Confidentiality:
        return ROLES[self.role]

    @property
    def above(self) -> frozenset[Confidentiality]:
        """The levels that are hidden from the asker."""
        return frozenset(Confidentiality) - frozenset(levels_up_to(self.clearance))


@dataclass(frozen=True)
class World:
    """All labels in one home, and an asker for each of them and each role."""

    home: IndexHome
    folder: Path
    shops: tuple[WalledShop, ...]
    askers: tuple[Asker, ...]

    def imagined_by(self, asker: Asker) -> tuple[World, Asker]:
        """The world and its asker with made-up names in place of all that is above the clearance of the asker."""
        shops = {shop.label: imagined(shop, asker.above) for shop in self.shops}
        askers = tuple(replace(one, shop=shops[one.shop.label]) for one in self.askers)
        return replace(self, shops=tuple(shops.values()), askers=askers), askers[self.askers.index(asker)]

    def canaries(self) -> Iterator[tuple[str, Confidentiality, Canary]]:
        for shop in self.shops:
            for level in Confidentiality:
                yield shop.label, level, shop.canary(level)

    def leaks(self, shown: str, said: str, labels: tuple[str, ...], clearance: Confidentiality) -> set[str]:
        """What an answer tells that is not of `labels` up to `clearance`; a name that was `said` is no news."""
        shown, said, reach = shown.lower(), said.lower(), levels_up_to(clearance)
        foreign = (known for known in self.canaries() if known[0] not in labels or known[1] not in reach)
        return {
            f"{kind} of {label} {level}"
            for label, level, known in foreign
            for kind, word in (("name", known.name), ("secret", known.secret))
            if word in shown and (kind == "secret" or word not in said)
        }


@contextmanager
def walled_shops(folder: Path) -> Iterator[World]:
    """Indexes two commits of every repository, and opens the newer one for every role."""
    home = IndexHome(folder / "home")
    repositories = {label_of(name): _repository(folder / name, label_of(name)) for _, _, name in OWNERS}
    configured = [
        RepositorySettings(
            id=name,
            location=str(repositories[label_of(name)][0].path),
            ref="main",
            org=org,
            project=project,
            confidential_paths={f"**/{level}/**": level for level in Confidentiality},
        )
        for org, project, name in OWNERS
    ]
    _write_config(folder, configured)
    settings = Settings(home=home.root, embedder=EmbedderSettings(provider="lexical-only"), workers=1)
    shops = []
    for repository in configured:
        label = label_of(repository.id)
        source, first = repositories[label]
        builds = [run_stages(settings, label, repository, commit=commit)[0] for commit in (first, None)]
        made = tuple(build.spec.generation_id for build in builds)
        shops.append(WalledShop(repository.org, label, source, made, _points(home, label)))
    with ExitStack() as stack:
        askers = [
            Asker(shop, role, stack.enter_context(Index(home, active_generation(home, shop.label), clearance=level)))
            for shop in shops
            for role, level in ROLES.items()
        ]
        yield World(home, folder, tuple(shops), tuple(askers))


def label_of(name: str) -> str:
    return f"{name}@main"


def _repository(path: Path, label: str) -> tuple[Repository, str]:
    """A repository and its first commit; a later one of each level changes its code, the last one moves a file."""
    source = Repository.new(path)
    first = source.commit({name: text for level in Confidentiality for name, text in _files(label, level).items()})
    for level in Confidentiality:
        known = canary(label, level)
        name = known.name.capitalize()
        changed = _CODE.format(Name=name, secret=known.secret).replace("Pays back", "Pays twice")
        source.commit({f"src/{level}/Order{name}.cs": changed}, f"Refund rules of {name} are checked twice")
    hidden = canary(label, Confidentiality.RESTRICTED).name
    source.git("mv", f"src/restricted/{hidden}/Plain.cs", PLAIN.format("public"))
    source.commit({}, "A plain file has its place")
    return source, first


def _files(label: str, level: Confidentiality) -> dict[str, str]:
    known = canary(label, level)
    words = {"name": known.name, "Name": known.name.capitalize(), "secret": known.secret, "Level": level.capitalize()}
    files = {
        f"src/{level}/Order{words['Name']}.cs": _CODE,
        LEDGER.format(level): _LEDGER,
        f"src/{level}/I{level.capitalize()}.cs": _CONTRACT,
        f"src/{level}/{level.capitalize()}Texts.resx": _TEXTS,
        f"docs/{level}/{known.name}.md": "# Refunds of {name}\n\nMoney for returned orders: {secret}.\n",
        f"db/{level}/{known.name}.sql": "CREATE TABLE dbo.Orders{Name} (Id int, {secret} money);\nGO\n",
        f"web/{level}/{known.name}.min.js": "var {secret}=1;",
    }
    if level is Confidentiality.RESTRICTED:
        files[f"src/{level}/{known.name}/Plain.cs"] = "namespace Shop;\n\npublic class Plain {{ public int Id; }}\n"
    return {path: text.format(**words) for path, text in files.items()}


def _write_config(folder: Path, repositories: list[RepositorySettings]) -> None:
    config = {
        "home": "home",
        "roles": {role: level.value for role, level in ROLES.items() if role is not None},
        "embedder": {"provider": "lexical-only"},
        "repositories": [json.loads(known.model_dump_json(exclude_defaults=True)) for known in repositories],
    }
    (folder / CONFIG).write_text(yaml.safe_dump(config), encoding="utf-8")
    rows = [
        {"id": "book", "question": "books what was paid", "relevant": [LEDGER.format("public")]},
        {"id": "refund", "question": "refunds money for returned orders", "relevant": ["src/internal/Ledger.cs"]},
    ]
    (folder / QUESTIONS).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _points(home: IndexHome, label: str) -> tuple[dict[str, Any], ...]:
    with Index(home, active_generation(home, label), clearance=Confidentiality.RESTRICTED) as index:
        shard, scope = index.parts.shard(), index.scope()
        found = shard.retrieve(sorted(shard.ids(scope)), scope)
    return tuple(payload | {"id": identifier} for identifier, payload in found.items())
