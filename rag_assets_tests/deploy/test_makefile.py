"""What the targets for strangers would run, as make itself lists it."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


def lines(target: str, tmp_path: Path) -> str:
    """The commands of a target where nothing is set up yet."""
    command = ["make", "--dry-run", "--no-print-directory", f"VENV={tmp_path / 'venv'}", target]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("target", ["demo", "dev"])
def test_a_stranger_gets_the_package_alone_and_sees_what_is_installed(target: str, tmp_path: Path) -> None:
    (install,) = [line for line in lines(target, tmp_path).splitlines() if "--editable" in line]
    assert install.endswith("--editable .")
    assert "--quiet" not in install and "-q" not in install.split()


def test_the_ui_has_something_to_show(tmp_path: Path) -> None:
    said = lines("dev", tmp_path)
    assert said.index("rag-assets index examples/shop") < said.index("rag-assets dev")


def test_the_site_needs_no_extra_of_tests(tmp_path: Path) -> None:
    assert re.findall(r"\.\[(\S+)\]", lines("docs", tmp_path)) == ["docs"]
