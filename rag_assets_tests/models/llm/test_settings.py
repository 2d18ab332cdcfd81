"""The settings of the model: refused where they cannot work or would send source code in clear without being told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rag_assets.pipeline.versions import llm_fingerprint
from rag_assets.settings import LlmSettings, Settings, load_settings
from rag_assets.settings.config_file import ConfigError

USABLE: dict[str, Any] = {"provider": "openai-compatible", "base_url": "https://api.example.org/v1", "model": "m"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"base_url": ""}, "provider openai-compatible needs base_url"),
        ({"base_url": " ", "model": " "}, "needs base_url and model"),
        ({"base_url": "api.example.org/v1"}, "must be an http or https URL"),
        ({"base_url": "ftp://api.example.org"}, "must be an http or https URL"),
        ({"base_url": "https://"}, "must be an http or https URL"),
        ({"base_url": "https://exa mple.org"}, "must be an http or https URL"),
        ({"base_url": "https://example.org:port/v1"}, "llm.base_url"),
        ({"base_url": "https://me:s3cr3t@example.org/v1"}, "must not hold a password"),
        ({"base_url": "https://example.org/v1?key=s3cr3t"}, "without ? and #"),
        ({"base_url": "http://gpu-box:8000/v1"}, "source code would go to gpu-box unencrypted"),
        ({"base_url": "http://10.0.0.7:8000/v1"}, "allow_plain_http: true"),
        ({"max_calls": 0}, "llm.max_calls"),
        ({"max_concurrency": 0}, "llm.max_concurrency"),
        ({"timeout_seconds": 0}, "llm.timeout_seconds"),
        ({"price_in": -1}, "llm.price_in"),
        ({"refine": "some"}, "llm.refine"),
        ({"api_version": "1&key=s3cr3t"}, "llm.api_version"),
        ({"api_key": "s3cr3t"}, "unknown key 'llm.api_key'"),
    ],
    ids=lambda value: str(next(iter(value.items()))) if isinstance(value, dict) else "",
)
def test_wrong_settings_are_explained(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    path = tmp_path / "rag_assets.yaml"
    path.write_text(f"llm: {USABLE | change}\n", encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_settings(path)
    assert message in str(caught.value)
    assert "s3cr3t" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:11434/v1",
        "http://127.0.0.1/v1",
        "http://127.8.8.8:1/v1",
        "http://[::1]:1/v1",
        "http://a.localhost",
    ],
)
def test_this_machine_needs_no_encryption(url: str) -> None:
    assert LlmSettings(**(USABLE | {"base_url": url})).base_url == url


def test_plain_http_elsewhere_is_possible_when_it_is_wanted() -> None:
    assert LlmSettings(**(USABLE | {"base_url": "http://gpu-box:8000/v1", "allow_plain_http": True})).allow_plain_http


def test_a_slash_at_the_end_is_no_difference() -> None:
    assert LlmSettings(**(USABLE | {"base_url": "https://api.example.org/v1/"})).base_url == USABLE["base_url"]


def test_offline_is_the_default() -> None:
    assert Settings().llm.provider == "none"


@pytest.mark.parametrize(
    "change",
    [{"provider": "none"}, {"model": "n"}, {"refine": "all"}],
    ids=lambda change: next(iter(change)),
)
def test_what_changes_a_description_is_in_the_fingerprint(change: dict[str, Any]) -> None:
    assert llm_fingerprint(LlmSettings(**(USABLE | change))) != llm_fingerprint(LlmSettings(**USABLE))


@pytest.mark.parametrize(
    "change",
    [
        {"base_url": "https://other.example.org"},
        {"max_calls": 1},
        {"max_concurrency": 9},
        {"timeout_seconds": 9},
        {"price_in": 1.0},
        {"price_out": 1.0},
        {"allow_plain_http": True},
        {"api_version": "2024-10-21"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_what_does_not_is_not(change: dict[str, Any]) -> None:
    assert llm_fingerprint(LlmSettings(**(USABLE | change))) == llm_fingerprint(LlmSettings(**USABLE))


def test_without_a_provider_the_other_settings_mean_nothing() -> None:
    assert llm_fingerprint(LlmSettings(**(USABLE | {"provider": "none"}))) == llm_fingerprint(LlmSettings())
