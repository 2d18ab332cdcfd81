"""Templates of dbt: models are called as their files, and tags name what they read and call."""

from __future__ import annotations

import pytest

from rag_assets.contracts.graph import GraphEdge, GraphNode
from rag_assets.graph.extract.sql_objects import objects_of
from rag_assets.languages.sql.dbt import without_tags
from rag_assets.languages.sql.label_objects import SqlSymbols, declared_in
from rag_assets.segmentation import segment_file
from rag_assets_tests.effort import ends_within
from rag_assets_tests.segmentation.outline import check_invariants

from .made import edges, file_of, nodes, shown

MODEL = """\
{{ config(materialized='table') }}
-- depends_on: {{ ref('calendar') }}
with source as (
    select * from {{ source('till', 'raw_coins') }}
),
paid as ( select * from {{- ref("shop", 'stg_coins', v=2) -}} )
{# from {{ ref('forgotten') }} #}
select
    {{ cents('amount') }} as amount,
    {{ dbt_utils.star(from=ref('stg_notes')) }}
from source join paid using (id) join currencies using (currency)
{% if is_incremental() %} where id > (select max(id) from {{ this }}) {% endif %}
"""
MACROS = """\
{# Of a price. #}
{% macro cents(column_name, digits=2) -%}
    round({{ half(column_name) }} / 100, {{ digits }})
{%- endmacro %}

{% macro half(column_name) %} {{ column_name }} / 2 {% endmacro %}
"""


def _found(texts: dict[str, str], path: str) -> list[GraphNode | GraphEdge]:
    files = [file_of(text, one) for one, text in texts.items()]
    file = next(one for one in files if one.path == path)
    return list(objects_of(file, SqlSymbols([declared_in(files)])))


def test_a_model_is_a_view_that_reads_what_its_tags_name() -> None:
    files = {"models/coins.sql": MODEL, "macros/cents.sql": MACROS, "models/stg_coins.sql": "{{ config() }} select 1"}
    found = _found(files, "models/coins.sql")
    assert shown(found) == [
        "dbo.coins|VIEW Executes dbo.cents|FUNC",
        "dbo.coins|VIEW ReadsFrom dbo.calendar|TABLE_OR_VIEW",
        "dbo.coins|VIEW ReadsFrom dbo.currencies|TABLE_OR_VIEW",
        "dbo.coins|VIEW ReadsFrom dbo.stg_coins|VIEW",
        "dbo.coins|VIEW ReadsFrom dbo.stg_notes|TABLE_OR_VIEW",
        "dbo.coins|VIEW ReadsFrom till.raw_coins|TABLE_OR_VIEW",
    ]
    assert {edge.target: edge.line for edge in edges(found)}["till.raw_coins|TABLE_OR_VIEW"] == 4


def test_macros_are_functions_that_call_each_other() -> None:
    found = _found({"macros/cents.sql": MACROS}, "macros/cents.sql")
    assert shown(found) == ["dbo.cents|FUNC Executes dbo.half|FUNC"]
    cents = next(node for node in nodes(found) if node.name == "cents")
    assert (cents.signature, cents.line_start, cents.line_end) == ("macro cents(column_name, digits=2)", 2, 4)


@pytest.mark.parametrize(
    ("path", "text", "symbols"),
    [
        ("models/a/orders.sql", MODEL, [("view", "dbo.orders")]),
        ("macros/cents.sql", MACROS, [("function", "dbo.cents"), ("function", "dbo.half")]),
        (
            "snapshots/all.sql",
            "{% snapshot old_coins %}\nselect * from {{ ref('coins') }}\n{% endsnapshot %}\n",
            [("view", "dbo.old_coins")],
        ),
        (
            "tests/assert_paid.sql",
            "select * from {{ ref('coins') }} where amount < 0",
            [("script", "tests/assert_paid.sql")],
        ),
        ("analyses/look.sql", "select * from {{ ref('coins') }}", [("script", "analyses/look.sql")]),
        ("macros/open.sql", "{% macro open(a) %} select {{ ref('coins') }}", [("script", "macros/open.sql")]),
        ("db/other.sql", "CREATE VIEW v AS SELECT * FROM {{ schema }}.coins", [("view", "dbo.v")]),
    ],
)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_templates_are_divided_by_what_they_make(
    path: str, text: str, symbols: list[tuple[str, str]], line_end: str
) -> None:
    text = text.replace("\n", line_end)
    file = segment_file(text, path, "sql")
    check_invariants(text, file)
    assert [(one.kind, one.symbol) for one in file.segments] == symbols


def test_the_text_without_tags_has_the_same_lines() -> None:
    assert without_tags("a{{b\r\n}}c{#d#}{%e%}\n{{f") == "a   \r\n  c          \n{{f"


@pytest.mark.parametrize(
    "repeated", ["{{ ", "{% macro a() %}", "{# ", "{{ ref('a') ", "{{ ref(", "{{ a( }}", "{%- endmacro %}"]
)
def test_templates_that_never_end_take_linear_time(repeated: str) -> None:
    text = "{{ ref('a') }}\n" + repeated * (400_000 // len(repeated))
    with ends_within(10):
        _found({"models/a.sql": text}, "models/a.sql")


def test_many_macros_that_name_models_take_linear_time() -> None:
    text = "".join(f"{{% macro a{at}(x) %}} {{{{ ref('b{at}') }}}} {{% endmacro %}}\n" for at in range(8_000))
    with ends_within(4):
        assert len(_found({"macros/a.sql": text}, "macros/a.sql")) > 8_000
