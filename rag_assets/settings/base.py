"""The base class of all groups of settings, and the kinds of values that several groups have."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from rag_assets.settings.urls import plain_server_url


class Strict(BaseModel):
    """A group of settings: unknown keys are refused, values do not change, numbers are finite."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _nothing_is_the_default(cls, values: Any) -> Any:
        return without_nothing(cls, values)


def without_nothing(model: type[BaseModel], values: Any) -> Any:
    """Drops settings without a value, such as a block whose lines are all comments, so that their defaults hold."""
    if not isinstance(values, dict):
        return values
    return {name: value for name, value in values.items() if value is not None or name not in model.model_fields}


def _no_blank(value: str) -> str:
    if not value.strip():
        raise ValueError("must not be empty")
    return value.strip()


Name = Annotated[str, AfterValidator(_no_blank)]

ApiVersion = Annotated[
    str,
    Field(
        pattern=r"^[\w.-]*$",
        description="for Azure OpenAI, such as 2024-10-21; base_url is then https://NAME.openai.azure.com, and every "
        "model is a deployment",
    ),
]
AllowPlainHttp = Annotated[
    bool, Field(description="send source and key unencrypted to a server that is not this machine")
]
Tokenizer = Annotated[
    Literal["estimate", "cl100k_base", "o200k_base"],
    Field(description="how tokens are counted; all but estimate need: pip install 'rag-assets[tokenizers-openai]'"),
]


def server_url(secret_variable: str) -> AfterValidator:
    """Of a text that is the plain URL of a server, or empty; its key is in that environment variable."""
    return AfterValidator(partial(plain_server_url, secret_variable=secret_variable))
