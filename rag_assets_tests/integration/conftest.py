"""The comparison of two homes and the writer of git histories are those of the benchmarks, which are not a package."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
