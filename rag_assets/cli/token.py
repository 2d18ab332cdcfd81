"""`rag-assets token`: who may ask a server from another machine."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated

import typer

from rag_assets.cli.options import AsJson, CliSession, owners_of, session_of
from rag_assets.serving.tokens import TokenRecord, TokenStore

token_app = typer.Typer(no_args_is_help=True, help="Make, list and revoke the tokens of `rag-assets serve`.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="Whose it is, such as ci or anna@editor.")]


@token_app.command()
def create(
    context: typer.Context,
    name: Name,
    org: Annotated[str | None, typer.Option(help="Sees this organisation only. Default: all of them.")] = None,
    days: Annotated[int | None, typer.Option(min=1, help="Ends after so many days. Default: never.")] = None,
    as_json: AsJson = False,
) -> None:
    """Make a token and show it once. It sees what the role of --role sees.

    Example: rag-assets token create anna --org shop --days 90
    """
    session = session_of(context)
    token = _store(session).create(name, role=session.role, org_id=org, days=days)
    if as_json:
        session.output.json({"name": name, "token": token, "role": session.role, "org_id": org, "days": days})
        return
    session.output.line(token)
    session.output.note("it is shown only now; send it as: Authorization: Bearer TOKEN")
    owners = owners_of(session.home())
    if org is not None and org not in owners:
        found = f"there are: {', '.join(owners)}" if owners else "nothing is indexed"
        session.output.warning(f"no label of organisation {org!r} is indexed, so it sees none yet; {found}")


@token_app.command("list")
def listed(context: typer.Context, as_json: AsJson = False) -> None:
    """List the tokens, without what they are.

    Example: rag-assets token list
    """
    session = session_of(context)
    known = _store(session).all()
    if as_json:
        session.output.json({"tokens": [_object(one) for one in known]})
    elif not known:
        session.output.line("there are no tokens; make one with: rag-assets token create NAME")
    now, roles = datetime.now(UTC), session.settings().roles
    for one in () if as_json else known:
        gone = " (gone from the configuration: refused)" if one.role and one.role not in roles else ""
        who = f"role {one.role or 'of everybody'}{gone}, organisation {one.org_id or 'any'}"
        ends = f", {'expired' if one.is_expired(now) else 'ends'} {one.expires_at}" if one.expires_at else ""
        session.output.line((one.name, "bold"), f"  {who}", (f"  since {one.created_at}{ends}", "dim"))


@token_app.command()
def revoke(context: typer.Context, name: Name) -> None:
    """End a token. It is refused from the next request on.

    Example: rag-assets token revoke anna
    """
    session = session_of(context)
    _store(session).revoke(name)
    session.output.line(f"revoked {name}")


def _store(session: CliSession) -> TokenStore:
    return TokenStore(session.home(), session.settings().roles)


def _object(record: TokenRecord) -> dict[str, str | None]:
    return {key: value for key, value in asdict(record).items() if key != "sha256"}
