"""What a program with windows declares of them: the keys that do something, and the windows that markup lays out."""

from __future__ import annotations

import re
from collections.abc import Iterator

KEY_WORDS = (
    "KeyGesture KeyBinding KeyBindings InputGesture InputGestureText HotKey KeyboardAccelerator KeyboardAccelerators"
    " ShortcutKeys setShortcut QShortcut QKeySequence getKeyStroke accelerator keyboardShortcut addShortcut"
)
"""The words of code that gives a key something to do."""
_KEYS = re.compile(
    r"\bnew\s+(?:\w+\.)*(?:KeyGesture|KeyBinding|QShortcut)\s*\(|<(?:\w+:)?(?:KeyBinding|KeyboardAccelerator)\s"
    r"|<KeyGesture>\s*+\w|<Key x:Key=\"\w+\">\s*+(?!None\b)\w"
    r"|\b(?:InputGesture(?:Text)?|HotKey)=\"(?!\{)\w"
    r"|\bShortcutKeys\s*=\s*+(?!\(*(?:\w+\.)*Keys\.None\b)\W*(?:\w+\.)*Keys\b"
    r"|\bset(?:Shortcut|Accelerator)\w*\(\s*\W*[\w:]|\bgetKeyStroke\(\s*[\w\"]|\baccelerator:\s*[\"']|\.keyboardShortcut\("
)
"""WPF, Avalonia, WinUI, MAUI, Windows Forms, Qt, Swing, JavaFX, Electron, SwiftUI."""
_LAID_OUT = re.compile(r"<(?:\w+:)?(?P<tag>\w+)\b[^<>]*?\bx:Class=\"(?P<type>[\w.]+)\"")


def keys_declared(text: str) -> Iterator[int]:
    """Where code gives a key something to do, in the order of the text."""
    return (found.start() for found in _KEYS.finditer(text))


def laid_out(text: str) -> tuple[str, str, int] | None:
    """(its type, what it is, where that is said) of what a file of XAML lays out: `Editor`, `ExWindow`."""
    found = _LAID_OUT.search(text)
    return (found["type"].rpartition(".")[2], found["tag"], found.start()) if found is not None else None
