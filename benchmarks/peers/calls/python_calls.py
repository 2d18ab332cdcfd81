"""Calls of Python as jedi resolves them: ROOT SUBFOLDER OUT. `pip install jedi`."""

from __future__ import annotations

import ast
import json
import os
import sys
from pathlib import Path

import jedi

root, sub, out = str(Path(sys.argv[1]).resolve()), sys.argv[2], sys.argv[3]
project, found = jedi.Project(root, smart_sys_path=True), []
for path in sorted(Path(root, sub).rglob("*.py")):
    text = path.read_text("utf-8", "replace")
    try:
        tree = ast.parse(text)
    except SyntaxError:
        continue
    script = jedi.Script(text, path=str(path), project=project)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Name):
            line, column, name = node.func.lineno, node.func.col_offset, node.func.id
        elif isinstance(node.func, ast.Attribute):
            line, column, name = node.func.end_lineno, node.func.end_col_offset - 1, node.func.attr
        else:
            continue
        try:
            meant = script.goto(line, column, follow_imports=True)
        except Exception:  # what jedi cannot read it does not know
            continue
        places = [
            (os.path.relpath(one.module_path, root), one.line)
            for one in meant
            if one.module_path and str(one.module_path).startswith(root)
        ]
        found.append((os.path.relpath(path, root), line, name, places, bool(meant)))
Path(out).write_text(json.dumps(found))
