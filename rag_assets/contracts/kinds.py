"""The closed sets every stage shares: what a segment is (SubtypeKind) and what a point is about (B01)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum


class SubtypeKind(StrEnum):
    """What role a segment plays. Detected once, before builders, by `rag_assets.classification` (A09)."""

    DOMAIN_DESCRIPTION = "DomainDescription"
    MODEL = "Model"
    SUMMARY_LIST_MODEL = "SummaryListModel"
    MANAGER = "Manager"
    REPOSITORY = "Repository"
    CONTROLLER = "Controller"
    SERVICE = "Service"
    TEST = "Test"
    INTERFACE = "Interface"
    STARTUP = "Startup"
    PROGRAM = "Program"
    CLIENT = "Client"
    CONFIGURATION = "Configuration"
    HANDLER = "Handler"
    RESOURCE_FILE = "ResourceFile"
    CODE_ATTRIBUTE = "CodeAttribute"
    EXCEPTION = "Exception"
    EXTENSION_METHODS = "ExtensionMethods"
    REQUEST = "Request"
    RESULT = "Result"
    RESPONSE = "Response"
    PROXY_SERVICES = "ProxyServices"
    MESSAGE = "Message"
    ENUM = "Enum"
    EF_DATA_CONTEXT = "EfDataContext"
    DDR = "Ddr"
    MARKDOWN = "Markdown"
    SQL_OBJECT = "SqlObject"
    DOCUMENT = "Document"
    TRANSCRIPT = "Transcript"
    OTHER = "Other"


class RagContentType(IntEnum):
    """IDX-025 §2.1 (B01). Persisted as `ContentTypeId`, the name as `ContentType`."""

    UNKNOWN = 0
    DOMAIN_DOCUMENT = 1
    SOURCE_CODE = 2
    POLICY = 3
    PROCEDURE = 4
    REFERENCE = 5
    CONFIGURATION = 6
    INFRASTRUCTURE = 7
    SCHEMA = 8
    API_CONTRACT = 9
    SPEC = 10

    @property
    def label(self) -> str:
        """The seed's spelling, `SourceCode` for `SOURCE_CODE`."""
        return self.name.title().replace("_", "")


@dataclass(frozen=True, slots=True)
class Classification:
    """A kind with the evidence that decided it, so that a wrong kind can be explained."""

    kind: SubtypeKind
    reason: str
    evidence: tuple[str, ...] = ()
    rule: str = ""
    pack: str = ""
