"""Imported by nobody but the server of processes, when it starts.

Its socket is in a temporary folder that the process which started it removes. Where that was killed, the server does it
when it ends: it ends with the last process that could ask it for another one.
"""

from __future__ import annotations

import atexit
import os
import socket
import stat
from contextlib import suppress
from pathlib import Path

_MOST_FILES = 256
"""Open ones. A server that begins has about ten."""


def _own_socket() -> Path | None:
    for number in range(_MOST_FILES):
        with suppress(OSError):
            if stat.S_ISSOCK(os.fstat(number).st_mode):
                with socket.socket(fileno=os.dup(number)) as found:
                    address = found.getsockname()
                if isinstance(address, str) and address:
                    return Path(address)
    return None


def _remove(path: Path) -> None:
    with suppress(OSError):  # it was removed
        path.unlink()
        path.parent.rmdir()


_path = _own_socket()
if _path is not None:
    atexit.register(_remove, _path)
