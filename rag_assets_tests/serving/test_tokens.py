"""Who is let in: tokens made and revoked on the command line, and those of an authorization server."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from rag_assets.contracts.confidentiality import Confidentiality
from rag_assets.index.layout import IndexHome
from rag_assets.serving.access import Caller
from rag_assets.serving.http.app import Reception, application
from rag_assets.serving.index_pool import IndexPool
from rag_assets.serving.mcp_server import mcp_server
from rag_assets.serving.operations import AskReply, Operations
from rag_assets.serving.tokens import TokenStore
from rag_assets_tests.processes import until
from rag_assets_tests.serving.conftest import Home, make_home, serving

VERIFIER = """
from mcp.server.auth.provider import AccessToken


class Verifier:
    async def verify_token(self, token):
        scopes = {"of-local": ["org:local"], "of-none": [], "as-nobody": ["org:local", "role:nobody"]}
        if token == "late":
            return AccessToken(token=token, client_id="c", scopes=["org:local"], expires_at=1)
        if token == "elsewhere":
            return AccessToken(token=token, client_id="c", scopes=["org:local"], resource="https://other.example")
        if token not in scopes:
            return None
        return AccessToken(token=token, client_id="c", scopes=scopes[token])
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """With roles, and tokens of its own."""
    made = make_home(tmp_path_factory.mktemp("tokens"))
    (made.cli.folder / "rag_assets.yaml").write_text(
        "roles:\n  auditor: restricted\n  guest: public\n", encoding="utf-8"
    )
    return made


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def test_the_list_says_what_is_refused(home: Home) -> None:
    tokens = TokenStore(IndexHome(home.root), {"king": Confidentiality.RESTRICTED})
    tokens.create("old", role=None, org_id=None, days=-1)
    tokens.create("new", role=None, org_id=None, days=1)
    tokens.create("fallen", role="king", org_id=None)
    said = {line.split()[0]: line for line in home.cli.run("token", "list").out.splitlines()}
    assert ", expired 20" in said["old"] and ", ends 20" in said["new"]
    assert "role king (gone from the configuration: refused)" in said["fallen"]
    for name in said:
        assert home.cli.run("token", "revoke", name).code == 0


def test_a_token_is_shown_once_and_kept_as_a_digest(home: Home) -> None:
    made = home.cli.run("token", "create", "anna", "--org", "acme", "--days", "30", "--json")
    assert made.code == 0, made.err
    token = made.json["token"]
    kept = (home.root / "tokens.json").read_text(encoding="utf-8")
    assert token not in kept and token.removeprefix("rag_") not in kept
    assert stat.S_IMODE((home.root / "tokens.json").stat().st_mode) == 0o600
    listed = home.cli.run("token", "list", "--json").json["tokens"]
    assert [(one["name"], one["org_id"]) for one in listed] == [("anna", "acme")] and "sha256" not in listed[0]
    again = home.cli.run("token", "create", "anna")
    assert again.code == 1 and "rag-assets token revoke anna" in again.err
    unknown = home.cli.run("--role", "king", "token", "create", "x", options=("--home", str(home.root)))
    assert unknown.code != 0
    assert home.cli.run("token", "revoke", "anna").code == 0
    gone = home.cli.run("token", "revoke", "anna")
    assert gone.code == 1 and "there are: none" in gone.err


def test_an_organisation_without_an_index_is_warned_of(home: Home) -> None:
    made = home.cli.run("token", "create", "typo", "--org", "acne")
    assert made.code == 0 and made.out.startswith("rag_")
    assert "no label of organisation 'acne' is indexed, so it sees none yet; there are: " in made.err
    assert home.cli.run("token", "revoke", "typo").code == 0


def test_tokens_of_roles_and_organisations(home: Home, tmp_path: Path) -> None:
    def create(name: str, *options: str, role: str = "auditor") -> str:
        words = ("--home", str(home.root), "--role", role)
        made = home.cli.run("token", "create", name, *options, "--json", options=words)
        assert made.code == 0, made.err
        return str(made.json["token"])

    (home.root / "tokens.json").unlink(missing_ok=True)
    own, other, guest = create("own", "--org", "local"), create("other", "--org", "acme"), create("guest", role="guest")
    with serving(home, errors=tmp_path / "errors.txt") as server:
        search = "/api/v1/search?query=refund&label=shop"
        for headers in ({}, bearer("rag_wrong"), {"authorization": f"Basic {own}"}, bearer("-" * 5000)):
            refused = server.get(search, headers=headers)
            assert refused.status_code == 401 and refused.headers["www-authenticate"].startswith("Bearer")
        assert server.get("/metrics").status_code == 401
        assert server.get("/healthz").status_code == 200
        assert server.get(search, headers=bearer(own)).json()["hits"]
        assert server.get("/api/v1/labels", headers=bearer(own)).json() == {"labels": ["shop@main", "site@main"]}
        for stranger in (other, guest):  # of another organisation; below the level of every file
            assert server.get("/api/v1/labels", headers=bearer(stranger)).json() == {"labels": []}
            named = server.get(search, headers=bearer(stranger))
            assert named.status_code == 404 and "shop@main" not in named.text and "site@main" not in named.text
        until(lambda: '"caller": "guest"' in server.said(), "the caller is in the log")
        assert home.cli.run("token", "revoke", "own").code == 0
        assert server.get(search, headers=bearer(own)).status_code == 401
    (home.root / "tokens.json").unlink()


def test_nobody_is_let_in_by_a_damaged_file(home: Home) -> None:
    path = home.root / "tokens.json"
    assert home.cli.run("token", "create", "late").code == 0
    path.write_bytes(path.read_bytes().replace(b"late", b"lake"))
    try:
        done = home.cli.run("serve", "--port", "0")
        assert done.code == 1 and "tokens.json is damaged" in done.err
    finally:
        path.unlink()


def test_a_caller_has_so_many_requests_a_minute(home: Home, tmp_path: Path) -> None:
    with serving(home, "--per-minute", "20", errors=tmp_path / "errors.txt") as server:
        answers = [server.get("/api/v1/labels") for _ in range(8)]
        assert [answer.status_code for answer in answers[:5]] == [200] * 5
        assert answers[-1].status_code == 429 and int(answers[-1].headers["retry-after"]) >= 1


def test_tokens_of_an_authorization_server(home: Home, tmp_path: Path) -> None:
    (tmp_path / "own_verifier.py").write_text(VERIFIER, encoding="utf-8")
    home.cli.environment["PYTHONPATH"] = f"{Path(__file__).parents[2]}:{tmp_path}"
    options = ("--token-verifier", "own_verifier:Verifier", "--issuer", "https://login.example")
    try:
        missing = home.cli.spawn("serve", "--port", "0", *options)
        assert missing.code == 1 and "--resource" in missing.err
        with serving(home, *options, "--resource", "https://rag.example", errors=tmp_path / "errors.txt") as server:
            refused = server.get("/api/v1/labels")
            metadata = "https://rag.example/.well-known/oauth-protected-resource"
            assert (
                refused.status_code == 401 and f'resource_metadata="{metadata}"' in refused.headers["www-authenticate"]
            )
            described = server.get("/.well-known/oauth-protected-resource").json()
            assert described["authorization_servers"] == ["https://login.example"]
            assert server.get("/api/v1/labels", headers=bearer("of-local")).json()["labels"] == [
                "shop@main",
                "site@main",
            ]
            for token in ("of-none", "as-nobody", "late", "elsewhere", "unknown"):
                assert server.get("/api/v1/labels", headers=bearer(token)).status_code == 401
    finally:
        del home.cli.environment["PYTHONPATH"]


def test_a_token_that_is_revoked_during_a_stream_gets_no_answer(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    store = TokenStore(home.cli.home, {})
    token = store.create("short", role=None, org_id=None)
    operations = Operations(IndexPool(home.cli.home, None))
    answering = operations.ask

    def revoked_meanwhile(*asked: Any) -> AskReply:
        answer = answering(*asked)
        assert home.cli.run("token", "revoke", "short").code == 0
        return answer

    monkeypatch.setattr(operations, "ask", revoked_meanwhile)

    async def find(token: str) -> Caller | None:
        return store.caller_of(token)

    app = application(operations, mcp_server(operations), Reception(find=find, everybody=None))
    with TestClient(app, base_url="http://localhost") as client:
        question = "/api/v1/ask?label=shop&question=who%20pays%20back%20what%20a%20customer%20returned"
        said = client.get(question, headers=bearer(token) | {"accept": "text/event-stream"}).text
    assert "event: error" in said and "revoked" in said and "RefundOrder" not in said
