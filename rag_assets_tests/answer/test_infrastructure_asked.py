"""What operators ask: inputs, outputs and resources of Terraform and Bicep, values of charts, objects of Kubernetes,
secrets and triggers of workflows, scripts of npm, and the parameters and commands of PowerShell."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets import Index, open_index
from rag_assets.index.layout import IndexHome
from rag_assets_tests.cli.conftest import index_without_dagster, new_repository, opened_index

FILES = {
    "README.md": "# Harbour\n\nShips and quays.\n",
    "variables.tf": """\
variable "crane_count" {
  description = "How many cranes unload a ship"
  type        = number
  default     = 2
}

variable "quay_name" {
  type = string
}

variable "beacon_colour" {
  type    = string
  default = "green"
}
""",
    "versions.tf": 'terraform {\n  required_version = ">= 1.4"\n}\n',
    "compose.yml": "services:\n  db:\n    image: postgres:15\n  crane:\n    image: crane:2\n",
    "web/README.md": "# Web\n\n## Check it\n\n    npx playwright test --headed\n",
    "web/src/env.ts": "export const url = import.meta.env.PIER_URL;\nexport const key = import.meta.env.PIER_KEY;\n",
    "tools/Tide.ps1": "$table = $env:TIDE_TABLE\n$moon = $env:MOON_TABLE\n",
    "outputs.tf": 'output "quay_id" {\n  value = aws_quay.main.id\n}\n',
    "modules/tug-boat/main.tf": 'variable "fuel" {\n  default = "diesel"\n}\n\noutput "tug_id" {\n  value = 1\n}\n\n'
    'resource "aws_tug" "this" {\n  fuel = var.fuel\n}\n',
    "deploy/main.bicep": "param berth string\nparam tide string = 'low'\n\n"
    "resource sea 'Microsoft.Sea/seas@2024-01-01' = {\n"
    "  name: berth\n}\n\nmodule pier './pier.bicep' = {\n  name: 'pier'\n}\n\noutput seaId string = sea.id\n",
    "charts/ferry/Chart.yaml": "apiVersion: v2\nname: ferry\nversion: 0.1.0\n",
    "charts/ferry/values.yaml": "# Of the ferry.\nseats: 40\nimage:\n  name: ferry\n  tag: v3\nextra: {}\n",
    "k8s/dock.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: dock\nspec:\n  replicas: 2\n---\n"
    "apiVersion: v1\nkind: Service\nmetadata:\n  name: dock-front\n",
    "web/package.json": '{\n  "name": "harbour",\n  "scripts": {\n    "sail": "vite",\n    "moor": "tsc"\n  },\n'
    '  "dependencies": {\n    "rope": "1.0.0"\n  }\n}\n',
    ".github/workflows/release.yml": "name: Release\non:\n  push:\n    branches: [main]\njobs:\n  launch:\n"
    "    steps:\n      - run: launch\n        env:\n          KEY: ${{ secrets.HARBOUR_KEY }}\n"
    "      - run: echo ${{ secrets.HARBOUR_KEY }}\n",
    ".github/workflows/nightly.yml": "name: Soundings of the harbour\non:\n  schedule:\n"
    "    - cron: '0 3 * * *'\njobs:\n  sound:\n"
    "    steps:\n      - uses: 'actions/checkout@v4'\n      - run: sound\n"
    "      - name: 'Chart'\n        env:\n          DEPTH: 9\n        run: |\n          chart --all\n",
    "tools/Harbour.psd1": "@{\n    ModuleVersion = '1.0'\n    FunctionsToExport = @(\n        'Send-Ship'\n"
    "        'Get-Tide', 'Get-Wind'\n    )\n    AliasesToExport = @('ship')\n}\n",
    "tools/Harbour.psm1": """\
function Send-Ship {
    <#
    .SYNOPSIS
    Sends a ship (or two), to sea.
    #>
    param (
        [Parameter(Mandatory = $true)]
        [ValidateSet('Ferry', 'Tug')]
        [string] $Kind,

        [Parameter(Mandatory = $false)]
        [int] $Crew = 3  # at least
    )
    "$Kind leaves"
}
""",
}


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    base = tmp_path_factory.mktemp("infrastructure")
    home = IndexHome(base / "home")
    index_without_dagster(home, new_repository(base / "harbour", {**FILES}), "harbour")
    with open_index("harbour@main", home=home.root) as index:
        yield index


def told(index: Index, question: str) -> list[tuple[str, str]]:
    """(what, where) of the list that answers a question."""
    return re.findall(
        r"^- \*\*([\w.-]+(?:\*\* \w+ \*\*\w+)?)\*\* in ([\w./-]+:\d+)", index.ask(question).text, re.MULTILINE
    )


@pytest.mark.parametrize(
    ("question", "listed"),
    [
        (
            "which variables are there and what are their defaults?",
            [
                ("crane_count", "variables.tf:4"),
                ("quay_name** is **required", "variables.tf:7"),
                ("beacon_colour", "variables.tf:13"),
                ("fuel", "modules/tug-boat/main.tf:2"),
            ],
        ),
        ("which variables are required?", [("quay_name** is **required", "variables.tf:7")]),
        ("what is the default of the beacon colour?", [("beacon_colour", "variables.tf:13")]),
        ("what is the default tide?", [("tide", "deploy/main.bicep:2")]),
        ("which variables set the cranes?", [("crane_count", "variables.tf:4")]),
        ("which inputs does the tug boat module have?", [("fuel", "modules/tug-boat/main.tf:2")]),
        ("which outputs does the tug boat module have?", [("tug_id", "modules/tug-boat/main.tf:5")]),
        (
            "which parameters does main.bicep have?",
            [("berth** is **required", "deploy/main.bicep:1"), ("tide", "deploy/main.bicep:2")],
        ),
        ("what resources does the tug boat create?", [("aws_tug.this", "modules/tug-boat/main.tf:9")]),
        (
            "which resources does the bicep template create?",
            [
                ("sea", "deploy/main.bicep:4"),
                ("pier", "deploy/main.bicep:8"),
                ("aws_tug.this", "modules/tug-boat/main.tf:9"),
            ],
        ),
        (
            "which chart values does the ferry have and what are their defaults?",
            [
                ("seats", "charts/ferry/values.yaml:2"),
                ("image.name", "charts/ferry/values.yaml:4"),
                ("image.tag", "charts/ferry/values.yaml:5"),
                ("extra", "charts/ferry/values.yaml:6"),
            ],
        ),
        ("which image does the database use?", [("db", "compose.yml:3")]),
        (
            "which environment variables are needed?",
            [
                ("TIDE_TABLE", "tools/Tide.ps1:1"),
                ("MOON_TABLE", "tools/Tide.ps1:2"),
                ("PIER_URL", "web/src/env.ts:1"),
                ("PIER_KEY", "web/src/env.ts:2"),
            ],
        ),
        (
            "which environment variables does the web frontend need?",
            [("PIER_URL", "web/src/env.ts:1"), ("PIER_KEY", "web/src/env.ts:2")],
        ),
        ("which Terraform version do I need?", [("versions.tf", "versions.tf:2")]),
        ("how do I run the end-to-end tests?", [("README.md", "web/README.md:5")]),
        ("which deployments are there?", [("dock", "k8s/dock.yaml:2")]),
        ("which services run in the cluster?", [("dock-front", "k8s/dock.yaml:9")]),
        ("which npm scripts are there?", [("sail", "web/package.json:4"), ("moor", "web/package.json:5")]),
        ("which secrets does the GitHub workflow need?", [("HARBOUR_KEY", ".github/workflows/release.yml:10")]),
        (
            "what does the CI pipeline do?",
            [
                ("sound", ".github/workflows/nightly.yml:9"),
                ("Chart", ".github/workflows/nightly.yml:14"),
                ("launch", ".github/workflows/release.yml:8"),
                ("launch", ".github/workflows/release.yml:11"),
            ],
        ),
        (
            "Show me what runs when somebody pushes a commit.",
            [("launch", ".github/workflows/release.yml:8"), ("launch", ".github/workflows/release.yml:11")],
        ),
        (
            "which commands does the module export?",
            [
                ("Send-Ship", "tools/Harbour.psd1:4"),
                ("Get-Tide", "tools/Harbour.psd1:5"),
                ("Get-Wind", "tools/Harbour.psd1:5"),
            ],
        ),
        (
            "which parameters does Send-Ship have?",
            [("Kind** is **mandatory", "tools/Harbour.psm1:9"), ("Crew", "tools/Harbour.psm1:12")],
        ),
        ("which parameters of Send-Ship are mandatory?", [("Kind** is **mandatory", "tools/Harbour.psm1:9")]),
    ],
)
def test_what_infrastructure_declares_is_listed_where_it_does(
    harbour: Index, question: str, listed: list[tuple[str, str]]
) -> None:
    assert told(harbour, question) == listed


@pytest.mark.parametrize(
    "question",
    [
        "which environment variables does the ferry read?",
        "which variables hold the captain?",
        "which parameters does the tide endpoint take?",
        "which resources does the captain use?",
    ],
)
def test_what_is_no_infrastructure_is_not_listed_so(harbour: Index, question: str) -> None:
    assert told(harbour, question) == []


def test_a_project_reads_all_variables_that_it_has_whatever_its_files_are_called(harbour: Index) -> None:
    assert told(harbour, "which environment variables does Harbour read?") == told(
        harbour, "which environment variables are there?"
    )


def test_an_object_that_no_manifest_declares_is_not_guessed(harbour: Index) -> None:
    answer = harbour.ask("which ingress exposes the dock?")
    assert "Not sure" in answer.text and "declares an object of the kind ingress" in " ".join(answer.notes)


@pytest.mark.parametrize(
    ("question", "shown", "other"),
    [
        ("when does the release workflow run?", "branches: [main]", "cron"),
        ("when does the soundings workflow run?", "0 3 * * *", "branches"),
        ("on which schedule are the soundings of the harbour done at night?", "0 3 * * *", "branches"),
    ],
)
def test_a_workflow_is_shown_where_it_says_when_it_runs(harbour: Index, question: str, shown: str, other: str) -> None:
    answer = harbour.ask(question).text
    assert shown in answer and other not in answer


def test_a_workflow_without_a_schedule_is_said_to_have_none(harbour: Index) -> None:
    answer = harbour.ask("on which schedule does the release workflow run?")
    assert answer.unsure and answer.notes == (".github/workflows/release.yml has no schedule",)


def test_the_workflow_that_is_called_ci_is_the_one_that_is_meant(tmp_path: Path) -> None:
    files = {
        f".github/workflows/{name}.yml": f"name: {name}\non:\n  {event}:\n    branches: [{branch}]\njobs:\n  a: 1\n"
        for name, event, branch in (("ci", "pull_request", "staging"), ("cd", "push", "live"))
    }
    with opened_index(tmp_path, files, "slips") as index:
        one, every = index.ask("when does the CI workflow run?").text, index.ask("when do the workflows run?").text
    assert "staging" in one and "live" not in one
    assert "staging" in every and "live" in every


SHIPYARD = {
    "variables.tf": 'variable "region" {}\n\nvariable "tags" {\n  type = object({\n    default_colour = string\n  })\n'
    '}\n\nvariable "size" { default = 3 }\n',
    "chart/templates/service.yaml": 'apiVersion: v1\nkind: Service\nmetadata:\n  name: {{ include "dry.dock" . }}\n'
    "spec:\n  ports:\n    - port: 80\n      name: http\n",
    "k8s/slip.yaml": 'apiVersion: v1\nkind: Service\nmetadata:\n  labels:\n    name: label\n  name: "slip"\n',
    "package.json": '{\n  "scripts": {\n    "lint": "eslint src/**/*.{ts,tsx}",\n    "weld": "tsc"\n  },\n'
    '  "license": "MIT"\n}\n',
    ".github/workflows/push.yml": "on: push\njobs:\n  push:\n    steps:\n"
    "      - run: login -u ${{ secrets.YARD_USER }} -p ${{ secrets.YARD_PASSWORD }}\n",
}


@pytest.mark.parametrize(
    ("question", "declared"),
    [
        ("which terraform variables are required?", ["region", "tags"]),
        ("which services are in the cluster?", ["service", "slip"]),
        ("which npm scripts are there?", ["lint", "weld"]),
        ("which secrets do the workflows need?", ["YARD_PASSWORD", "YARD_USER"]),
    ],
)
def test_each_declaration_is_read_to_its_end_and_no_further(
    shipyard: Index, question: str, declared: list[str]
) -> None:
    told = shipyard.ask(question).text
    assert sorted({*re.findall(r"^- \*\*([\w-]+)\*\*", told, re.MULTILINE)}) == declared


@pytest.fixture(scope="module")
def shipyard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("shipyard"), SHIPYARD, "shipyard") as index:
        yield index
