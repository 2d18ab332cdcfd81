"""Text of repositories and of people as it may be shown: it is data, so an escape sequence in it must not reach a
terminal as one, what turns the order of characters around must not make it look like another text, and what has no
width must not hide in it."""

from __future__ import annotations

import re
from collections.abc import Sequence

# The joiners U+200C and U+200D are letters' own business in scripts that need them and in emoji, never next to ASCII.
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ufffe\uffff\ud800-\udfff\U000e0000-\U000e007f]"
    r"|(?:^|(?<=[\x00-\x7f]))[\u200c\u200d]|[\u200c\u200d](?=[\x00-\x7f]|$)"
)


def printable(text: str) -> str:
    """Control characters other than tab and line feed as `\\xNN`; those that reorder or hide text as `\\uNNNN`."""
    return _CONTROL.sub(lambda match: _visible(ord(match.group())), text)


def abridged(texts: Sequence[str], most: int) -> str:
    """`a, b and 3 more`: the first `most` of them, and how many are left out."""
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return ", ".join(texts[:most]) + more


def _visible(code: int) -> str:
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
