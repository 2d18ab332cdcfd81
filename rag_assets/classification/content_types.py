"""What a text is for (IDX-025 §2.1): contract, schema, infrastructure, policy, procedure, guide or reference.

By the name of the file and by what it begins with. A word of the file name decides before the folders above it, the
nearest first; then the title; a document without such a word is a narrative if most of it is prose. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_assets.classification.rule_packs import glob_pattern
from rag_assets.contracts.kinds import RagContentType
from rag_assets.languages.detection import SourceType, source_type

HEAD_CHARS = 4_000
"""How much of a file is looked at: generated contracts have long licences above them."""

_CONTRACT, _SCHEMA, _INFRASTRUCTURE = (
    RagContentType.API_CONTRACT,
    RagContentType.SCHEMA,
    RagContentType.INFRASTRUCTURE,
)

_OF_LANGUAGE = {
    "proto": _CONTRACT,
    "terraform": _INFRASTRUCTURE,
    "bicep": _INFRASTRUCTURE,
    "dockerfile": _INFRASTRUCTURE,
}

_OF_NAME = tuple(
    (glob_pattern(glob), found)
    for found, globs in (
        (_CONTRACT, "*.wsdl *.raml *.thrift *.smithy"),
        (_SCHEMA, "*.xsd *.avsc *.dbml *.prisma *.schema.json"),
        (
            _INFRASTRUCTURE,
            "docker-compose*.yml docker-compose*.yaml compose.yml compose.yaml compose.*.yml compose.*.yaml *.tf.json "
            "Chart.yaml kustomization.yaml kustomization.yml skaffold.yaml Pulumi.yaml serverless.yml buildspec.yml "
            "Jenkinsfile Vagrantfile *.nomad azure-pipelines*.yml azure-pipelines*.yaml .gitlab-ci.yml .travis.yml "
            "appveyor.yml .appveyor.yml bitbucket-pipelines.yml cloudbuild.yaml .drone.yml "
            "**/.github/workflows/* **/.circleci/* **/.azuredevops/** **/.pipelines/** **/pipelines/*.yml "
            "**/pipelines/*.yaml",
        ),
    )
    for glob in globs.split()
)

_OF_HEAD = tuple(
    (frozenset(languages.split()), re.compile(pattern, re.MULTILINE), found)
    for languages, pattern, found in (
        ("json yaml", r"^\s*[\"']?(?:openapi|asyncapi)[\"']?\s*:\s*[\"']?\d", _CONTRACT),
        ("json yaml", r"^\s*[\"']?swagger[\"']?\s*:\s*[\"']?2", _CONTRACT),
        ("json", r"^\{\s*\"(?:openapi|swagger|asyncapi)\"\s*:", _CONTRACT),
        ("xml", r"<(?:\w+:)?(?:definitions|description)\b[^>]*\b(?:xmlsoap\.org/wsdl|w3\.org/ns/wsdl)", _CONTRACT),
        ("graphql", r"^\s*(?:extend\s+)?(?:type|schema|input|interface|enum|union|scalar|directive)\b", _CONTRACT),
        ("xml", r"<(?:\w+:)?schema\b[^>]*\bw3\.org/2001/XMLSchema", _SCHEMA),
        ("json", r"\"\$schema\"\s*:\s*\"https?://schema\.management\.azure\.com/", _INFRASTRUCTURE),
        ("json yaml", r"\bAWSTemplateFormatVersion\b", _INFRASTRUCTURE),
        ("json yaml", r"\"?\$schema\"?\s*:\s*\"?https?://json-schema\.org/", _SCHEMA),
        ("yaml", r"^apiVersion:[ \t]*\S[^\n]*\n(?:[^\n]*\n){0,40}?kind:[ \t]*\S", _INFRASTRUCTURE),
        ("yaml", r"^kind:[ \t]*\S[^\n]*\n(?:[^\n]*\n){0,40}?apiVersion:[ \t]*\S", _INFRASTRUCTURE),
        ("json", r"^\s*\"apiVersion\"\s*:\s*\"[\w./-]*v\d\w*\"\s*,\s*\"kind\"\s*:", _INFRASTRUCTURE),
    )
)

_WORDS = {
    word: found
    for found, words in (
        (RagContentType.POLICY, "policy policies governance compliance"),
        (RagContentType.PROCEDURE, "runbook runbooks procedure procedures playbook playbooks sop sops"),
        (RagContentType.SPEC, "spec specs specification specifications requirements prd rfc rfcs adr adrs ddr ddrs"),
        (
            RagContentType.DOMAIN_DOCUMENT,
            "guide guides handbook handbooks tutorial tutorials walkthrough overview architecture narrative narratives "
            "concept concepts introduction vision readme",
        ),
        (
            RagContentType.REFERENCE,
            "reference references api cheatsheet glossary changelog changes history license licence notice faq",
        ),
    )
    for word in words.split()
}
_PHRASES = (
    ("code of conduct", RagContentType.POLICY),
    ("terms of use", RagContentType.POLICY),
    ("getting started", RagContentType.DOMAIN_DOCUMENT),
    ("cheat sheet", RagContentType.REFERENCE),
    ("release notes", RagContentType.REFERENCE),
)
_RANK = (RagContentType.POLICY, RagContentType.PROCEDURE, RagContentType.SPEC, RagContentType.DOMAIN_DOCUMENT)
_PLAIN = re.compile(r"(?!\s*$)(?!\s{0,3}(?:[#>|*+<-]|\d+[.)]|={3,}|\[[^\]]+\]:)|\s{4,}|\t)")
_FENCE = re.compile(r"\s{0,3}(?:```|~~~)")
_TITLE = re.compile(r"^(?:#{1,2}\s+|title:\s*)(\S.*)$", re.MULTILINE | re.IGNORECASE)
_MARKS_ONLY = {"text", "log"}


def content_type_of(path: str, language: str, text: str) -> RagContentType:
    """What a text that is no code is for; `UNKNOWN` for code and for what nothing tells."""
    kind = source_type(language)
    if kind is SourceType.SQL:
        return RagContentType.SCHEMA
    if kind in (SourceType.DOCUMENT, SourceType.TRANSCRIPT):
        return _of_document(path, text, prose_counts=kind is SourceType.DOCUMENT and language not in _MARKS_ONLY)
    if language in _OF_LANGUAGE:
        return _OF_LANGUAGE[language]
    for pattern, found in _OF_NAME:
        if pattern.fullmatch(path):
            return found
    head = text[:HEAD_CHARS]
    for languages, expression, found in _OF_HEAD:
        if language in languages and expression.search(head):
            return found
    return RagContentType.CONFIGURATION if kind is SourceType.CONFIG else RagContentType.UNKNOWN


def _of_document(path: str, text: str, *, prose_counts: bool) -> RagContentType:
    title = _TITLE.search(text[:HEAD_CHARS])
    names = [*reversed(path.rsplit(".", 1)[0].split("/"))]
    for said in (*names[:1], *([title[1]] if title else []), *names[1:]):
        found = _said(said)
        if found is not None:
            return found
    return RagContentType.DOMAIN_DOCUMENT if prose_counts and _is_prose(text) else RagContentType.REFERENCE


def _said(text: str) -> RagContentType | None:
    words = re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text).lower())
    line = f" {' '.join(words)} "
    found = {kind for phrase, kind in _PHRASES if f" {phrase} " in line}
    found |= {_WORDS[word] for word in words if word in _WORDS}
    return next((kind for kind in (*_RANK, RagContentType.REFERENCE) if kind in found), None)


def _is_prose(text: str) -> bool:
    """Whether most of it is sentences: no lists, tables, headings or code."""
    plain = sum(map(len, _prose(text)))
    return plain > 0 and 2 * plain > len(text)


def _prose(text: str) -> Iterator[str]:
    fenced = False
    for line in text.splitlines():
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and _PLAIN.match(line):
            yield line
