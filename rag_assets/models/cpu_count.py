"""How many threads compute: the processor cores this process may really use."""

from __future__ import annotations

import math
import os
from pathlib import Path

_CPU_FOLDER = Path("/sys/devices/system/cpu")
_CGROUP_LIMIT = Path("/sys/fs/cgroup/cpu.max")


def usable_cores(cpus: Path = _CPU_FOLDER, cgroup_limit: Path = _CGROUP_LIMIT) -> int:
    """Physical cores within the CPU affinity and the container limit of this process, at least 1.

    Logical processors where the platform does not tell them from cores. The two threads of a core share its
    vector units, so a second worker on them gains little and delays everything else.
    """
    if hasattr(os, "sched_getaffinity"):
        available = os.sched_getaffinity(0)
        siblings = {_read(cpus / f"cpu{cpu}" / "topology" / "thread_siblings_list") or str(cpu) for cpu in available}
        count = len(siblings)
    else:
        count = os.cpu_count() or 1
    return max(1, min(count, _container_limit(cgroup_limit)))


def _container_limit(file: Path) -> int:
    """`200000 100000` of a control group = 2 CPUs; `max 100000`, or no such file = no limit."""
    quota, _, period = _read(file).partition(" ")
    if not quota.isdecimal() or not period.isdecimal() or int(period) == 0:
        return os.cpu_count() or 1
    return math.ceil(int(quota) / int(period))


def _read(file: Path) -> str:
    """The first line; nothing where the platform has no such file."""
    try:
        return file.read_text(encoding="ascii").strip()
    except OSError:
        return ""
