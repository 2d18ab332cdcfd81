"""Secrets in every kind of file are found again nowhere in what the command line writes."""

from __future__ import annotations

import contextlib
import os
import random
import sqlite3
import subprocess
import sys
import zlib
from pathlib import Path

import pyarrow.parquet as pq
import re2

from rag_assets_tests.documents import docx, paragraph, pdf, vtt
from rag_assets_tests.git_repository import Repository
from rag_assets_tests.planted_secrets import KINDS, Kind, Planted

PLACES = {
    "code": ("src/Code{n}.cs", 'public static class Code{n} {{\n    public const string {name} = "{value}";\n}}\n'),
    "doc comment": ("src/Doc{n}.cs", "/// <summary>Use {said} here.</summary>\npublic class Doc{n} {{ }}\n"),
    "settings": ("app{n}/appsettings.json", '{{\n  "Section": {{ "{name}": "{value}" }}\n}}\n'),
    "yaml": ("deploy/a{n}.yml", "root:\n  {name}: {value}\n"),
    "environment": ("env{n}/.env", "{name}={value}\n"),
    "text": ("docs/a{n}.md", "# Login {n}\n\nUse {said} to log in, then go on.\n"),
    "fenced code": ("docs/b{n}.md", "# Run {n}\n\n```\n{said}\n```\n"),
    "resources": ("src/R{n}.resx", '<root><data name="V{n}" xml:space="preserve"><value>{said}</value></data></root>'),
    "word": ("docs/a{n}.docx", "The value ({said}) is used."),
    "sql": ("db/a{n}.sql", "-- {said}\nCREATE TABLE t{n} (id int);\n"),
    "transcript": ("docs/a{n}.vtt", "We use {said} now"),
    "two literals": ("src/Two{n}.cs", 'class Two{n} {{ string c = "{halves}"; }}\n'),
    "PDF": ("docs/a{n}.pdf", "We use {said} now"),
    "script": ("run/a{n}.py", "{name} = '{value}'\n"),
    "subject": ("", "Change {said} of shop {n}"),
    "file name": ("names/{value}.md", "# A note {n}\n"),
    "folder name": ("in/{value}/a.md", "# A note {n}\n"),
}
PER_KIND = 3


def _fits(kind: Kind, place: str) -> bool:
    if place.endswith("name"):
        return kind.text == "{}" and not kind.key
    if place == "two literals":
        return "Password=" in kind.text
    return not kind.key or place not in {"doc comment", "resources", "sql", "transcript"}


def _plant(repository: Repository) -> list[Planted]:
    drawn = random.Random(19)
    planted, files, subjects = [], {}, []
    for number, kind in enumerate(KINDS):
        fitting = [place for place in PLACES if _fits(kind, place)]
        for turn in range(PER_KIND):
            place = fitting[(number + turn * 5) % len(fitting)]
            secret = kind.make(drawn)
            if place.endswith("name") and "/" in secret:
                place = "text"
            told = kind.text.format(secret)
            said = f"{kind.key}={told}" if kind.key else told
            path, form = PLACES[place]
            values = {"n": len(planted), "name": kind.key or "Value", "value": told, "said": said}
            values["halves"] = told.replace(";Password=", ';" +\n        "Password=')
            text = form.format(**values)
            planted.append(Planted(kind.name, place, secret))
            if place == "subject":
                subjects.append(text)
            elif place == "word":
                files[path.format(**values)] = docx(paragraph(text))
            elif place == "PDF":
                files[path.format(**values)] = pdf(text)
            elif place == "transcript":
                files[path.format(**values)] = vtt(("00:01", text))
            else:
                files[path.format(**values)] = text
    repository.commit(files, "all")
    for number, subject in enumerate(subjects):
        repository.commit({f"src/Changed{number}.cs": f"class Changed{number} {{ }}"}, subject)
    return planted


def written(folder: Path) -> bytes:
    """All bytes of all files and their names, Parquet, SQLite and zlib decoded, in lower case."""
    found = []
    for file in folder.rglob("*"):
        found.append(str(file.relative_to(folder)).encode())
        if not file.is_file():
            continue
        data = file.read_bytes()
        found.append(data)
        if file.suffix == ".parquet":
            found.append(repr(pq.read_table(file).to_pylist()).encode())
        elif data.startswith(b"SQLite format 3"):
            found += _rows(file)
        else:
            found += _unpacked(data)
    return b"\n".join(found).lower()


def _rows(file: Path) -> list[bytes]:
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as database:
        names = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        cells = [cell for name in names for row in database.execute(f'SELECT * FROM "{name}"') for cell in row]
    return [
        piece
        for cell in cells
        for piece in ([cell, *_unpacked(cell)] if isinstance(cell, bytes) else [str(cell).encode()])
    ]


def _unpacked(data: bytes) -> list[bytes]:
    import pyarrow as pa

    found = []
    for codec in ("zstd", "gzip", "lz4"):
        try:
            found.append(pa.input_stream(pa.py_buffer(data), compression=codec).read())
        except (OSError, ValueError):
            continue
    with contextlib.suppress(zlib.error):
        found.append(zlib.decompress(data))
    return found


def test_planted_secrets_are_found_again_nowhere(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    repository = Repository(tmp_path / "shop")
    repository.git("init", "--quiet", "--initial-branch=main")
    planted = _plant(repository)
    assert (
        len(planted) >= 200 and len({one.kind for one in planted}) >= 60 and len({one.place for one in planted}) >= 12
    )
    asked = [one.secret for one in planted if one.kind in {"GitHub", "Stripe of 107", "OpenAI project"}]
    home = tmp_path / "home"
    (tmp_path / "rag_assets.yaml").write_text("stores: {catalog: sqlite}\n")

    def run(*words: str) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "rag_assets", "--home", str(home), *words],
            cwd=tmp_path,
            env=os.environ | {"COLUMNS": "200"},
            capture_output=True,
            timeout=600,
            check=False,
        )
        assert done.returncode in {0, 4}, done.stderr.decode()

    run("index", str(repository.path), "--lexical-only")
    for secret in asked:
        run("ask", f"where is {secret} used?", "--session", "s1")
    assert {"conversations.sqlite", "catalog.sqlite"} <= {file.name for file in home.rglob("*")}
    assert len(_found(planted, written(repository.path))) > len(planted) - 20, "what is compressed in Word stays unseen"
    assert not _found(planted, written(home))


def _found(planted: list[Planted], data: bytes) -> set[tuple[str, str, str]]:
    """The secrets of which a piece is in the data."""
    options = re2.Options()
    options.max_mem = 1 << 30
    telling = [(part, one) for one in planted for part in one.parts]
    searched = re2.Set.SearchSet(options)
    for part, _ in telling:
        searched.Add(re2.escape(part))
    searched.Compile()
    numbers = searched.Match(data) or ()
    return {(one.kind, one.place, one.secret) for one in (telling[number][1] for number in numbers)}
