"""Secrets that are made when a test runs, and the places of a repository where people leave them.

A kind is a form of credential as its issuer makes it today, built of parts: this file holds none. Most are known by
their form; the others by the text around them, which is `text`, or by the name they are given, which is `key`.
"""

from __future__ import annotations

import base64
import contextlib
import html
import json
import random
import sqlite3
import string
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import pyarrow as pa
import pyarrow.parquet as pq
import re2

from rag_assets_tests.documents import docx, paragraph, pdf, vtt
from rag_assets_tests.git_repository import Repository

ALNUM = string.ascii_letters + string.digits
LOWER = string.ascii_lowercase + string.digits
UPPER = string.ascii_uppercase + string.digits
HEX = "0123456789abcdef"
URL_SAFE = ALNUM + "-_"
BASE64 = ALNUM + "+/"
BASE32 = string.ascii_lowercase + "234567"

Part = str | tuple[str, int]
"""Text as it is, or an alphabet and how many characters of it."""


@dataclass(frozen=True)
class Kind:
    """`text` has `{}` where the secret stands. `key`: it is a secret because this name is given to it."""

    name: str
    parts: tuple[Part, ...]
    text: str = "{}"
    key: str = ""
    encode: Callable[[str], str] = str

    def make(self, drawn: random.Random) -> str:
        """A secret of this kind; a digit and a letter are in each part that is drawn."""
        return self.encode("".join(part if isinstance(part, str) else _drawn(drawn, *part) for part in self.parts))


def _drawn(drawn: random.Random, alphabet: str, length: int) -> str:
    while True:
        made = "".join(drawn.choices(alphabet, k=length))
        if length < _LONG or all(
            any(map(kind, made)) for kind in (str.isdigit, str.isalpha) if any(map(kind, alphabet))
        ):
            return made


_LONG = 8  # characters that have a digit and a letter, where the alphabet has both


def _part(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def _token(name: str, *parts: Part) -> Kind:
    return Kind(name, parts)


def _named(key: str, *parts: Part) -> Kind:
    return Kind(f"named {key}", parts, key=key)


def _in(name: str, text: str, *parts: Part) -> Kind:
    return Kind(name, parts, text=text)


_PASSWORD: Part = (ALNUM, 12)

KINDS: tuple[Kind, ...] = (
    _token("Stripe of 107", "sk_" + "live_51", (ALNUM, 97)),
    _token("Stripe restricted", "rk_" + "live_51", (ALNUM, 97)),
    _token("OpenAI project", "sk-" + "proj-", (URL_SAFE, 74), "T3Blbk" + "FJ", (URL_SAFE, 74)),
    _token("OpenAI service account", "sk-" + "svcacct-", (URL_SAFE, 74), "T3Blbk" + "FJ", (URL_SAFE, 74)),
    _token("OpenAI short", "sk-" + "proj-", (ALNUM, 48)),
    _token("Anthropic", "sk-" + "ant-api03-", (URL_SAFE, 93), "AA"),
    _token("Slack refresh", "xox" + "e-1-", (UPPER, 147)),
    _token("Slack configuration", "xox" + "e.xoxp-1-", (UPPER, 163)),
    _token("Slack bot", "xox" + "b-", (string.digits, 12), "-", (string.digits, 12), "-", (ALNUM, 24)),
    _token("GitLab", "glp" + "at-", (URL_SAFE, 20)),
    _token("GitLab routable", "glp" + "at-", (URL_SAFE, 30), ".01.", (LOWER, 9)),
    _token("GitLab runner routable", "glr" + "t-t1_", (URL_SAFE, 30), ".01.", (LOWER, 9)),
    _token("GitLab trigger", "glp" + "tt-", (HEX, 40)),
    _token("GitHub", "gh" + "p_", (ALNUM, 36)),
    _token("GitHub fine-grained", "github" + "_pat_", (ALNUM, 22), "_", (ALNUM, 59)),
    _token("GitHub application", "gh" + "s_", (ALNUM, 36)),
    _token("Vault service", "hv" + "s.", (URL_SAFE, 95)),
    _token("Vault batch", "hv" + "b.", (URL_SAFE, 152)),
    _token("Vault recovery", "hv" + "r.", (URL_SAFE, 95)),
    _token("Grafana service account", "gls" + "a_", (ALNUM, 32), "_", (HEX, 8)),
    _token("Grafana Cloud", "gl" + "c_eyJvIjoi", (BASE64, 100), "="),
    _token("Atlassian", "ATA" + "TT3xFfGF0", (URL_SAFE, 171), "=", ("0123456789ABCDEF", 8)),
    _token("Bitbucket", "ATC" + "TT3xFfGN0", (URL_SAFE, 171), "=", ("0123456789ABCDEF", 8)),
    _token("Docker personal", "dckr" + "_pat_", (URL_SAFE, 27)),
    _token("Docker organisation", "dckr" + "_oat_", (URL_SAFE, 32)),
    _token("Terraform", (ALNUM, 14), ".atlas" + "v1.", (URL_SAFE, 67)),
    _token("Postman", "PMA" + "K-", (HEX, 24), "-", (HEX, 34)),
    _token("New Relic user", "NRA" + "K-", (UPPER, 27)),
    _token("New Relic ingest", "NRI" + "I-", (URL_SAFE, 32)),
    _token("New Relic licence", (HEX, 36), "NR" + "AL"),
    _token("Linear", "lin_" + "api_", (ALNUM, 40)),
    _token("Figma", "fig" + "d_", (URL_SAFE, 40)),
    _token("Doppler personal", "dp." + "pt.", (ALNUM, 43)),
    _token("Doppler service", "dp." + "st.prd.", (ALNUM, 43)),
    _token("Sonar user", "sq" + "u_", (HEX, 40)),
    _token("Sonar project", "sq" + "p_", (HEX, 40)),
    _token("Supabase management", "sb" + "p_", (HEX, 40)),
    _token("Supabase secret", "sb_" + "secret_", (URL_SAFE, 31)),
    _token("Brevo", "xkey" + "sib-", (HEX, 64), "-", (ALNUM, 16)),
    _token("PlanetScale password", "pscale" + "_pw_", (URL_SAFE, 43)),
    _token("PlanetScale token", "pscale" + "_tkn_", (URL_SAFE, 43)),
    _token("JFrog key", "AKC" + "p8", (ALNUM, 68)),
    _token("JFrog reference", "cmVm" + "dGtuOjAxO", (ALNUM, 55)),
    _token("Octopus", "AP" + "I-", (UPPER, 26)),
    _token("Square access", "EA" + "AA", (URL_SAFE, 60)),
    _token("Square secret", "sq0" + "csp-", (URL_SAFE, 43)),
    _token("Azure DevOps of 84", (ALNUM, 52), "JQQ" + "J99", (UPPER, 1), "C", (ALNUM, 12), "AAA" + "AAZDO", (ALNUM, 4)),
    _token("Azure OpenAI of 84", (ALNUM, 52), "JQQ" + "J99", (UPPER, 1), "C", (ALNUM, 12), "AAA" + "BACOG", (ALNUM, 4)),
    _token("Azure function", (URL_SAFE, 44), "Az" + "Fu", (URL_SAFE, 5), "A=="),
    _token("Azure registry", (BASE64, 42), "+AC" + "RA", (BASE64, 5)),
    _token("Azure storage", (BASE64, 76), "+A" + "St", (BASE64, 5), "A=="),
    _token("Azure Cosmos", (BASE64, 76), "AC" + "Db", (BASE64, 5), "Q=="),
    _token("Azure search", (ALNUM, 42), "Az" + "SeA", (ALNUM, 5)),
    _token("Azure Service Bus", (BASE64, 33), "+AS" + "bA", (BASE64, 5), "="),
    _token("Azure Redis", (BASE64, 33), "Az" + "CaA", (BASE64, 5), "="),
    _token("Entra application", (ALNUM, 3), "8" + "Q~", (URL_SAFE, 34)),
    _token("AWS key id", "AK" + "IA", (string.ascii_uppercase + "234567", 16)),
    _token("Google API", "AI" + "za", (URL_SAFE, 35)),
    _token("Google OAuth", "GOC" + "SPX-", (URL_SAFE, 28)),
    _token("SendGrid", "SG" + ".", (URL_SAFE, 22), ".", (URL_SAFE, 43)),
    _token("NuGet", "oy" + "2", (BASE32, 43)),
    _token("npm", "npm" + "_", (ALNUM, 36)),
    _token("PyPI", "pypi-" + "AgEIcHlwaS5vcmc", (URL_SAFE, 120)),
    _token("Databricks", "dap" + "i", (HEX, 32)),
    _token("Hugging Face", "h" + "f_", (ALNUM, 34)),
    _token("DigitalOcean", "dop" + "_v1_", (HEX, 64)),
    _token("Shopify", "shp" + "at_", (HEX, 32)),
    _token("Telegram", (string.digits, 10), ":A" + "A", (URL_SAFE, 33)),
    _token("age", "AGE-SECRET" + "-KEY-1", ("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)),
    _token("Slack webhook", "https://hooks.slack" + ".com/services/T", (UPPER, 8), "/B", (UPPER, 8), "/", (ALNUM, 24)),
    _token("JSON web token", _part({"alg": "HS256", "typ": "JWT"}), ".", "eyJ", (URL_SAFE, 60), ".", (URL_SAFE, 43)),
    _in("SQL Server", "Server=tcp:db,1433;User Id=app;Password={};Encrypt=true", _PASSWORD),
    _in("SQL Server, last", "Data Source=db;Initial Catalog=shop;User ID=app;Pwd={}", _PASSWORD, "!"),
    _in("PostgreSQL", "Host=db;Port=5432;Database=shop;Username=app;Password={}", _PASSWORD),
    _in("MySQL", "server=db;uid=app;pwd={};database=shop", _PASSWORD),
    _in("Redis", "cache.local:6380,password={},ssl=True,abortConnect=False", (BASE64, 43), "="),
    _in(
        "storage connection",
        "DefaultEndpointsProtocol=https;AccountName=shop;AccountKey={};EndpointSuffix=core.windows.net",
        (BASE64, 86),
        "==",
    ),
    _in(
        "Service Bus connection",
        "Endpoint=sb://shop.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey={}",
        (BASE64, 43),
        "=",
    ),
    _in("Cosmos connection", "AccountEndpoint=https://shop.documents.azure.com/;AccountKey={};", (BASE64, 86), "=="),
    _in(
        "shared access signature", "https://shop.blob.core.windows.net/a?sv=2024-11-04&sp=r&sig={}", (ALNUM, 43), "%3D"
    ),
    _in("URL of a database", "postgres://app:{}@db:5432/shop", _PASSWORD),
    _in("URL of a queue", "amqps://app:{}@rabbit.local/shop", _PASSWORD),
    _in("bearer", "Authorization: Bearer {}", (URL_SAFE, 40)),
    Kind(
        "basic",
        ("deploy:", (ALNUM, 16)),
        text="Authorization: Basic {}",
        encode=lambda made: base64.b64encode(made.encode()).decode(),
    ),
    _in("token authorization", "Authorization: token {}", (HEX, 40)),
    _in("netrc", "machine host.local login deploy password {}", _PASSWORD),
    _in("npm password", "//npm.local/:_password={}", (ALNUM, 24)),
    _in("sshpass", "sshpass -p {} ssh deploy@host", _PASSWORD),
    _in("mysql", "mysqldump -uroot -p{} shop", _PASSWORD),
    Kind(
        "kube key",
        ("-----BEGIN RSA PRIVATE KEY-----", (BASE64, 90)),
        text="client-key-data: {}",
        encode=lambda made: base64.b64encode(made.encode()).decode(),
    ),
    _named("ApiKey", (ALNUM, 32)),
    _named("clientSecret", (URL_SAFE, 40)),
    _named("DB_PASSWORD", _PASSWORD, "!"),
    _named("AWS_SECRET_ACCESS_KEY", (BASE64, 40)),
    _named("storageKey", (ALNUM, 44)),
    _named("FUNCTIONS_HOST_KEY", (ALNUM, 40)),
    _named("registryPassword", (ALNUM, 20)),
    _named("signingKey", (ALNUM, 48)),
)


@dataclass(frozen=True)
class Planted:
    """A secret, and where it was put. `said` is it with the text by which it is known."""

    kind: str
    place: str
    secret: str
    said: str = ""

    @property
    def parts(self) -> list[bytes]:
        """Pieces of it in lower case; a text with one of them gives the secret away."""
        low = self.secret.lower().encode()
        return [low[at : at + _TELLING] for at in range(0, len(low) - _TELLING + 1, _TELLING)]

    def is_in(self, data: bytes) -> bool:
        """Whether lower-case bytes give it away."""
        return any(part in data for part in self.parts)


_TELLING = 12  # characters in a row; the shortest secret has as many


# --- where they are put, and how they are looked for ------------------------------------------------------------------

PLACES = {
    "code": ("src/Code{n}.cs", 'public static class Code{n} {{\n    public const string {name} = "{value}";\n}}\n'),
    "doc comment": ("src/Doc{n}.cs", "/// <summary>Use {said} here.</summary>\npublic class Doc{n} {{ }}\n"),
    "settings": ("app{n}/appsettings.json", '{{\n  "Section": {{ "{name}": "{value}" }}\n}}\n'),
    "yaml": ("deploy/a{n}.yml", "root:\n  {name}: {value}\n"),
    "environment": ("env{n}/.env", "{name}={value}\n"),
    "text": ("docs/a{n}.md", "# Login {n}\n\nUse {said} to log in, then go on.\n"),
    "fenced code": ("docs/b{n}.md", "# Run {n}\n\n```\n{said}\n```\n"),
    "resources": ("src/R{n}.resx", '<root><data name="V{n}" xml:space="preserve"><value>{said}</value></data></root>'),
    "word": ("docs/a{n}.docx", "The value ({said}) is used."),
    "sql": ("db/a{n}.sql", "-- {said}\nCREATE TABLE t{n} (id int);\n"),
    "transcript": ("docs/a{n}.vtt", "We use {said} now"),
    "two literals": ("src/Two{n}.cs", 'class Two{n} {{ string c = "{halves}"; }}\n'),
    "PDF": ("docs/a{n}.pdf", "We use {said} now"),
    "script": ("run/a{n}.py", "{name} = '{value}'\n"),
    "subject": ("", "Change {said} of shop {n}"),
    "file name": ("names/{value}.md", "# A note {n}\n"),
    "folder name": ("in/{value}/a.md", "# A note {n}\n"),
}
PER_KIND = 3


def _fits(kind: Kind, place: str) -> bool:
    if place.endswith("name"):
        return kind.text == "{}" and not kind.key
    if place == "two literals":
        return "Password=" in kind.text
    return not kind.key or place not in {"doc comment", "resources", "sql", "transcript"}


def plant(repository: Repository, also: Mapping[str, str | bytes] = MappingProxyType({})) -> list[Planted]:
    """Commits a file or a subject for each secret, beside other files."""
    drawn = random.Random(19)
    planted, files, subjects = [], dict(also), []
    for number, kind in enumerate(KINDS):
        fitting = [place for place in PLACES if _fits(kind, place)]
        for turn in range(PER_KIND):
            place = fitting[(number + turn * 5) % len(fitting)]
            secret = kind.make(drawn)
            if place.endswith("name") and "/" in secret:
                place = "text"
            told = kind.text.format(secret)
            said = f"{kind.key}={told}" if kind.key else told
            path, form = PLACES[place]
            values = {"n": len(planted), "name": kind.key or "Value", "value": told, "said": said}
            values["halves"] = told.replace(";Password=", ';" +\n        "Password=')
            text = form.format(**values)
            planted.append(Planted(kind.name, place, secret, said))
            if place == "subject":
                subjects.append(text)
            elif place == "word":
                files[path.format(**values)] = docx(paragraph(text))
            elif place == "PDF":
                files[path.format(**values)] = pdf(text)
            elif place == "transcript":
                files[path.format(**values)] = vtt(("00:01", text))
            else:
                files[path.format(**values)] = text
    repository.commit(files, "all")
    for number, subject in enumerate(subjects):
        repository.commit({f"src/Changed{number}.cs": f"class Changed{number} {{ }}"}, subject)
    return planted


def written(folder: Path) -> bytes:
    """All bytes of all files and their names, Parquet, SQLite, zlib and the entities of HTML decoded, in lower case."""
    found = []
    for file in folder.rglob("*"):
        found.append(str(file.relative_to(folder)).encode())
        if not file.is_file():
            continue
        data = file.read_bytes()
        found.append(data.rstrip(b"\0"))
        if file.suffix == ".parquet":
            found.append(repr(pq.read_table(file).to_pylist()).encode())
        elif data.startswith(b"SQLite format 3"):
            found += _rows(file)
        else:
            found += _unpacked(data)
    return b"\n".join(found).lower()


def _rows(file: Path) -> list[bytes]:
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as database:
        names = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        cells = [cell for name in names for row in database.execute(f'SELECT * FROM "{name}"') for cell in row]
    return [
        piece
        for cell in cells
        for piece in ([cell, *_unpacked(cell)] if isinstance(cell, bytes) else [html.unescape(str(cell)).encode()])
    ]


def _unpacked(data: bytes) -> list[bytes]:
    found = []
    for codec in ("zstd", "gzip", "lz4"):
        try:
            found.append(pa.input_stream(pa.py_buffer(data), compression=codec).read())
        except (OSError, ValueError):
            continue
    with contextlib.suppress(zlib.error):
        found.append(zlib.decompress(data))
    return found


def found_again(planted: list[Planted], data: bytes) -> set[tuple[str, str, str]]:
    """The secrets of which a piece is in the data."""
    options = re2.Options()
    options.max_mem = 1 << 30
    telling = [(part, one) for one in planted for part in one.parts]
    searched = re2.Set.SearchSet(options)
    for part, _ in telling:
        searched.Add(re2.escape(part))
    searched.Compile()
    numbers = searched.Match(data) or ()
    return {(one.kind, one.place, one.secret) for one in (telling[number][1] for number in numbers)}
