"""Both kinds of remote stores: a folder, and an S3 server of this process on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets.index.remote.objects import ObjectStore, RemoteError, open_remote

BUCKET = "indexes"


@pytest.fixture(scope="session")
def s3_server() -> Iterator[str]:
    """The address of an S3 server with an empty bucket."""
    server_module = pytest.importorskip("moto.server", reason="moto is not installed")
    pytest.importorskip("s3fs", reason="s3fs is not installed")
    server = server_module.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture(params=["file", "s3"])
def remote_url(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "file":
        return (tmp_path / "remote").as_uri()
    address = request.getfixturevalue("s3_server")
    monkeypatch.setenv("AWS_ENDPOINT_URL", address)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "somebody")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "geheim-geheim")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    store = open_remote(f"s3://{BUCKET}/{tmp_path.name}")
    if not store._files.exists(BUCKET):
        store._files.mkdir(BUCKET)
    return store.url


@pytest.fixture
def store(remote_url: str) -> ObjectStore:
    return open_remote(remote_url)


class CutOff(ObjectStore):
    """A store whose machine dies before its n-th write."""

    __slots__ = ("left",)
    left: list[int]

    @staticmethod
    def before(store: ObjectStore, writes: int) -> CutOff:
        made = CutOff(store.url, store._files, store._root)
        object.__setattr__(made, "left", [writes])
        return made

    def write(self, path: str, data: bytes) -> None:
        if not self.left[0]:
            raise RemoteError("the machine died")
        self.left[0] -= 1
        ObjectStore.write(self, path, data)
