"""Writes the rules for tokens that rag_assets ships, of a clone of Betterleaks.

    git clone https://github.com/betterleaks/betterleaks
    python benchmarks/secret_rules.py betterleaks

Of each rule its id, keywords and expression are taken, unchanged; what it filters and how it validates is not. Run
`benchmarks/secret_masking.py` afterwards: it shows what the new rules find and what they mask in public code.
"""

from __future__ import annotations

import argparse
import subprocess
import tomllib
from pathlib import Path

import msgspec

from rag_assets.sources.secrets.tokens import LICENSE_FILE, RULES_FILE

SOURCE = "https://github.com/betterleaks/betterleaks"
LEFT_OUT = {
    # Names of things, no secrets.
    "adobe-client-id", "asana-client-id", "bitbucket-client-id", "discord-client-id", "flutterwave-public-key",
    "linkedin-client-id", "looker-client-id", "mailgun-pub-key", "messagebird-client-id", "plaid-client-id",
    "posthog-project-api-key", "sendbird-access-id", "sumologic-access-id",
    # Masks what is around the secret as well; our own rules for names, keys and headers do not.
    "azure-servicebus-connection-string", "curl-auth-header", "curl-auth-user", "gcp-application-default-credentials",
    "gcp-service-account", "generic-api-key", "hashicorp-tf-password", "kubernetes-secret-yaml",
    "nuget-config-password", "private-key",
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clone", type=Path)
    clone = parser.parse_args().clone
    told = tomllib.loads(_git(clone, "show", "HEAD:config/betterleaks.toml"))
    rules = [
        {"id": rule["id"], "keywords": rule["keywords"], "regex": rule["regex"]}
        | ({"group": rule["secretGroup"]} if "secretGroup" in rule else {})
        for rule in told["rules"]
        if "regex" in rule and not rule.get("skipReport") and rule["id"] not in LEFT_OUT
    ]
    lines = ",\n".join(msgspec.json.encode(rule).decode() for rule in rules)
    about = {"source": SOURCE, "revision": _git(clone, "rev-parse", "HEAD").strip(), "license": "MIT"}
    head = "".join(
        f"{msgspec.json.encode(name).decode()}: {msgspec.json.encode(about[name]).decode()},\n" for name in about
    )
    RULES_FILE.write_text(f'{{\n{head}"rules": [\n{lines}\n]\n}}\n', encoding="utf-8")
    LICENSE_FILE.write_text(_git(clone, "show", "HEAD:LICENSE"), encoding="utf-8")
    print(f"{len(rules)} rules of {about['revision'][:12]} → {RULES_FILE}")


def _git(clone: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", str(clone), *words], check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    main()
