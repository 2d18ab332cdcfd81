"""Checks URLs of servers in the settings: plain, without secrets, and encrypted beyond this machine."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit


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
