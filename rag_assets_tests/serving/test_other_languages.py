"""What an agent is told of languages that only syntax is known of."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_assets import Index
from rag_assets.errors import PlaceError, QueryError
from rag_assets.search.source_lines import SourceReader
from rag_assets.serving.operations.graph import walk
from rag_assets.serving.operations.symbol import symbol
from rag_assets.serving.requests import GraphRequest, SymbolRequest
from rag_assets_tests.cli.conftest import opened_index

TEXTS = {
    "internal/hook/hook.go": (
        "package hook\n\n// Hook is what is served.\ntype Hook struct {\n\tID string\n}\n\n"
        "func (h *Hook) Run() error {\n\treturn nil\n}\n"
    ),
    "web/cart.ts": "export class Cart {\n  total = 1;\n}\n",
    "pkg/store.py": "class Store:\n    def save(self): ...\n\nclass Options:\n    store: Store\n",
    "pkg/sql.py": "from pkg.store import Store\n\nclass SqlStore(Store):\n    def save(self): ...\n",
    "pkg/defaults.py": 'DEFAULT_TTL = 500\n"""How long a job is kept."""\n\nOTHER = 1\n',
    "pkg/one.py": "class Twin: ...\n",
    "pkg/two.py": "class Twin: ...\n",
    "db/a.sql": "CREATE TABLE dbo.Orders (Id int);\nGO\nCREATE PROC dbo.Fill AS INSERT INTO dbo.Orders SELECT 1;\n",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    folder = tmp_path_factory.mktemp("languages")
    with opened_index(folder, TEXTS, "mixed") as opened:
        yield opened


@pytest.mark.parametrize(
    ("name", "found", "members"),
    [
        ("Hook", "internal/hook.Hook", ["ID", "Run"]),
        ("hook.Hook", "internal/hook.Hook", ["ID", "Run"]),
        ("Cart", "web/cart.Cart", ["total"]),
        ("Store", "pkg.store.Store", ["save"]),
    ],
)
def test_types_of_files_and_folders_are_found_by_their_names(
    index: Index, name: str, found: str, members: list[str]
) -> None:
    known = symbol(index, SymbolRequest(name=name))
    assert known.symbol == found
    assert sorted(member.name for member in known.parts[0].members) == members
    lines = SourceReader(index).read(name)
    assert lines.around is not None and lines.around.symbol == found


def test_a_type_is_meant_before_a_member_that_is_called_like_it(index: Index) -> None:
    known = symbol(index, SymbolRequest(name="Store"))
    assert known.note == "also called so: pkg.store.Options.store (pkg/store.py:5)"
    assert known.note in SourceReader(index).read("Store").notes
    member = symbol(index, SymbolRequest(name="store"))
    assert member.symbol == "pkg.store.Options.store"


def test_of_two_types_one_has_to_be_named(index: Index) -> None:
    with pytest.raises(QueryError, match="declared as 2 symbols"):
        symbol(index, SymbolRequest(name="Twin"))


def test_what_a_graph_knows_of_calls_is_said_and_its_bases_are_known(index: Index) -> None:
    callers = walk(index, GraphRequest(start="Store.save", relation="callers"))
    assert not callers.rows and callers.unknown == (
        "of python the graph has only the calls that names and declared types tell"
    )
    assert callers.written == ("pkg/sql.py:4", "pkg/store.py:2")
    touched = walk(index, GraphRequest(start="Store", relation="impact"))
    overriding = ["python:pkg.sql.SqlStore.save|METHOD", "python:pkg.sql.SqlStore|TYPE"]
    assert [row.key for row in touched.rows] == overriding and touched.unknown
    assert symbol(index, SymbolRequest(name="SqlStore")).relatives == {"inherits": ["Store"]}
    assert walk(index, GraphRequest(start="pkg/store.py", relation="impact")).unknown


def test_what_writes_a_table_calls_it(index: Index) -> None:
    found = walk(index, GraphRequest(start="dbo.Orders", relation="callers"))
    assert [row.key for row in found.rows] == ["dbo.Fill|PROC"] and not found.unknown


def test_a_constant_outside_of_types_is_read_by_its_name(index: Index) -> None:
    known = symbol(index, SymbolRequest(name="DEFAULT_TTL"))
    assert (known.kind, known.symbol) == ("constant", "pkg.defaults.DEFAULT_TTL")
    lines = SourceReader(index).read("defaults.DEFAULT_TTL")
    assert lines.text == 'DEFAULT_TTL = 500\n"""How long a job is kept."""'
    with pytest.raises(PlaceError, match="neither a file, a symbol nor a point"):
        SourceReader(index).read("DEFAULT_NOTHING")
