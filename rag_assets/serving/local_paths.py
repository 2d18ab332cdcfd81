"""What a caller from elsewhere is not told: where this machine keeps the home, its configuration and the repositories.

Errors name the file that is damaged or missing, for whoever can repair it. Others get the end of its path, which says
as much to somebody who asks for help.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path, PurePath

from rag_assets.index.freshness import remembered_repository
from rag_assets.index.layout import IndexHome

_ABSOLUTE = re.compile(r"/|[A-Za-z]:/")


def unreadable(error: OSError) -> str:
    """What the system says, without what a library adds to it: the name of the file."""
    said = os.strerror(error.errno) if error.errno else "the disk does not answer"
    return f"the index cannot be read: {said}; try again, and where that does not help index the repository again"


def checkouts(home: IndexHome, label: str, folder: Path | None) -> tuple[Path, ...]:
    """Where the files of a label are on this machine: the checkout that a client works in, and what was indexed."""
    known = [] if folder is None else [one for one in (folder, *folder.parents) if (one / ".git").exists()][:1]
    location = remembered_repository(home, label).get("location")
    known += [Path(location)] if isinstance(location, str) and Path(location).is_absolute() else []
    return tuple(dict.fromkeys([*known, *(path.resolve() for path in known)]))


def inside(place: str, roots: Iterable[PurePath]) -> str:
    """`src/A.cs:12` of `/srv/shop/src/A.cs:12` or `C:\\shop\\src\\A.cs:12`, as editors and agents name files; a place
    that is in none of the folders as it is written."""
    written = place.replace("\\", "/")
    if not _ABSOLUTE.match(written):
        return place
    for root in roots:
        before = f"{root.as_posix().rstrip('/')}/"
        if written.casefold().startswith(before.casefold()):
            return written[len(before) :]
    return place


def without_places(text: str, home: IndexHome, config: Path | None) -> str:
    """A message with `…/shop` in place of `/srv/repositories/shop`."""
    if "/" not in text and "\\" not in text:
        return text
    known = {home.root, Path.home(), Path(sys.prefix)}
    if config is not None:
        known.add(config.parent)
    for label in home.known_labels():
        location = remembered_repository(home, label).get("location")
        if isinstance(location, str):
            known.add(Path(location))
    known |= {path.absolute() for path in known} | {path.resolve() for path in known}
    for path in sorted((path for path in known if path.is_absolute() and path.name), key=lambda one: -len(str(one))):
        text = re.sub(rf"{re.escape(str(path))}(?![\w-])", f"…/{path.name}".replace("\\", r"\\"), text)
    return text
