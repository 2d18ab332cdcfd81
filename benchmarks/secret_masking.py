"""What the rules for secrets find of planted ones, what they mask in public code, and how fast they are.

    PYTHONPATH=. python benchmarks/secret_masking.py REPOSITORY... [--seeds 5] [--shown 200]

Each REPOSITORY is a git repository (bare or not). A person judges the masks: every distinct one is printed with its
rule, file and line. Values that documentation and examples are full of are counted apart.
"""

from __future__ import annotations

import argparse
import io
import random
import subprocess
import tarfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from report import table

from rag_assets.sources.decoding import Decoded, decode
from rag_assets.sources.secrets.redaction import redact
from rag_assets_tests.planted_secrets import KINDS, Planted
from rag_assets_tests.sources.test_secrets import FORMS, NO_NAMES

_LARGEST = 1 << 20  # bytes; discovery skips what is larger
_KNOWN_EXAMPLES = ("password", "p@ss", "pass@word", "root", "postgres", "mysql", "test", "devstoreaccount", "secret")
"""Parts of values that are published as examples."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repositories", type=Path, nargs="*")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--shown", type=int, default=200)
    arguments = parser.parse_args()
    missed = Counter[str]()
    planted = 0
    for seed in range(arguments.seeds):
        for name, form, is_found in _planted(random.Random(seed)):
            planted += 1
            missed[f"{name} in {form or 'a commit subject'}"] += not is_found
    print(
        f"planted {planted}, missed {missed.total()}", *(f"  {what}: {n}" for what, n in missed.items() if n), sep="\n"
    )
    rows = []
    masks: list[tuple[str, str]] = []
    for repository in arguments.repositories:
        size, seconds, found = 0, 0.0, []
        for path, text in _texts(repository):
            size += len(text.encode("utf-8", "replace"))
            started = time.process_time()
            redaction = redact(text, path)
            seconds += time.process_time() - started
            lines, hidden = text.splitlines(), redaction.text.splitlines()
            for finding in redaction.findings:
                line = lines[finding.line - 1] if finding.line <= len(lines) else ""
                masked = hidden[finding.line - 1] if finding.line <= len(hidden) else ""
                value = "".join(c for c, m in zip(line, masked, strict=False) if c != m)
                found.append((value, f"{finding.rule}  {path}:{finding.line}  {line.strip()[:160]}"))
        examples = sum(any(known in value.lower() for known in _KNOWN_EXAMPLES) for value, _ in found)
        name = repository.parent.name if repository.name == "repo" else repository.name
        rows.append([name, f"{size / 1e6:.1f}", f"{size / 1e6 / max(seconds, 1e-9):.0f}", len(found), examples])
        masks += found
    table(["repository", "MB", "MB a CPU-second", "masks", "of known examples"], rows)
    distinct = dict(masks)
    for shown in list(distinct.values())[: arguments.shown]:
        print(shown)


def _planted(drawn: random.Random) -> Iterator[tuple[str, str, bool]]:
    """(kind, form of text, whether it is masked) of a secret of every kind in every form of text that fits."""
    for kind in KINDS:
        for path, form in FORMS.items():
            if kind.key and path in NO_NAMES:
                continue
            secret = kind.make(drawn)
            told = kind.text.format(secret)
            said = f"{kind.key}={told}" if kind.key else told
            text = redact(form.format(name=kind.key or "Value7", value=told, said=said), path).text
            yield kind.name, path, not Planted(kind.name, path, secret).is_in(text.lower().encode())


def _texts(repository: Path) -> Iterator[tuple[str, str]]:
    """Path and text of the files of HEAD, binary and very large ones left out."""
    packed = subprocess.run(["git", "-C", str(repository), "archive", "HEAD"], check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        for member in archive:
            stream = archive.extractfile(member) if member.isfile() and member.size <= _LARGEST else None
            decoded = decode(stream.read()) if stream is not None else None
            if isinstance(decoded, Decoded):
                yield member.name, decoded.text


if __name__ == "__main__":
    main()
