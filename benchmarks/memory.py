"""Peak memory of a process and of the workers of a build. A module, because workers do not import scripts."""

from __future__ import annotations

import os
import sys
from typing import Any


def peak_of_worker(build: Any, bucket: int) -> tuple[int, float]:
    """(process, its peak memory in MB), asked of the workers once everything is done."""
    return os.getpid(), peak_mb()


def peak_mb() -> float:
    """Peak resident memory of this process in MB; 0 where the platform does not tell."""
    try:
        import resource
    except ImportError:
        return 0.0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)
