"""The base class of all groups of settings, and the kinds of values that several groups have: names, URLs of servers
(plain, without secrets, encrypted beyond this machine)."""

from __future__ import annotations

from functools import partial
from ipaddress import ip_address
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator


def plain_server_url(value: str, secret_variable: str) -> str:
    """`value` without blanks and trailing slash; empty stays empty. Raises ValueError saying what is wrong, without
    repeating a password. Secrets belong into `secret_variable`."""
    url = value.strip().rstrip("/")
    if not url:
        return url
    parts = urlsplit(url)
    plain = url.isascii() and url.isprintable() and " " not in url
    if parts.scheme not in ("http", "https") or not parts.hostname or not plain or parts.port == 0:
        raise ValueError("must be an http or https URL, for example https://api.example.org/v1")
    if parts.username or parts.password:  # the value is not repeated: it holds a secret
        raise ValueError(f"must not hold a password; set {secret_variable} in the environment")
    if parts.query or parts.fragment:
        raise ValueError("must end with the path, without ? and #")
    return url


def object_store_url(value: str) -> str:
    """`value` without blanks and trailing slash, also the path of a folder; empty stays empty. Raises ValueError saying
    what is wrong, without repeating a key."""
    url = value.strip().rstrip("/")
    if "://" not in value:  # a path
        return url
    parts = urlsplit(url)
    if parts.username or parts.password:
        raise ValueError("must not hold a key; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment")
    of_s3 = parts.scheme == "s3" and bool(parts.hostname)
    of_file = parts.scheme == "file" and not parts.netloc and len(parts.path) > 1
    if not (of_s3 or of_file) or parts.query or parts.fragment:
        raise ValueError("must be s3://bucket/prefix, file:///folder or the path of a folder")
    return url


def refuse_unencrypted(url: str, *, allowed: bool) -> None:
    """Raises ValueError for plain http to another machine, unless the user `allowed` it."""
    parts = urlsplit(url)
    if parts.scheme == "http" and not is_loopback(parts.hostname or "") and not allowed:
        raise ValueError(
            f"source code would go to {parts.hostname} unencrypted; use https, or say allow_plain_http: true"
        )


def is_loopback(host: str) -> bool:
    """True for this machine: by name, or by an address of its own network."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


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
