"""How servers are reached: Azure deployments, proxies, whose key it is, what leaves this machine, what is loaded."""

from __future__ import annotations

import json
import logging
import ssl
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest

from rag_assets.contracts.llm import ChatMessage, StructuredPrompt
from rag_assets.descriptions.refinement import RefinedText
from rag_assets.models import open_llm
from rag_assets.models.openai_compat.chat import Model
from rag_assets.models.openai_compat.embeddings import EndpointEmbedder
from rag_assets.pipeline.memo import AnswerCache
from rag_assets.qa.ask_options import service_of
from rag_assets.settings import AnswerSettings, LlmSettings
from rag_assets.settings.search import ModelProfile
from rag_assets_tests.models.embedding_server import embedding
from rag_assets_tests.models.endpoint_tools import endpoint_settings
from rag_assets_tests.models.llm.conftest import Opener
from rag_assets_tests.models.llm.model_server import GOOD, ModelServer, Reply, answering, failing, timed

KEY = "sk-test-0123456789abcdef"
PROMPT = StructuredPrompt("Describe it as JSON.", "class Order")
ROOT = Path(__file__).parents[3]


# Azure


def test_an_azure_deployment_writes_structured_text(server: ModelServer, opened: Opener) -> None:
    llm = opened(key=KEY, api_version="2024-10-21", model="gpt-small")
    assert llm.complete(PROMPT, RefinedText).value == RefinedText(**GOOD)
    (asked,) = server.asked
    assert asked.path == "/v1/openai/deployments/gpt-small/chat/completions?api-version=2024-10-21"
    assert asked.headers["api-key"] == KEY and "Authorization" not in asked.headers


def test_an_azure_deployment_answers(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_ASSETS_ANSWER_API_KEY", KEY)
    settings = AnswerSettings(base_url=server.url, api_version="2024-10-21", balanced=ModelProfile(model="gpt-large"))
    assert service_of(settings).generate(Model("gpt-large", 100, 0.2), [ChatMessage("user", "Why?")]).successful
    (asked,) = server.asked
    assert asked.path == "/v1/openai/deployments/gpt-large/chat/completions?api-version=2024-10-21"
    assert asked.headers["api-key"] == KEY


def test_an_azure_deployment_embeds(server: ModelServer) -> None:
    server.respond = embedding
    settings = endpoint_settings(server, api_version="2024-10-21", model="embed-3")
    embedder = EndpointEmbedder.open(settings, {"AZURE_OPENAI_API_KEY": KEY, "OPENAI_API_KEY": "sk-not-for-azure"})
    embedder.embed(["a"])
    assert {asked.path for asked in server.asked} == {
        "/v1/openai/deployments/embed-3/embeddings?api-version=2024-10-21"
    }
    assert {asked.headers["api-key"] for asked in server.asked} == {KEY}
    assert embedder.model_id == "openai-compatible/embed-3", "where a model runs does not matter"


# whose key


@pytest.mark.parametrize(
    ("environment", "sent"),
    [
        ({"OPENAI_API_KEY": "sk-of-openai"}, "sk-of-openai"),
        ({"OPENAI_API_KEY": "sk-of-openai", "RAG_ASSETS_LLM_API_KEY": " "}, "sk-of-openai"),
        ({"OPENAI_API_KEY": "sk-of-openai", "RAG_ASSETS_LLM_API_KEY": "sk-ours"}, "sk-ours"),
    ],
    ids=["fallback", "ours is blank", "ours is set"],
)
def test_the_key_of_openai_is_a_fallback(
    server: ModelServer, tmp_path: Path, environment: dict[str, str], sent: str
) -> None:
    settings = LlmSettings(provider="openai-compatible", base_url=server.url, model="m")
    with open_llm(settings, lambda: AnswerCache(tmp_path), environment) as llm:
        llm.complete(PROMPT, RefinedText)
    assert server.asked[0].headers["Authorization"] == f"Bearer {sent}"


def test_a_refused_fallback_is_named(server: ModelServer, tmp_path: Path) -> None:
    server.script(failing(401, "who?"))
    settings = LlmSettings(provider="openai-compatible", base_url=server.url, model="m")
    with open_llm(settings, lambda: AnswerCache(tmp_path), {"OPENAI_API_KEY": KEY}) as llm:
        (error,) = llm.complete(PROMPT, RefinedText).errors
    assert "set OPENAI_API_KEY in the environment" in error.text


# what leaves this machine


def test_only_what_a_server_needs_is_sent(server: ModelServer, opened: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not what the package reads from the environment or knows of this machine, and nothing that a server left."""
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "sk-admin")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer sk-custom\nX-Custom: sk-custom")
    server.script(Reply(answering().body, headers={"Set-Cookie": "session=1"}))
    llm = opened()
    for number in range(2):
        llm.complete(StructuredPrompt("Describe it as JSON.", f"class Order{number}"), RefinedText)
    for asked in server.asked:
        names = {name.lower() for name in asked.headers}
        assert names == {
            *("host", "accept", "accept-encoding", "content-type", "content-length", "connection", "user-agent")
        }
        assert "sk-" not in str(asked.headers)


def test_the_key_is_in_no_log(server: ModelServer, opened: Opener, caplog: pytest.LogCaptureFixture) -> None:
    """Neither as it is sent nor as a server repeats it, at the finest level of every library."""
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.DEBUG, "openai")
    server.respond = lambda asked: Reply(
        json.dumps({"error": {"message": KEY}}).encode(), 400, {"X-Echo": KEY, "X-Request-Id": KEY, "Set-Cookie": KEY}
    )
    assert not opened(key=KEY).complete(PROMPT, RefinedText).successful
    assert "openai" in {record.name.partition(".")[0] for record in caplog.records}
    assert KEY not in caplog.text


# proxies


def test_a_proxy_of_the_environment_is_used_beyond_this_machine(
    server: ModelServer, opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", server.url.removesuffix("/v1"))
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    llm = opened(base_url="http://models.example/v1", allow_plain_http=True)
    assert llm.complete(PROMPT, RefinedText).value == RefinedText(**GOOD)
    assert server.asked[0].path == "http://models.example/v1/chat/completions"


def test_a_proxy_that_cannot_be_used_is_named_without_its_password(
    opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "socks4://me:s3cr3t@proxy.example:1080")
    (error,) = opened(base_url="http://models.example/v1", allow_plain_http=True).complete(PROMPT, RefinedText).errors
    assert error.code == "LLM.unreachable"
    assert "the proxy of the environment is no http URL" in error.text and "NO_PROXY" in error.text
    assert "s3cr3t" not in error.text


# TLS


@pytest.fixture
def secure(server: ModelServer, tmp_path: Path) -> Path:
    """`server` speaks TLS from now on; the file of its certificate, which nobody has signed."""
    x509 = pytest.importorskip("cryptography.x509")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    (tmp_path / "key.pem").write_bytes(
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    (tmp_path / "certificate.pem").write_bytes(certificate.public_bytes(pem))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "certificate.pem", tmp_path / "key.pem")
    server.speak_tls(context)
    return tmp_path / "certificate.pem"


def test_an_unknown_certificate_is_named(server: ModelServer, opened: Opener, secure: Path) -> None:
    (error,) = opened(base_url=server.url.replace("http:", "https:")).complete(PROMPT, RefinedText).errors
    assert error.code == "LLM.tls"
    assert "is not trusted" in error.text and "SSL_CERT_FILE" in error.text
    assert server.asked == []


@pytest.mark.rule("A17")
@pytest.mark.parametrize(
    "slow", [{"delay": 30.0}, {"pause": 0.05}, {"drip_headers": 0.05}], ids=["late", "slow", "drip"]
)
def test_the_time_limit_holds_inside_tls(
    server: ModelServer, opened: Opener, secure: Path, monkeypatch: pytest.MonkeyPatch, slow: dict[str, float]
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(secure))
    url = server.url.replace("http:", "https:")
    assert opened(base_url=url).complete(PROMPT, RefinedText).value == RefinedText(**GOOD)
    server.script(Reply(b" " * 1_000, **slow))  # type: ignore[arg-type]
    question = StructuredPrompt("Describe it as JSON.", "class Other")
    result, seconds = timed(lambda: opened(base_url=url, timeout_seconds=0.3).complete(question, RefinedText))
    assert result.errors[0].code == "LLM.timeout"
    assert seconds < 3


# what is loaded


def test_opening_loads_no_client(tmp_path: Path) -> None:
    """The first request does."""
    script = """
import sys
from pathlib import Path
from rag_assets.models.openai_compat.embeddings import EndpointEmbedder
from rag_assets.models.openai_compat.reranker import HttpReranker
from rag_assets.pipeline.memo import AnswerCache
from rag_assets.models import open_llm
from rag_assets.qa.ask_options import service_of
from rag_assets.settings import AnswerSettings, EmbedderSettings, LlmSettings, RerankerSettings
server = {"base_url": "http://127.0.0.1:9/v1"}
embedder = EndpointEmbedder.open(EmbedderSettings(provider="openai-compatible", model="m", **server), {})
assert HttpReranker.of(RerankerSettings(provider="tei", **server), {}) is not None
service_of(AnswerSettings(balanced={"model": "m"}, **server))
answers = lambda: AnswerCache(Path(sys.argv[1]))
with open_llm(LlmSettings(provider="openai-compatible", model="m", **server), answers, {}):
    print(sorted({"openai", "httpx", "httpx2"} & set(sys.modules)))
try:
    embedder.embed_question("word")
except Exception as error:
    print(type(error).__name__, sorted({"openai", "httpx", "httpx2"} & set(sys.modules)))
"""
    ran = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, cwd=ROOT)
    assert ran.stdout.splitlines() == ["[]", "EndpointError ['httpx2', 'openai']"], ran.stderr
