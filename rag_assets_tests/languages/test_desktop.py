"""Keys and windows are read as frameworks of desktops declare them."""

from __future__ import annotations

import pytest

from rag_assets.languages.desktop import keys_declared, laid_out


@pytest.mark.parametrize(
    "line",
    [
        'Open = new RoutedUICommand("Open", "Open", typeof(Keys), [new KeyGesture(Key.O, ModifierKeys.Control)]);',
        '<KeyBinding Command="{Binding Save}" Gesture="Ctrl+S" />',
        '<MenuItem Header="Save" InputGestureText="Ctrl+S" />',
        '<Button HotKey="Ctrl+S" />',
        '<KeyboardAccelerator Modifiers="Control" Key="S" />',
        "saveItem.ShortcutKeys = (Keys)(Keys.Control | Keys.S);",
        'action->setShortcut(QKeySequence("Ctrl+S"));',
        'menu.setAccelerator(KeyStroke.getKeyStroke("control S"));',
        "{ label: 'Save', accelerator: 'CmdOrCtrl+S' }",
        'Button("Save", action: save).keyboardShortcut("s", modifiers: .command)',
        "<KeyGesture>Ctrl + S</KeyGesture>",
        '<Key x:Key="StopShortcut">F8</Key>',
    ],
)
def test_what_gives_a_key_something_to_do(line: str) -> None:
    assert [*keys_declared(line)]


def test_what_gives_a_key_nothing_to_do() -> None:
    assert not [*keys_declared("saveItem.ShortcutKeys = Keys.None;\nif (e.Key == Key.S) Save();\n")]
    assert not [*keys_declared('<Key x:Key="EditorShortcut">None</Key>')]


def test_what_a_file_of_xaml_lays_out() -> None:
    text = '<!-- The editor. -->\n<n:ExWindow x:Name="Whole"\n            x:Class="Pen.Windows.Editor" Title="Pen">\n'
    assert laid_out(text) == ("Editor", "ExWindow", text.index("<n:"))
    assert laid_out("<ResourceDictionary>\n</ResourceDictionary>\n") is None
