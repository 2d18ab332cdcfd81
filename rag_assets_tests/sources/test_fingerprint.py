"""The fingerprint of the policy: equal in every process, another one after a change of any table or rule."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from typing import Any

import pytest

from rag_assets.sources import default_ignores, fingerprint
from rag_assets.sources.fingerprint import POLICY_FINGERPRINT
from rag_assets.sources.secrets import redaction


def test_it_is_the_same_in_every_process() -> None:
    code = "from rag_assets.sources.fingerprint import POLICY_FINGERPRINT; print(POLICY_FINGERPRINT)"
    for seed in ("1", "2"):
        environment = os.environ | {"PYTHONHASHSEED": seed}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == POLICY_FINGERPRINT
    assert re.fullmatch(r"[0-9a-f]{16}", POLICY_FINGERPRINT)


@pytest.mark.parametrize(
    ("module", "name", "value"),
    [
        (default_ignores, "LOCK_FILES", frozenset({"my.lock"})),
        (default_ignores, "GENERATED_ENDINGS", (".mine.cs",)),
        (default_ignores, "PROSE", frozenset({".md"})),
        (redaction, "TOKEN_RULES", ()),
        (redaction, "NAMED_RULES", ()),
        (redaction, "MESSAGE_PREFIX", re.compile(b"other")),
    ],
)
def test_a_change_of_a_table_or_rule_changes_it(
    monkeypatch: pytest.MonkeyPatch, module: Any, name: str, value: object
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(module, name, value)
        changed = importlib.reload(fingerprint).POLICY_FINGERPRINT
    assert changed != POLICY_FINGERPRINT
    assert importlib.reload(fingerprint).POLICY_FINGERPRINT == POLICY_FINGERPRINT
