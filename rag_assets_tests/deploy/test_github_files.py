"""The files that a host reads (.github) follow its schemas, and run commands that there are."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
EXAMPLE = ROOT / "docs" / "examples" / "github-actions.yml"
FORMS = sorted(path for path in (GITHUB / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")

KINDS: dict[str, list[Path]] = {
    "github-workflows": [*WORKFLOWS, EXAMPLE],
    "github-issue-forms": FORMS,
    "github-issue-config": [GITHUB / "ISSUE_TEMPLATE" / "config.yml"],
    "dependabot": [GITHUB / "dependabot.yml"],
}

MISTAKES = {
    "github-workflows": ("runs-on: ubuntu-latest", "run-on: ubuntu-latest"),
    "github-issue-forms": ("type: textarea", "type: textaera"),
    "dependabot": ("interval: weekly", "interval: sometimes"),
}
"""What somebody may write by mistake, and whoever checks must find."""


def check(kind: str, *files: Path) -> subprocess.CompletedProcess[str]:
    pytest.importorskip("check_jsonschema", reason="check-jsonschema is not installed")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{kind}", *map(str, files)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("kind", KINDS)
def test_files_follow_their_schema(kind: str, tmp_path: Path) -> None:
    done = check(kind, *KINDS[kind])
    assert done.returncode == 0, done.stdout
    if kind in MISTAKES:
        right, wrong = MISTAKES[kind]
        text = KINDS[kind][0].read_text(encoding="utf-8")
        assert right in text
        damaged = tmp_path / "damaged.yml"
        damaged.write_text(text.replace(right, wrong), encoding="utf-8")
        assert check(kind, damaged).returncode == 1


def jobs(path: Path) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]
    return found


def lines(path: Path) -> str:
    return "\n".join(step["run"] for job in jobs(path).values() for step in job["steps"] if "run" in step)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_may_do_little_and_end(path: Path) -> None:
    assert yaml.safe_load(path.read_text(encoding="utf-8"))["permissions"] == {"contents": "read"}
    assert all(job["timeout-minutes"] for job in jobs(path).values())
    for job in jobs(path).values():
        assert set(job.get("needs", [])) <= set(jobs(path)) or job["needs"] in jobs(path)
    assert "${{" not in lines(path), "an expression in a script runs what it holds; hand it over as a variable"


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_use_targets_and_files_that_there_are(path: Path) -> None:
    for target in re.findall(r"\bmake (\w+)", lines(path)):
        assert re.search(rf"^{target}:", MAKEFILE, re.MULTILINE), target
    for module in re.findall(r"python -m (rag_assets[\w.]*)", lines(path)):
        assert (ROOT / module.replace(".", "/")).exists(), module


def test_every_supported_python_is_tested_on_every_system() -> None:
    matrix = jobs(GITHUB / "workflows" / "ci.yml")["tests"]["strategy"]["matrix"]
    declared = re.findall(r"Python :: (3\.\d+)\"", (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert matrix["python"] == declared
    assert [name.partition("-")[0] for name in matrix["os"]] == ["ubuntu", "macos", "windows"]


def test_a_release_publishes_without_a_kept_token() -> None:
    release = GITHUB / "workflows" / "release.yml"
    publish = jobs(release)["publish"]
    assert publish["permissions"] == {"id-token": "write"}
    assert publish["environment"] == "pypi"
    assert "secrets." not in release.read_text(encoding="utf-8")


def test_the_changelog_has_the_version_of_the_package() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    heads = re.findall(r"^## \[(.+?)\](?: - \d{4}-\d\d-\d\d)?$", changes, re.MULTILINE)
    assert heads[:2] == ["Unreleased", version]


def test_hooks_before_a_commit_run_what_there_is() -> None:
    (repository,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    for hook in repository["hooks"]:
        assert hook["entry"].startswith(".venv/bin/")
        for word in hook["entry"].split():
            if word.endswith(".py"):
                assert (ROOT / word).is_file(), word
