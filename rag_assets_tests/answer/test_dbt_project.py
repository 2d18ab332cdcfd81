"""A project of dbt: its models, what they read, and what its files of YAML list."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_assets import Index
from rag_assets.answer.plans.items import items_below_keys
from rag_assets_tests.cli.conftest import opened_index
from rag_assets_tests.effort import ends_within

FILES: dict[str, str | bytes] = {
    "config/locales/en.yml": "en:\n  seasons:\n    high: High season\n    low: Low season\n",
    "README.md": "# Ferry data\n\nWhat the ferries earn.\n",
    "dbt_project.yml": "name: ferry\nmodels:\n  ferry:\n    staging:\n      +materialized: view\n",
    "models/staging/stg_tickets.sql": "select {{ to_euros('price') }} from {{ source('till', 'tickets') }}\n",
    "models/staging/stg_boats.sql": "select * from {{ source('till', 'boats') }}\n",
    "models/marts/revenue.sql": "select * from {{ ref('stg_tickets') }}\njoin {{ ref('stg_boats') }} using (boat_id)\n",
    "models/marts/revenue.yml": "metrics:\n  - name: income\n    type: simple\n  # more to come\n  - type: ratio\n"
    "    name: income_per_boat\nsaved_queries:\n  - name: monthly\n    metrics:\n      - income\n",
    "tasks.yml": "tasks:\n  cargo:\n    cmds:\n      - load\n    desc: the cargo\n",
    ".lint.yaml": "knots:\n  - name: bowline\n  - name: hitch\n",
    "quays.yml": 'quays: &quays\n  -   "Ost"  # the new one\n  -   "West # 2"\n  - *others\n  - >\n    South\n'
    "  - North\n",
    "macros/to_euros.sql": "{% macro to_euros(column_name) %} {{ column_name }} / 100 {% endmacro %}\n"
    "{% macro half(column_name) %} {{ column_name }} / 2 {% endmacro %}\n",
}


@pytest.fixture(scope="module")
def ferry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("ferry"), FILES, "ferry") as index:
        yield index


@pytest.mark.parametrize(
    ("question", "told", "items"),
    [
        ("which models are there?", ["**3 models:**", "**revenue** in models/marts/revenue.sql:1"], 3),
        ("which staging models are there?", ["**2 staging models:**", "**stg_boats**"], 2),
        (
            "which macros are there?",
            ["**2 macros:**", "**to_euros** in macros/to_euros.sql:1: `{% macro to_euros(column_name)"],
            2,
        ),
        ("what depends on stg_tickets?", ["**revenue** reads from **stg_tickets** in models/marts/revenue.sql:1"], 1),
        (
            "what does the revenue model read from?",
            ["**stg_tickets** in models/marts/revenue.sql:1", "**stg_boats** in models/marts/revenue.sql:2"],
            2,
        ),
        ("which models does revenue depend on?", ["**stg_tickets** in models", "**stg_boats** in models"], 2),
        ("which sources does stg_boats use?", ["**till.boats** in models/staging/stg_boats.sql:1"], 1),
        ("who uses to_euros?", ["**stg_tickets** executes **to_euros** in models/staging/stg_tickets.sql:1"], 1),
        (
            "which metrics are defined?",
            [
                "**2 metrics:**",
                "**income** in models/marts/revenue.yml:2",
                "**income_per_boat** in models/marts/revenue.yml:6",
            ],
            2,
        ),
        (
            "which quays are configured?",
            ["**3 quays:**", "**Ost** in", "**West # 2** in", "**North** in quays.yml:7"],
            3,
        ),
    ],
)
def test_a_project_of_dbt_is_told(ferry: Index, question: str, told: list[str], items: int) -> None:
    answer = ferry.ask(question).text
    assert all(one in answer for one in told) and answer.count("- **") == items


@pytest.mark.parametrize("question", ["which cargos are loaded?", "which quays can be used?", "which knots are there?"])
def test_one_thing_and_what_may_be_are_no_items_of_a_key(ferry: Index, question: str) -> None:
    assert "- **" not in ferry.ask(question).text


@pytest.mark.parametrize("line", [" " * 100_000 + "a:", "  - a" + " " * 100_000 + "b", "metrics:\t" * 20_000])
def test_long_lines_of_yaml_are_read_at_once(line: str) -> None:
    with ends_within(1):
        assert len(list(items_below_keys([(1, "metrics:"), (2, line), (3, "  - name: b")], ["metric"]))) <= 2


def test_texts_that_users_see_are_no_list_of_what_they_are_called_as(ferry: Index) -> None:
    assert "2 seasons" not in ferry.ask("which seasons are there?").text
