"""From a snapshot to texts: yields every file either decoded and redacted, or with the reason to skip it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from rag_assets.contracts.identity import content_hash
from rag_assets.contracts.source_file import DiscoveredFile, SkippedFile, SkipReason
from rag_assets.sources.decoding import Binary, Decoded, decode
from rag_assets.sources.default_ignores import (
    PROSE,
    extension_of,
    is_copied_library,
    is_generated_text,
    is_minified_text,
    longest_line,
)
from rag_assets.sources.extraction import extraction_of
from rag_assets.sources.extraction.refusal import ExtractionRefused
from rag_assets.sources.ignore import IgnorePolicy, PathRules, ignore_files
from rag_assets.sources.secrets import masked, masked_paths
from rag_assets.sources.secrets.redaction import SecretFinding, redact
from rag_assets.sources.snapshot import Snapshot, TreeEntry

_OF_THE_MOMENT = frozenset(
    {
        SkipReason.MISSING_BLOB,
        SkipReason.DUPLICATE_PATH,
        SkipReason.UNSUPPORTED,
        SkipReason.TIMED_OUT,
        SkipReason.OUT_OF_MEMORY,
        SkipReason.CRASHED,
    }
)
"""Reasons that may not hold in the next run: somebody may have installed a package that reads the format, or raised a
limit."""
_LFS_POINTER = b"version https://git-lfs.github.com/spec/"
_MAX_LFS_POINTER = 1024  # the specification's limit
_INTERPRETER = re.compile(r"#![ \t]*(?:\S*/)?(?:env[ \t]+(?:-\S+[ \t]+|\w+=\S*[ \t]+){0,8}(?:\S*/)?)?([a-zA-Z]+)")
_ENDINGS = {
    interpreter: ending
    for ending, interpreters in (
        ("bats", "bats"), ("erl", "escript"), ("exs", "elixir"), ("fish", "fish"), ("groovy", "groovy"),
        ("hs", "runghc runhaskell"), ("jl", "julia"), ("js", "bun node nodejs"), ("lua", "lua luajit"), ("mk", "make"),
        ("php", "php"), ("pl", "perl"), ("ps1", "pwsh"), ("py", "python"), ("r", "rscript"), ("rb", "ruby"),
        ("scala", "scala"), ("sh", "ash bash dash ksh sh zsh"), ("ts", "deno tsx"),
    )
    for interpreter in interpreters.split()
}  # fmt: skip
"""Interpreter → the ending that files have which it runs."""


@dataclass(frozen=True, slots=True)
class DiscoveredText:
    """A file that will be indexed, its redacted text, and the places of masked secrets."""

    file: DiscoveredFile
    text: str
    findings: tuple[SecretFinding, ...] = ()


Known = Callable[[list[TreeEntry]], Mapping[TreeEntry, DiscoveredFile | SkippedFile]]
"""The results of an earlier discovery for those entries whose path and content it knows."""

Content = tuple[TreeEntry, bytes | SkippedFile]
Examine = Callable[[Iterable[Content]], Iterator[DiscoveredText | SkippedFile]]
"""Gives one result for each content, in order, each as `examined` does."""


def discover(
    snapshot: Snapshot,
    policy: IgnorePolicy,
    *,
    language_of: Callable[[str], str],
    known: Known | None = None,
    examine: Examine | None = None,
) -> Iterator[DiscoveredText | DiscoveredFile | SkippedFile]:
    """Every entry of the snapshot in path order (A01): its text, or the reason to skip it. Holds one file at a time.

    `language_of` names the language of a path. `known` entries are not read again and come without text. Contents are
    looked at here, where a hostile one may crash or never end, or by `examine`.
    """
    entries = list(snapshot.entries())
    rules = rules_of(snapshot, policy, entries)
    names = masked_paths([entry.path for entry in entries])
    judged = [_named(entry, name) or rules.admitted(entry) for entry, name in zip(entries, names, strict=True)]
    readable = [one for one in judged if isinstance(one, TreeEntry)]
    remembered = known(readable) if known is not None else {}
    contents = snapshot.read(entry for entry in readable if entry not in remembered)
    found = (examine or _examine_here(policy, language_of))(contents)
    previous: str | None = None
    for one in judged:
        if isinstance(one, SkippedFile):
            yield one
        else:
            result = remembered[one] if one in remembered else next(found)
            if one.path == previous:
                yield one.skipped(SkipReason.DUPLICATE_PATH, "the tree lists the path twice; the first is indexed")
            else:
                yield result
            previous = one.path


def _named(entry: TreeEntry, masked_path: str) -> SkippedFile | None:
    """The refusal of a file whose path holds a credential, under the masked path."""
    if masked_path == entry.path:
        return None
    detail = "its name or the name of a folder holds a credential; rename it"
    return SkippedFile(masked_path, SkipReason.SECRET_IN_PATH, detail, entry.size, entry.blob_id)


def is_lasting(found: DiscoveredFile | SkippedFile) -> bool:
    """Whether the same content at the same path gives the same result in another tree."""
    return isinstance(found, DiscoveredFile) or found.reason not in _OF_THE_MOMENT


def refused_name(entry: TreeEntry) -> SkippedFile | None:
    """The refusal of one file whose path holds a credential."""
    return _named(entry, masked_paths([entry.path])[0])


def rules_of(snapshot: Snapshot, policy: IgnorePolicy, entries: list[TreeEntry]) -> PathRules:
    """The policy with the ignore files and the templates of a snapshot."""
    rules = PathRules(policy)
    rules.add_templates(entry.path for entry in entries)
    for entry, content in snapshot.read(ignore_files(entries, with_gitignore=snapshot.has_gitignore)):
        if isinstance(content, bytes):
            directory, _, name = entry.path.rpartition("/")
            rules.add_ignore_file(directory, name, content)
    return rules


def _examine_here(policy: IgnorePolicy, language_of: Callable[[str], str]) -> Examine:
    return lambda contents: (
        examined(entry, content, policy, language_of) if isinstance(content, bytes) else content
        for entry, content in contents
    )


def examined(
    entry: TreeEntry, data: bytes, policy: IgnorePolicy, language_of: Callable[[str], str]
) -> DiscoveredText | SkippedFile:
    """The result by content; cheap checks come first."""
    name = entry.path.rpartition("/")[2]
    if len(data) <= _MAX_LFS_POINTER and data.startswith(_LFS_POINTER):
        return entry.skipped(SkipReason.BINARY, "git-lfs pointer")
    extract = extraction_of(name)
    if extract is not None:
        taken = extract(data)
        if isinstance(taken, ExtractionRefused):
            return entry.skipped(taken.reason, masked(taken.detail))
        decoded: Decoded | Binary = Decoded(taken, f"text of {extension_of(name)}")
    else:
        decoded = decode(data)
    if isinstance(decoded, Binary):
        return entry.skipped(SkipReason.BINARY, decoded.detail)
    text = decoded.text
    if not text.strip():
        return entry.skipped(SkipReason.EMPTY, "only white space")
    if not entry.taken and is_generated_text(name, text):
        return entry.skipped(SkipReason.GENERATED, "its opening comment says so")
    if not entry.taken and is_minified_text(name, text):
        return entry.skipped(SkipReason.MINIFIED, "lines are far longer than people write")
    if not entry.taken and is_copied_library(entry.path, text):
        return entry.skipped(SkipReason.VENDORED, "copy of a script library, as its opening comment says")
    limit = policy.max_line_length
    if len(text) > limit and extension_of(name) not in PROSE and (longest := longest_line(text)) > limit:
        return entry.skipped(SkipReason.LINE_TOO_LONG, f"{longest:,} characters on a line, limit {limit:,}")
    redaction = redact(text, entry.path)
    file = DiscoveredFile(
        path=entry.path,
        blob_id=entry.blob_id,
        size_bytes=len(data),
        language=language_of(named_by_interpreter(entry.path, text)),
        encoding=decoded.encoding,
        text_sha256=content_hash(redaction.text),
        line_count=line_count(text),
        redacted_secrets=len(redaction.findings),
        replaced_characters=decoded.replaced,
    )
    return DiscoveredText(file, redaction.text, redaction.findings)


def named_by_interpreter(path: str, text: str) -> str:
    """The path of a file, with the ending of those that its interpreter runs where the name has none: `bin/setup` that
    begins with `#!/usr/bin/env bash` → `bin/setup.sh`."""
    found = _INTERPRETER.match(text) if "." not in path.rpartition("/")[2] else None
    ending = _ENDINGS.get(found[1].lower(), "") if found else ""
    return f"{path}.{ending}" if ending else path


def line_count(text: str) -> int:
    """Lines of a text; `\\n`, `\\r\\n` and a lone `\\r` each end one, and the last line needs no end."""
    ends = text.count("\n") + text.count("\r") - text.count("\r\n")
    return ends + (not text.endswith(("\n", "\r"))) if text else 0
