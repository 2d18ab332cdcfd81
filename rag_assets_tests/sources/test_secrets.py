"""Redaction as a table: what must be masked, what must survive. Tokens are built from parts: this file has none."""

from __future__ import annotations

import base64
import json
import random
import re

import pytest

from rag_assets.sources.secrets.redaction import SecretFinding, redact
from rag_assets_tests.effort import ends_within
from rag_assets_tests.planted_secrets import KINDS, Kind, Planted

R = "q7Zk2Vw9Xc4Bn8Ml1Pa6"  # letters and digits without meaning, 20 characters
HEX32 = "9f86d081884c7d659a2feaa0c55ad015"


def alnum(length: int) -> str:
    return (R * 10)[:length]


def jwt() -> str:
    def part(value: dict[str, str]) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    return f"{part({'alg': 'HS256', 'typ': 'JWT'})}.{part({'sub': '1234567890', 'name': 'Jo'})}.{alnum(43)}"


PEM_BODY = "\n".join(base64.b64encode(random.Random(n).randbytes(48)).decode() for n in range(6))

# (id, path, text with the secret between « and »)
MASKED = [
    # connection strings
    ("sql-connection", "a.cs", 'var c = "Server=db;User Id=sa;Password=«hunter2»;Encrypt=true";'),
    ("sql-connection-last", "appsettings.json", '"Db": "Data Source=x;Initial Catalog=y;User ID=z;Pwd=«S3cr.t!»"'),
    ("sql-connection-first", "web.config", '<add connectionString="Password=«abc123»;Server=x;Database=y" />'),
    ("npgsql", "a.cs", '"Host=localhost;Username=postgres;Password=«postgres»"'),
    ("redis", "a.json", '"Redis": "host:6379,password=«p4ss»,ssl=True"'),
    ("storage-key", "a.cs", f'"DefaultEndpointsProtocol=https;AccountName=a;AccountKey=«{alnum(86)}==»"'),
    ("service-bus", "a.json", f'"Endpoint=sb://x/;SharedAccessKeyName=Root;SharedAccessKey=«{alnum(43)}=»"'),
    ("shared-access-signature", "a.md", f"https://a.blob.core/x?sv=2020&sig=«{alnum(40)}%3D»"),
    ("url-password", "a.py", 'url = "amqp://svc:«Tr0ub4dor»@rabbit:5672/"'),
    ("git-url", "a.yml", "repo: https://jane:«s3cr3tpw»@host/repo.git"),
    # what settings files call simply Key and Pass
    ("jwt-section", "appsettings.json", '"Jwt": {"Issuer": "x", "Key": "«' + alnum(32) + '»"}'),
    ("mail-pass", "appsettings.json", '"Smtp": {"User": "x", "Pass": "«xK9!mmQ2zz»"}'),
    ("machine-key", "web.config", f'<machineKey validationKey="«{HEX32}»" decryptionKey="«{HEX32[::-1]}»" />'),
    # what only looks like a placeholder and the rest of a connection string
    ("few-characters-and-more", "README.md", "Password=«K9;pq=Zx81LmT4»"),
    ("two-characters-and-more", "README.md", "password: «A9;k=Tr0ub4dor»"),
    ("word-and-more", "README.md", "Password=«test;Hunter2=abc»"),
    ("word-and-a-harmless-key", "README.md", "Password=«test;User=Abc99»"),
    ("stars-and-a-key", "README.md", "passphrase is ***«;Key=S3cretK3y99»"),
    ("stars-and-a-signature", "README.md", "Password=***«;SharedAccessSignature=sv=2020&sig=Zx9Kq2Lm8Rt4Wy6P»"),
    ("stars-and-a-password", "README.md", "Password=***«;Pass=S3cretW0rd9»"),
    ("stars-and-a-pin", "README.md", "Server=db;Password=***«;Pin=48151623»"),
    ("stars-and-a-pin-behind-harmless-keys", "README.md", "Password=***«;Database=shop;Pin=48151623;Ssl=true»"),
    ("stars-and-an-address", "README.md", "Password=***«;Endpoint=https://h/?code=S3cretW0rd9»"),
    ("stars-and-another-separator", "README.md", "Password=***«;Server=db,6379,pass=S3cretW0rd9»"),
    ("stars-and-a-key-that-is-cut", "README.md", "Password=***«;Database=shop9;Secret» Key=x"),
    # assignments in code
    ("csharp-const", "a.cs", 'public const string DEFAULT_PASSWORD = "«Pass@word1»";'),
    ("csharp-field", "a.cs", 'private static readonly string _apiKey = "«' + HEX32 + '»";'),
    ("csharp-verbatim", "a.cs", 'string pwd = @"«P4ss/word!»";'),
    ("csharp-compare", "a.cs", 'if (password == "«L3tmein!»") return true;'),
    ("csharp-initializer", "a.cs", 'new Login { User = "x", Password = "«Secr3t#99»" }'),
    ("csharp-pair", "a.cs", 'new KeyValuePair<string, string>("Password", "«Pass@word1»")'),
    ("csharp-dictionary", "a.cs", '["ClientSecret"] = "«' + alnum(32) + '»"'),
    ("csharp-named-argument", "a.cs", 'Login(user: "x", password: "«Pa55-w0rd»")'),
    ("csharp-wordy-key", "a.cs", 'const string JWT_SECRET_KEY = "«SecretKeyOfDoomThatMustBeAMinimumNumberOfBytes»";'),
    ("csharp-token", "a.cs", 'var userToken = "«' + HEX32 + '»";'),
    ("csharp-dollars", "a.cs", 'Password = "«P@$$w0rd»"'),
    ("csharp-split-line", "a.cs", 'const string ApiKey =\n    "«' + alnum(32) + '»";'),
    ("javascript", "a.js", "const password = '«c0rrectHorse!»';"),
    ("python", "a.py", 'API_KEY = "«' + alnum(24) + '»"'),
    ("sql-login", "a.sql", "CREATE LOGIN app WITH PASSWORD = N'«P@ssw0rd99»';"),
    ("postgres-role", "a.sql", "CREATE ROLE app PASSWORD '«P@ssw0rd99»';"),
    ("powershell", "a.ps1", '$p = ConvertTo-SecureString "«Hunter2!»" -AsPlainText -Force'),
    ("escaped-json-in-code", "a.cs", 'var j = "{\\"password\\": \\"«Xy12#abc»\\"}";'),
    # logins
    ("network-credential", "a.cs", 'new NetworkCredential("deploy", "«hunter22x»")'),
    ("basic-auth", "a.py", 'get(url, auth=("deploy", "«hunter22x»"))'),
    ("symmetric-key", "a.cs", f'new SymmetricSecurityKey(Encoding.UTF8.GetBytes("«{alnum(32)}»"))'),
    ("key-of-a-section", "a.cs", 'builder.Configuration["Jwt:Key"] = "«' + alnum(32) + '»";'),
    ("pgpass", ".pgpass", "db.local:5432:shop:app:«hunter22x»\n"),
    ("netrc", ".netrc", "machine api.host\n  login me\n  password «hunter22x»\n"),
    ("docker-auth", "config.json", '{"r.io": {"auth": "«' + base64.b64encode(b"me:hunter22x").decode() + '»"}}'),
    ("json-web-key", "a.json", '{"kty": "RSA", "n": "x", "d": "«' + alnum(86) + '»"}'),
    ("mysql", "a.sh", "mysql -h db -u root -p«hunter22x» shop"),
    ("putty", "a.ppk", f"PuTTY-User-Key-File-2: ssh-rsa\nPrivate-Lines: 2\n«{alnum(64)}»\n«{alnum(64)}»\n"),
    ("dockerfile-without-sign", "Dockerfile", "ENV SA_PASSWORD «letmein99»\n"),
    # settings
    ("appsettings-password", "src/appsettings.Development.json", '  "Password": "«letmein»",'),
    ("appsettings-key", "appsettings.json", '  "ApiKey": "«fornuviotsourcecodeindex9787»",'),
    ("compose", "docker-compose.yml", "      - SA_PASSWORD=«@someThing1234»\n"),
    ("compose-map", "docker-compose.yml", "      POSTGRES_PASSWORD: «postgrespw»\n"),
    ("stack", "docker-stack.yml", '      POSTGRES_PASSWORD: "«postgrespw»"\n'),
    ("kubernetes", "k8s/db.yaml", "env:\n- name: POSTGRES_PASSWORD\n  value: «postgrespw»\n- name: A\n  value: b\n"),
    ("container-task", "task.json", '[{"name":"DB_PASSWORD","value":"«hunter22x»"},{"name":"HOST","value":"db12"}]'),
    ("bicep-setting", "app.bicep", "{\n  name: 'SQL_PASSWORD'\n  value: '«Pa55word-x»'\n}\n"),
    ("pipeline-variable", "ci.yml", f"- name: registryPassword\n  value: «Xy7-{alnum(9)}»\n"),
    ("spring", "src/main/resources/application-dev.yml", "    username: bob\n    password: «postgrespw»\n"),
    ("container-argument", "run.sh", "docker run -e POSTGRES_PASSWORD=«hunter22x» -e A=b postgres\n"),
    ("chart-argument", "run.sh", "helm install x --set auth.password=«hunter22x»,auth.user=bob\n"),
    ("sqlcmd", "seed.sh", "sqlcmd -S . -U sa -P '«letmein»' -i seed.sql\n"),
    ("terraform-default", "vars.tf", 'variable "db_password" {\n  type = string\n  default = "«hunter22x»"\n}\n'),
    ("bicep-default", "main.bicep", "param sqlPassword string = '«hunter22x»'\n"),
    (
        "kubernetes-secret",
        "k8s/secret.yaml",
        "kind: Secret\nmetadata:\n  name: db\ndata:\n  config: «c2VjcmV0»\n",
    ),
    ("dotenv", ".env", "export DB_PASSWORD=«hunter2x»\n"),
    ("dotenv-to-copy", "deploy/server.env.example", "DB_PASSWORD=«hunter2x»\n"),
    ("web-config-to-copy", "web.config.sample", '<add key="SmtpPassword" value="«mailpw12»" />'),
    ("dockerfile", "src/Dockerfile", "ENV SA_PASSWORD=«letmein99»\n"),
    ("shell", "deploy.sh", "export DB_PASSWORD=«Hunter-22x»\n"),
    ("web-config", "web.config", '<add key="SmtpPassword" value="«mailpw12»" />'),
    ("xml-element", "app.config", "<Password>«hunter22»</Password>"),
    ("yaml-key", "values.yaml", f"clientSecret: {'«' + alnum(20) + '»'}\n"),
    ("properties-with-comment", "db.properties", "password=«hunter22» # rotate\n"),
    # tokens
    ("jwt", "a.http", "Authorization: Bearer «" + jwt() + "»"),
    ("bearer", "a.cs", '{ "Authorization", $"Bearer «' + alnum(30) + '»" }'),
    ("basic", "a.cs", '"Authorization: Basic «' + base64.b64encode(b"jane:hunter22").decode() + '»"'),
    ("github", "a.cs", f'"«ghp_{alnum(36)}»"'),
    ("github-fine-grained", "a.cs", f'"«github_pat_{alnum(60)}»"'),
    ("gitlab", "a.yml", f"token: «glpat-{alnum(20)}»"),
    ("aws-id", "a.cs", '"«AKIA' + "Q7ZK2VW9XC4BN8ML" + '»"'),
    ("aws-secret", "a.cs", f'aws_secret_access_key = "«{alnum(40)}»"'),
    ("slack", "a.cs", "«xoxb-123456789012-123456789012-" + alnum(24).lower() + "»"),
    ("slack-webhook", "a.cs", f'"«https://hooks.slack.com/services/T12345678/B12345678/{alnum(24)}»"'),
    ("stripe", "a.cs", f'"«sk_live_{alnum(24)}»"'),
    ("stripe-test", "a.cs", f'"«sk_test_{alnum(24)}»"'),
    ("sendgrid", "a.cs", f'"«SG.{alnum(22)}.{alnum(43)}»"'),
    ("google", "a.cs", f'"«AIza{alnum(35)}»"'),
    ("nuget", "a.ps1", f"nuget push -ApiKey «oy2{alnum(43).lower()}»"),
    ("npm", ".npmrc", f"//registry/:_authToken=«npm_{alnum(36)}»"),
    ("openai", "a.py", f'"«sk-{alnum(20)}T3BlbkFJ{alnum(20)}»"'),
    ("anthropic", "a.py", f'"«sk-ant-api03-{alnum(90)}»"'),
    ("pypi", ".pypirc", f"password = «pypi-AgEIcHlwaS5vcmc{alnum(80)}»\n"),
    ("telegram", "a.cs", f'"«123456789:AA{alnum(33)}»"'),
    ("azure-client-secret", "a.tf", f'"«abc8Q~{alnum(34)}»"'),
    ("discord-webhook", "a.cs", f'"https://discord.com/api/webhooks/123456/«{alnum(60)}»"'),
]  # fmt: skip

SURVIVES = [
    ("certificate-in-base64", "kube.yml", base64.b64encode(b"-----BEGIN CERTIFICATE-----" * 3).decode()),
    ("port-of-mysql", "a.sh", "docker run mysql -p3306:3306 -prefix -p8080"),
    ("login-with-a-variable", "a.cs", 'new NetworkCredential(user, password); NetworkCredential("user", "password")'),
    ("public-web-key", "a.json", '{"kty": "RSA", "n": "' + alnum(86) + '", "e": "AQAB"}'),
    ("amazon-resource", "a.tf", "arn:aws:iam::*:role:some-role\n"),
    ("key-of-no-token-section", "appsettings.json", '"Cache": {"Key": "' + alnum(32) + '"}'),
    ("placeholder-of-a-token-section", "appsettings.json", '"Jwt": {"Key": "<set with dotnet user-secrets>"}'),
    ("pass-in-code", "a.cs", 'var x = new { Pass = "first-pass-done" };'),
    # code about passwords
    ("property", "a.cs", "Password = model.Password;"),
    ("two-statements", "a.cs", "builder.UserID = user; builder.Password = password; builder.Server = host;"),
    ("statements-on-a-line", "a.cs", "Server = host; Password = entered; Database = name;"),
    ("parameter", "a.cs", "public void Login(string user, string password, CancellationToken token)"),
    ("default-null", "a.cs", "string password = null, string secret = default"),
    ("empty", "a.json", '"Password": ""'),
    ("interpolation", "a.cs", '$"Server={server};User Id={user};Password={password}"'),
    ("concatenation", "a.cs", '"Server=x;Database=y;Password=" + password + ";"'),
    ("format", "a.cs", 'string.Format("Server={0};Password={1};", s, p)'),
    ("angle", "README.md", "Server=db;User Id=sa;Password=<password>;"),
    ("stars", "README.md", "Server=db;User Id=sa;Password=********;"),
    ("stars-with-more", "README.md", "Server=db;User Id=sa;Password=***;Database=shop;File=C:\\\\Ab.p12;SslMode=None"),
    ("stars-with-a-spaced-key", "README.md", "Server=db;Password=***;Database=shop;User Id=sa;Encrypt=True"),
    ("stars-with-a-spaced-key-next", "README.md", "Server=db;Password=***;Initial Catalog=shop1;Encrypt=True"),
    ("nothing-with-more", "README.md", "Server=db1;Password=;Database=shop9;Connection Timeout=30"),
    ("your", "README.md", "Server=db;User Id=sa;Password=your_password;"),
    ("changeme", "appsettings.json", '"Password": "changeme"'),
    ("variable", "docker-compose.yml", "  POSTGRES_PASSWORD: ${POSTGRES_PASSWORD}\n"),
    ("pipeline-variable", "azure.yml", "  password: $(DbPassword)\n"),
    ("token-replacement", "web.config", '<add key="Password" value="#{DbPassword}#" />'),
    ("kubernetes-reference", "a.yaml", "- name: DB_PASSWORD\n  value: $(PASS)\n- name: KEY_FILE\n  value: a1b2c3\n"),
    ("kubernetes-map", "k8s/map.yaml", "kind: ConfigMap\ndata:\n  admin: jane\n---\nkind: Secret\ntype: Opaque\n"),
    ("argument-reference", "run.sh", "docker run -e DB_PASSWORD=$DB_PASSWORD -e API_KEY=${KEY} x\n"),
    ("variable-without-default", "vars.tf", 'variable "db_password" {}\nvariable "size" {\n  default = "m5x1"\n}\n'),
    ("named-text", "i18n.json", '[{"name":"password","value":"Passwort"},{"name":"resetPassword","value":"Set1"}]'),
    ("shell-variable", "a.sh", "DB_PASSWORD=$PASSWORD_OF_DB\nexport API_KEY=$(cat key.txt)\n"),
    ("percent", "a.cmd", "set PASSWORD=%DB_PASSWORD%\n"),
    ("key-vault", "appsettings.json", '"Secret": "@Microsoft.KeyVault(SecretUri=https://x.vault/)"'),
    ("hash-property", "a.cs", 'PasswordHash = "VHdlZXQgJ1F1aWNrc2lsdmVyJyB0byBASmFtZXNOSw=="'),
    ("name-constant", "a.cs", 'public const string PasswordField = "user_password_2";'),
    ("same-name", "a.cs", 'public const string Password = "Password";'),
    ("dotted-name", "a.cs", 'const string ApiKeyName = "Services:Search:ApiKey";'),
    ("key-path", "a.cs", 'var secret = configuration["Authentication:Google:ClientSecret"];'),
    ("header-name", "a.cs", 'const string ApiKey = "X-Api-Key";'),
    ("message", "a.cs", 'Password = "The password must have at least 8 characters"'),
    ("route", "a.cs", 'ForgotPassword = "/account/forgot-password2"'),
    ("url", "a.cs", 'AccessToken = "https://login.example.org/oauth2/v2.0/token"'),
    ("translation", "lang/de.json", '"Password": "Passwort", "Secret": "Geheimnis"'),
    ("resx", "Resources.resx", '<data name="Password" xml:space="preserve"><value>P4ssw0rd!</value></data>'),
    ("xml-doc", "a.cs", '/// <param name="password">The password, e.g. "abc 123".</param>'),
    ("attribute", "a.cs", '[Display(Name = "Password"), DataType(DataType.Password)]'),
    ("html-input", "a.cshtml", '<input type="password" name="Password" id="Password1" />'),
    ("css-selector", "a.cs", 'var password = driver.Find("#password");'),
    ("xpath", "a.cs", "var password = \"//input[@id='password']\";"),
    ("public-key-token", "a.config", '<assemblyIdentity name="X" publicKeyToken="cc7b13ffcd2ddd51" />'),
    ("public-key", "a.cs", '[assembly: InternalsVisibleTo("T, PublicKey=0024000004800000940000000602")]'),
    ("jtoken", "a.cs", 'JToken token = JToken.Parse("{\'a\': [1, 2, 3]}");'),
    ("cancellation", "a.cs", "var token = source.Token; CancellationToken = token"),
    # things that look random and are not secret
    ("guid", "a.cs", 'const string Id = "6f9619ff-8b86-d011-b42d-00cf4fc964ff";'),
    ("guid-key-in-code", "a.cs", 'const string ApiKey = "6f9619ff-8b86-d011-b42d-00cf4fc964ff";'),
    ("sha256", "a.cs", f'Assert.Equal("{HEX32}{HEX32}", hash);'),
    ("lock-hash", "x.json", f'"contentHash": "{alnum(86)}=="'),
    ("test-vector", "a.cs", f'var expected = Convert.FromBase64String("{alnum(64)}");'),
    ("aws-example", "a.md", "AKIAIOSFODNN7EXAMPLE"),
    ("aws-id-in-base64", "a.cs", f'"{alnum(30)}AKIAQ7ZK2VW9XC4BN8MLxyz{alnum(20)}"'),
    ("github-placeholder", "a.md", "ghp_" + "x" * 36),
    ("url-with-user", "a.cs", '"https://host/path:8080/a@b"'),
    ("ssh-address", "a.md", "git@github.com:org/repo.git and ssh://git@host:22/repo"),
    ("url-placeholder", "a.md", "https://user:password@host/ and https://{user}:{pass}@host"),
    ("basic-word", "a.md", "Basic authentication and Basic Understanding of things"),
    ("pem-mention", "a.cs", 'if (text.Contains("-----BEGIN PRIVATE KEY-----")) { ... "-----END PRIVATE KEY-----" }'),
    ("public-pem", "a.txt", f"-----BEGIN PUBLIC KEY-----\n{PEM_BODY}\n-----END PUBLIC KEY-----"),
    ("eyj-word", "a.cs", "var eyJustAName_123456 = 1; x.eyJust.Another.Name"),
    ("enum", "a.cs", "enum Kind { Password = 1, Secret = 2, ApiKey = 3 }"),
    ("secrets-id", "a.csproj", "<UserSecretsId>aspnet-Web-53bc9b9d-9d6a-45d4</UserSecretsId>"),
    ("order-by-password", "a.sql", "SELECT Password, Secret FROM dbo.Users WHERE Password = @password"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "marked"), [case[1:] for case in MASKED], ids=[case[0] for case in MASKED])
def test_credentials_are_masked_with_the_same_length(path: str, marked: str) -> None:
    secret = marked[marked.index("«") + 1 : marked.index("»")]
    before, after = marked[: marked.index("«")], marked[marked.index("»") + 1 :]
    redaction = redact(before + secret + after, path)
    assert redaction.text == before + "*" * len(secret) + after
    assert redaction.findings
    assert secret not in repr(redaction.findings)


@pytest.mark.parametrize(("path", "text"), [case[1:] for case in SURVIVES], ids=[case[0] for case in SURVIVES])
def test_what_is_no_credential_survives(path: str, text: str) -> None:
    assert redact(text, path).text == text


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("kind", ["RSA PRIVATE KEY", "PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK"])
def test_private_keys_lose_their_body_and_keep_their_lines(kind: str, newline: str) -> None:
    body = PEM_BODY.replace("\n", newline)
    text = f"before{newline}-----BEGIN {kind}-----{newline}{body}{newline}-----END {kind}-----{newline}after"
    redaction = redact(text, "id.txt")
    assert len(redaction.text) == len(text)
    assert redaction.text.count(newline) == text.count(newline)
    assert not set(re.findall(r"[A-Za-z0-9+/=]{8,}", redaction.text)) & set(PEM_BODY.split("\n"))
    assert f"-----BEGIN {kind}-----{newline}***" in redaction.text
    assert redaction.text.endswith(f"-----END {kind}-----{newline}after")
    assert redaction.findings == (SecretFinding("private-key", 3),), "one key is one finding"


def test_a_private_key_in_string_literals_keeps_the_code_around_it() -> None:
    lines = [f'    "{line}\\n" +' for line in PEM_BODY.split("\n")]
    text = '"-----BEGIN RSA PRIVATE KEY-----\\n" +\n' + "\n".join(lines) + '\n"-----END RSA PRIVATE KEY-----";'
    masked = redact(text, "a.cs").text
    assert not any(line in masked for line in PEM_BODY.split("\n"))
    assert masked.count('\\n" +\n') == text.count('\\n" +\n')


def test_a_private_key_that_was_cut_is_masked_to_the_end() -> None:
    masked = redact(f"-----BEGIN PRIVATE KEY-----\n{PEM_BODY}", "a.txt").text
    assert not any(line in masked for line in PEM_BODY.split("\n"))


def test_findings_name_rule_and_line_only() -> None:
    text = 'a\r\nb\r\nconst string Password = "Pass@word1";\r\nvar x = "ghp_' + alnum(36) + '";\r\n'
    assert redact(text, "a.cs").findings == (SecretFinding("assignment", 3), SecretFinding("github-pat", 4))


def test_overlapping_findings_mask_once_and_keep_the_length() -> None:
    text = f'"Password": "https://jane:{alnum(12)}@host/ghp_{alnum(36)}", "ApiKey": "ghp_{alnum(36)}"'
    redaction = redact(text, "appsettings.json")
    assert len(redaction.text) == len(text)
    assert alnum(12) not in redaction.text


def test_offsets_hold_where_lower_case_is_longer() -> None:
    """`İ` has two characters in lower case; positions must be those of the text itself."""
    text = "İİİİ" * 50 + ' const string Password = "Pass@word1"; ' + "İ" * 50
    masked = redact(text, "a.cs").text
    assert masked == text.replace("Pass@word1", "*" * 10)


@pytest.mark.parametrize("seed", range(3))
def test_length_and_line_ends_hold_for_any_text(seed: int) -> None:
    drawn = random.Random(seed)
    pieces = [case[2].replace("«", "").replace("»", "") for case in MASKED] + [
        "\r\n",
        "\n",
        "\r",
        " ",
        "日本",
        "😀",
        "\0",
        '"',
    ]
    text = "".join(drawn.choices(pieces, k=200))
    masked = redact(text, "appsettings.json").text
    assert len(masked) == len(text)
    assert all(a == b or b == "*" for a, b in zip(text, masked, strict=True))
    assert [i for i, c in enumerate(text) if c in "\r\n"] == [i for i, c in enumerate(masked) if c in "\r\n"]
    assert redact(masked, "appsettings.json").text == masked, "redacting twice changes nothing"


HOSTILE = {
    "password=": "password=",
    "quotes": 'Password = "',
    "single-quotes": "password='",
    "spaces": "password" + " " * 64_000,
    "identifier": "password_",
    "jwt": "eyJ",
    "nested": '{"a":',
    "jwt-parts": "eyJhbGciOi.",
    "urls": "://a:b",
    "pem": "-----BEGIN PRIVATE KEY-----",
    "npm": "//" * 16_000 + ":_authToken=" * 3_000,
    "base64": "AKIA",
    "keys": "apikey:",
    "tokens": "token" + " " * 50,
    "semicolons": "Password=x;",
    "slack": "xoxb-1-",
    "arguments": "--password ",
    "section": '"jwt":{"key":"',
    "curl": "curl -u ",
    "gitlab": "gl" + "pat-",
}


@pytest.mark.parametrize("unit", HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.parametrize("path", ["appsettings.json", "a.md"])
def test_hostile_text_is_redacted_in_linear_time(unit: str, path: str) -> None:
    """A quarter of a megabyte on one line takes under a second; quadratic work would take many minutes."""
    text = (unit * (250_000 // len(unit) + 1))[:250_000]
    with ends_within(60):
        assert len(redact(text, path).text) == len(text)


def test_a_token_with_a_deeply_nested_header_is_no_error() -> None:
    header = base64.urlsafe_b64encode(b'{"alg":' + b"[" * 2_000).decode().rstrip("=")
    assert header not in redact(f'var t = "{header}.{alnum(40)}.{alnum(43)}";', "a.cs").text


@pytest.mark.parametrize("seed", range(5))
def test_no_text_is_an_error(seed: int) -> None:
    drawn = random.Random(seed)
    pieces = [piece for case in MASKED for piece in re.split(r"(\W)", case[2])]
    pieces += list("\0\ud800\u0130😀\\{}[]<>\"'`=:;.\r\n")
    for path in ("a.cs", "a.md", "a.json", ".env", "a.resx", "a.sql"):
        text = "".join(drawn.choices(pieces, k=3_000))
        assert len(redact(text, path).text) == len(text)


@pytest.mark.parametrize("kind", KINDS, ids=[kind.name for kind in KINDS])
def test_every_kind_is_masked_in_every_form_of_text(kind: Kind) -> None:
    drawn = random.Random(kind.name)
    for path, form in FORMS.items():
        if kind.key and path in NO_NAMES:
            continue
        secret = kind.make(drawn)
        told = kind.text.format(secret)
        said = f"{kind.key}={told}" if kind.key else told
        text = form.format(name=kind.key or "Value7", value=told, said=said)
        masked = redact(text, path).text
        assert len(masked) == len(text)
        assert not Planted(kind.name, path, secret).is_in(masked.lower().encode()), (path, text, masked)


FORMS = {
    "a.cs": 'public static class A {{\n    public const string {name} = "{value}";\n}}\n',
    "b.cs": "/// <summary>Use {said} here.</summary>\n// {said}\n",
    "appsettings.json": '{{\n  "Section": {{ "{name}": "{value}" }}\n}}\n',
    "a.yml": "root:\n  {name}: {value}\n",
    ".env": "{name}={value}\n",
    "a.md": "Intro\n\nUse {said} to log in, then go on.\n\n```\n{said}\n```\n",
    "a.docx": "The value ({said}) is used.\n",
    "a.resx": '<root><data name="{name}" xml:space="preserve"><value>{value}</value></data></root>',
    "a.sql": "-- {said}\nINSERT INTO t VALUES ('{value}');\n",
    "a.xml": '<a {name}="{value}"/><b>{value}</b>\n',
    "a.py": "{name} = '{value}'\n",
    "a.ts": "const {name} = `{value}`;\n",
    "": "Change {said} of the shop",
}
NO_NAMES = frozenset({"b.cs", "a.resx", "a.sql", "a.xml"})
"""Where a name is a word of a text, or gives nothing its value."""
