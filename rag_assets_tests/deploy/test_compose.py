"""docker-compose.yml and what belongs to it, as far as that can be checked without an engine."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from rag_assets.settings import load_settings

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
COMPOSE: dict[str, Any] = yaml.load(TEXT, yaml.CSafeLoader)
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OURS = ("code", "webserver", "daemon", "serve")
_VARIABLE = re.compile(r"\$\{(?P<name>\w+)(?P<rest>[^}]*)\}")


MISTAKES = [
    ("healthcheck:", "healthchek:"),
    ("condition: service_healthy", "condition: service_helthy"),
    ("restart: unless-stopped", "restart: sometimes"),
    ("interval: 15s", "interval: 15x"),
]
"""What somebody may write by mistake, and whoever checks must find."""


def declared() -> dict[str, str]:
    """The variables of .env.example."""
    lines = (ROOT / ".env.example").read_text(encoding="utf-8").splitlines()
    pairs = [line.partition("=") for line in lines if line and not line.startswith("#")]
    return {name: value for name, _, value in pairs}


def test_the_compose_specification_knows_every_key() -> None:
    compose_spec = pytest.importorskip("compose_spec", reason="compose-spec is not installed")
    own = {key: value for key, value in COMPOSE.items() if not key.startswith("x-")}
    filled = _VARIABLE.sub(lambda found: "1000" if "PORT" in found["name"] else "x", yaml.safe_dump(own))
    assert set(compose_spec.PyCompose.from_yaml(filled).service_names()) == set(SERVICES)
    for right, wrong in MISTAKES:
        with pytest.raises(ValueError):
            compose_spec.PyCompose.from_yaml(filled.replace(right, wrong))


def test_every_variable_is_declared_and_every_declared_one_is_used() -> None:
    assert {found["name"] for found in _VARIABLE.finditer(TEXT)} == set(declared())


def test_no_password_works_unless_somebody_chose_it() -> None:
    for found in _VARIABLE.finditer(TEXT):
        if re.search("PASSWORD|QDRANT_API_KEY", found["name"]):
            assert found["rest"].startswith(":?fill in "), f"{found[0]} must stop the start while it is empty"
        elif re.search("KEY|SECRET|URL", found["name"]):
            assert found["rest"] == ":-", found[0]
    secret = {name: value for name, value in declared().items() if re.search("PASSWORD|KEY|SECRET|URL", name)}
    assert secret and not any(secret.values())
    for path in [ROOT / "docker-compose.yml", ROOT / "Dockerfile", *(ROOT / "deploy").iterdir()]:
        assert not re.search(
            r"(?i)(password|api_key|secret)['\"]?\s*[:=]\s*['\"]?[a-z0-9]{6,}['\"]?\s*$",
            path.read_text(encoding="utf-8"),
            re.MULTILINE,
        ), path.name


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_is_watched_limited_and_restarted(name: str) -> None:
    service = SERVICES[name]
    assert service["restart"] == "unless-stopped"
    assert "no-new-privileges:true" in service["security_opt"]
    assert {"test", "interval", "timeout", "retries"} <= set(service["healthcheck"])
    assert {"cpus", "memory"} == set(service["deploy"]["resources"]["limits"])
    assert service["logging"]["options"]["max-size"]
    assert not service.get("privileged") and service.get("user") != "root"


@pytest.mark.parametrize("name", SERVICES)
def test_ports_are_on_loopback_only(name: str) -> None:
    assert all(port.startswith("127.0.0.1:") for port in SERVICES[name].get("ports", []))


def test_postgres_is_on_no_network_that_leads_outside() -> None:
    assert SERVICES["postgres"]["networks"] == ["inside"] and COMPOSE["networks"]["inside"]["internal"]
    assert "ports" not in SERVICES["postgres"] and "ports" not in SERVICES["code"]


def test_versions_are_pinned() -> None:
    images = [service["image"] for service in SERVICES.values() if not service["image"].startswith("rag-assets:")]
    images += re.findall(r"^ARG PYTHON=(\S+)$", (ROOT / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(images) == 3
    for image in images:
        assert re.search(r":v?\d+\.\d+", image), image


def test_everything_that_is_mounted_or_copied_is_there() -> None:
    mounts = [mount.split(":") for name in OURS for mount in SERVICES[name]["volumes"]]
    for source, *_ in mounts:
        if source.startswith("./"):
            path = ROOT / source.replace("rag_assets.yaml", "rag_assets.example.yaml")
            assert path.is_file(), source
        else:
            assert source in COMPOSE["volumes"], source
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", (ROOT / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE)
    kept = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    for name in " ".join(copied).split():
        assert (ROOT / name).exists() and f"!{name}" in kept, name


def test_the_image_has_no_root_no_compiler_and_no_model_but_that_of_the_package() -> None:
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    final = text.rsplit("\nFROM ", 1)[1]
    assert re.search(r"^USER 10001:10001$", final, re.MULTILINE) and "HEALTHCHECK" in final
    assert not re.search("gcc|build-essential|pip install", final)
    assert re.search(r"^ARG WEIGHTS=$", text, re.MULTILINE)
    extras = set(re.findall(r"^ARG EXTRAS=(\S+)$", text, re.MULTILINE)[0].split(","))
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert all(re.search(rf"^{extra} = \[", project, re.MULTILINE) for extra in extras), extras


def test_the_workspace_names_the_code_location_of_the_compose_file() -> None:
    (entry,) = yaml.safe_load((ROOT / "deploy" / "workspace.yaml").read_text(encoding="utf-8"))["load_from"]
    command = SERVICES["code"]["command"]
    assert entry["grpc_server"]["host"] in SERVICES
    assert str(entry["grpc_server"]["port"]) == command[command.index("--port") + 1]


def test_the_configuration_is_one_that_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SERVICES["code"]["environment"].items():
        if name.startswith("RAG_ASSETS__"):
            monkeypatch.setenv(name, str(value))
    settings = load_settings(ROOT / "deploy" / "rag_assets.example.yaml")
    assert (settings.stores.vectors, settings.stores.qdrant_url) == ("qdrant", "http://qdrant:6333")
    assert settings.home == Path("/srv/rag-assets") and settings.repositories
