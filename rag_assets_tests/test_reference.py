"""docs/reference says what the commands and the public names say themselves."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
GENERATOR = ROOT / "docs" / "make_reference.py"


def test_the_reference_is_current() -> None:
    done = subprocess.run([sys.executable, GENERATOR, "--check"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr
