"""Where the server of a home listens for clients of this machine: a socket that only its owner can open."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from pathlib import Path

from rag_assets.index.layout import IndexHome

_LONGEST = 100
"""Bytes of the path of a socket: 104 on macOS, 108 on Linux, with a zero at the end."""
_FOLDER = "serve"


def is_supported() -> bool:
    """Python has sockets of this kind on Linux and macOS."""
    return sys.platform != "win32"


def socket_path(home: IndexHome, config: Path | None, version: str) -> Path:
    """Of the server of one home, one configuration and one version, so that an upgrade begins with a new server. In the
    home; in a folder of the user where there is none yet, it cannot be written, or its path is too long. Makes the
    folder. Raises OSError on Windows."""
    if not is_supported():
        raise OSError("Windows has no such socket; each agent has a server of its own")
    what = "\0".join([str(home.root.resolve()), str(config.resolve()) if config else "", version, sys.prefix])
    name = f"{hashlib.sha256(what.encode('utf-8', 'surrogateescape')).hexdigest()[:16]}.sock"
    inside = home.root.resolve() / _FOLDER
    if home.root.is_dir() and len(os.fsencode(inside / name)) <= _LONGEST and _made(inside):
        return inside / name
    outside = Path(os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()) / f"rag-assets-{os.getuid()}"
    if not _made(outside):
        raise PermissionError(f"{outside} belongs to somebody else; remove it, or set XDG_RUNTIME_DIR")
    return outside / name


def _made(folder: Path) -> bool:
    """Whether the folder is there and belongs to this user alone."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        about = folder.lstat()
        if about.st_uid != os.getuid() or not folder.is_dir() or folder.is_symlink():
            return False
        if about.st_mode & 0o077:
            folder.chmod(0o700)
        return os.access(folder, os.W_OK)
    except OSError:
        return False
