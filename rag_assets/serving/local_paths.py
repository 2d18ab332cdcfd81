"""What a caller from elsewhere is not told: where this machine keeps the home, its configuration and the repositories.

Errors name the file that is damaged or missing, for whoever can repair it. Others get the end of its path, which says
as much to somebody who asks for help.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from rag_assets.index.freshness import remembered_repository
from rag_assets.index.layout import IndexHome


def unreadable(error: OSError) -> str:
    """What the system says, without what a library adds to it: the name of the file."""
    said = os.strerror(error.errno) if error.errno else "the disk does not answer"
    return f"the index cannot be read: {said}; try again, and where that does not help index the repository again"


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
