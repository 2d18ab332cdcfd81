"""Secrets are found again nowhere in what Dagster keeps and prints: runs that succeed, and errors that hold them."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import yaml

import rag_assets
from rag_assets_tests.cli.conftest import TIME_LIMIT, new_repository
from rag_assets_tests.cli.test_hostile_parsers import PACKAGE
from rag_assets_tests.planted_secrets import KINDS, Planted, found_again, plant, written
from rag_assets_tests.test_plugin_package import install

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a file may not end its process elsewhere")

RUNS = """
import os, sys
from pathlib import Path
from dagster import DagsterInstance
from rag_assets.defs import assets
from rag_assets.definitions import defs
from rag_assets.pipeline.segments import segment_files
from rag_assets_tests import faster_dagster

faster_dagster.remember()

def with_a_defect(build, progress):
    if build.spec.index_label == "defect@main":
        try:
            raise KeyError(Path(os.environ["HOSTILE_RAG_TEXT"]).read_text())
        except KeyError as error:
            raise ValueError(error.args[0])
    return segment_files(build, progress)

assets.segment_files = with_a_defect
job = defs.load_fn().resolve_job_def("index")
with DagsterInstance.get() as instance:
    instance.add_dynamic_partitions("index_label", sys.argv[1:])
    for label in sys.argv[1:]:
        if label == "model@main":
            os.environ["RAG_ASSETS__EMBEDDER__PROVIDER"] = os.environ["RAG_ASSETS__LLM__PROVIDER"] = "openai-compatible"
        done = job.execute_in_process(instance=instance, partition_key=label, raise_on_error=False)
        print(label, done.success)
    whole = {"dagster/asset_partition_range_start": sys.argv[2], "dagster/asset_partition_range_end": sys.argv[-1]}
    done = job.execute_in_process(instance=instance, tags=whole, raise_on_error=False)
    print("all", done.success)
"""


@contextmanager
def server_that_repeats(text: str) -> Iterator[str]:
    """The address of a server that refuses everything, and repeats in its reply the key it was given, and a text."""

    class Repeats(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            key = self.headers.get("Authorization", "")
            body = json.dumps({"error": {"message": f"wrong key {key} {text}"}}).encode()
            self.send_response(401)
            self.send_header("Content-Type", "application/json")
            self.send_header("WWW-Authenticate", f'Basic realm="{key}"')
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Repeats) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def made(name: str) -> Planted:
    (kind,) = (kind for kind in KINDS if kind.name == name)
    secret = kind.make(random.Random(name))
    return Planted(name, "environment", secret, secret)


def test_planted_secrets_are_found_again_nowhere_in_dagster(tmp_path: Path) -> None:
    install(PACKAGE, tmp_path / "site")
    planted = plant(new_repository(tmp_path / "shop"), {"Unreadable.cs": "public enum Unreadable { One }\n"})
    key, password, repeated = made("OpenAI project"), made("GitHub"), made("Slack bot")
    secrets = [*planted, key, password, repeated]
    text = "\n".join(one.said for one in planted)
    (tmp_path / "text").write_text(text, encoding="utf-8")
    new_repository(tmp_path / "told", {"a.tells": text})
    new_repository(tmp_path / "refused", {"a.refuses": text})
    new_repository(tmp_path / "defect")
    new_repository(tmp_path / "model")
    kept = tmp_path / "kept"
    (kept / "dagster").mkdir(parents=True)
    (kept / "dagster" / "dagster.yaml").write_text("telemetry: {enabled: false}\n", encoding="utf-8")
    names = ("shop", "told", "refused", "defect", "model")
    entries: list[Any] = [{"id": name, "location": str(tmp_path / name), "ref": "main"} for name in names]
    with server_that_repeats(f"{repeated.secret} {text}") as address:
        remote = address.replace("//", f"//me:{password.secret}@") + "/a.git"
        entries.append({"id": "remote", "location": remote, "ref": "main"})
        server = {"base_url": f"{address}/v1", "model": "m"}
        settings = {
            "embedder": {"provider": "lexical-only"} | server,
            "llm": server,
            "stores": {"catalog": "sqlite"},
            "repositories": entries,
        }
        (tmp_path / "rag_assets.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")
        variables = {
            "PYTHONPATH": os.pathsep.join([str(tmp_path / "site"), str(Path(rag_assets.__file__).parents[1])]),
            "DAGSTER_HOME": str(kept / "dagster"),
            "RAG_ASSETS__HOME": str(kept / "home"),
            "RAG_ASSETS_EMBEDDINGS_API_KEY": key.secret,
            "RAG_ASSETS_LLM_API_KEY": key.secret,
            "HOSTILE_RAG_TEXT": str(tmp_path / "text"),
        }
        labels = [f"{entry['id']}@main" for entry in entries]
        with (kept / "stdout").open("wb") as out, (kept / "stderr").open("wb") as err:
            subprocess.run(
                [sys.executable, "-c", RUNS, *labels],
                cwd=tmp_path,
                env=os.environ | variables,
                stdout=out,
                stderr=err,
                timeout=TIME_LIMIT,
                check=True,
            )
    ended = dict(line.split() for line in (kept / "stdout").read_text(encoding="utf-8").splitlines())
    succeeded = {label for label, success in ended.items() if success == "True"}
    assert succeeded == {"shop@main", "told@main"} and len(ended) == len(labels) + 1
    files = {file.suffix for file in (kept / "dagster").rglob("*") if file.is_file() and file.stat().st_size}
    assert {".db", ".err"} <= files, "the storage and the logs of runs are there"
    assert not found_again(secrets, written(kept))
