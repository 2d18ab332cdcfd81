"""Why a question got no answer, as results name it."""

from __future__ import annotations

from rag_assets.contracts.result import Message
from rag_assets.model_server.faults import TRANSIENT, Code, Fault

UNUSABLE = TRANSIENT | {Code.REJECTED, Code.CONTENT_TYPE, Code.TOO_LARGE}
"""The server gave nothing a model wrote. Several in a row mean that it will not; bad answers of a model do not."""


def result_code(code: Code) -> str:
    """`LLM.timeout`: the code of a failed result."""
    return f"LLM.{code}"


def failure_message(fault: Fault) -> Message:
    return Message(result_code(fault.code), fault.text)
