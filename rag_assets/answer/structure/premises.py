"""What a question takes for granted, and the passages that are to answer it do not say: an amount ("why is it 30
days?"), an environment that has no files ("in staging"). They then show how it is, and are no answer. And what it is
for, where none of them mentions it: they are then about something else, however much of the question they say. Most
words prove nothing by being left unsaid, since code says them otherwise; two sorts do. Of a short question the things
that stand in it, and what is done to them; of any what has few names, whatever a project is about.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from posixpath import commonpath

from rag_assets.answer.abstention import things
from rag_assets.answer.passage_ranking import BOUNDS, MOST_PROVING, RankedPassages
from rag_assets.answer.question_analysis import is_relation_or_manner, root, root_set, roots_of
from rag_assets.identifiers import word_set

_WHY = re.compile(r"\W*(?:why|how come|for what reason|what(?:'s| is) the reason)\b", re.IGNORECASE)
_COUNTS = (
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen"
    " nineteen twenty"
)
_WORDS = {word: at for at, word in enumerate(_COUNTS.split(), 2)} | {"thirty": 30, "sixty": 60, "ninety": 90}
_STATED = re.compile(
    rf"(?<![\w.,:/#@+$-])\$?(?:(?P<number>\d[\d,_]*(?:\.\d+)?)(?P<unit>[A-Za-z%]*)|(?P<word>{'|'.join(_WORDS)}))"
    r"(?![\w-]*\d)(?=\W)(?:[\s-]+(?P<noun>[A-Za-z]+))?",
    re.IGNORECASE,
)
_SUPPOSED = re.compile(r"\b(?:although|because|but|even|if|once|though|when|while)\b", re.IGNORECASE)
"""Behind these a question tells of a case, which no text need say."""
_OF_NO_AMOUNT = re.compile(r"st|nd|rd|th|d|fa|xx|bit|x", re.IGNORECASE)
"""What makes a name of a number: `2nd`, `2FA`, `4xx`."""
_NUMBERED = re.compile(
    r"\b(?:adr|appendix|article|chapter|figure|issue|lines?|page|part|phase|pr|release|request|rfc|rule|section|stage|step|ticket"
    r"|type|version)s? #?$",
    re.IGNORECASE,
)
"""What a number stands behind as its name."""
_OF_STATUS = re.compile(r"\b(?:codes?|errors?|https?|redirect\w*|respon\w+|returns?|status\w*)\b", re.IGNORECASE)
_SECONDS = {
    "millisecond": 0.001,
    "second": 1,
    "minute": 60,
    "hour": 3600,
    "day": 86400,
    "week": 604800,
    "month": 2592000,
    "year": 31536000,
}
_SHORT = {"ms": "millisecond", "s": "second", "sec": "second", "min": "minute", "h": "hour", "d": "day"}
_ONCE = r"an?|one|each|every|per|hourly|daily|nightly|weekly|monthly|yearly|annual\w*"
_TIMES = frozenset(map(root, _SECONDS))
_BEHIND = re.compile(r"[A-Za-z]+")
_FEWEST_ABOUT, _MOST_COUNTED = 2, 12
_NEAR = 24  # characters behind a number, in which its unit is

_ENVIRONMENTS: Mapping[str, str] = {
    "production": "production|prod|prd|live",
    "staging": "staging|stage|stg",
    "development": "development|develop|dev",
    "test": "testing|test|tst",
    "QA": "qa",
    "UAT": "uat",
    "pre-production": "pre-?prod(?:uction)?",
    "acceptance": "acceptance|acc",
    "sandbox": "sandbox",
    "demo": "demo",
    "review": "review",
    "local": "local",
}
_OF_BASE = frozenset({"production", "development", "local"})
"""What holds where no file is of it: the base is made for one of these."""
_ANY = "|".join(f"(?P<e{at}>{names})" for at, names in enumerate(_ENVIRONMENTS.values()))
_STAGE = r" (?:cluster|env|environment|slot|stage|tier)\b"
_IN_ENVIRONMENT = re.compile(
    rf"\b(?:for|in|of|on|to|with) (?:a |our |the )?(?:{_ANY})"
    rf"(?:(?<=staging)|(?<=qa)|(?<=uat)|(?<=prod)|(?<=e-production)|(?<=eproduction)|(?<=acceptance)|(?={_STAGE}))"
    rf"(?=\W*$|,|{_STAGE})",
    re.IGNORECASE,
)
"""A word of more meanings (`review`) only where it says what it is."""
_TOKEN = re.compile(rf"(?<![A-Za-z])(?:{_ANY})(?![A-Za-z])", re.IGNORECASE)
_CONFIGURES = re.compile(
    r"(?:\.(?:bicepparam|config|env|ini|json|properties|sh|tf|tfvars|toml|xml|ya?ml)|(?:^|/)\.?env\.[\w.-]+)$",
    re.IGNORECASE,
)

_MOST_OF_THINGS, _MOST_OF_VERBS = 5, 4
"""Telling words of a question: of a longer one some are always unsaid."""
_UNSAID, _LEAST_SHARE = 0.3, 0.15
_LEAST_THING = -0.25
"""Of a word along `abstention.THINGS`: `quota` has .21, `resized` -.05, `decided` -.31, `told` -.49."""
_CASE = re.compile(r"(?<!\A)\b(?:if|when|once|while|although|unless|because|so that)\b.*", re.IGNORECASE | re.DOTALL)
"""What is told of a case, which no text need say."""
_COUNTED = re.compile(rf"\bhow many \w+|\b(?:one|two|three) (?:{'|'.join(_SECONDS)})s?\b", re.IGNORECASE)
"""What an amount is of, which a text may say in another unit."""
_WORD = re.compile(r"[A-Za-z][A-Za-z'-]*|\d+")
_BEFORE = word_set(
    "a an the my our your his her its their each every any which what this that these those some no another of in for",
    "from by with on at into over under without between per as how many much more most several both one two three is",
    "are was were",
)
"""Behind these stands a thing, or what tells one from others of its sort."""
_OTHERWISE = re.compile(r"(?:ed|ing|ly|est)$")
_DONE = re.compile(
    r"\b(?:is|are|was|were|be|been|gets?|being) (?:[\w'-]+ ){0,6}?(?P<verb>[a-z]+(?:ed|en|rown|old))\b", re.IGNORECASE
)
_SAID_OTHERWISE = root_set(
    "accept ask call close consider count cut define display distinguish draw enforce execute fill find get go grow",
    "hand hit identify ignore implement invoke join left match mean measure meet name notice open recognise record",
    "reject remember repair resolve serve shown shut skip split spread tell together treat use violate wire worn",
    "answer app application caller client code example file line name number people point program project result",
    "side state step system text user work",
)
"""Verbs and things of any program, beside those that say what is asked about one: code says them by what it does."""

_CALLED = """
refund, reimburs, money back, paid back, chargeback: repay, revers, charge back, credit note, credit memo
coupon, voucher, promo code, discount code: discount, promotion
gift card:
loyalty, reward point, bonus point: reward, points
wish list: favo
invoice, receipt: bill
sales tax, vat: tax
exchange rate: exchang, convert, conversion, forex
barcode, qr code: bar code
newsletter, mailing list: digest, subscri
change log, release notes: changelog, release note, histor
sms, text message: phone, twilio
push notification, push message: push, apns, vapid, notif
unsubscribe: opt out
fingerprint, passkey, security key, authenticator app, webauthn: fido, authenticator, totp, two factor
forgot password, forgotten password, forgot his password, forgot my password, forgot their password, password reset,
 reset a password, reset the password, reset his password, reset my password, reset mail: forg, reset, recover,
 change password
locked out, lock out, lockout, locked after, account locked, account is locked, accounts locked: lock out,
 failed attempt, failed login, access failed, too many, banned, blocked
captcha:
single sign, saml, ldap, active directory: sso, openid, oidc, oauth, azure ad, entra
magic link: login link, passwordless
impersonat: act as, on behalf
block list, black list, deny list: block, black, deny, denied, revok, banned, invalidat
block a user, block user, block another, mute a user, mute user, ban a user: block, mute, ignor, bann
allow list, white list: allow, white, trusted, permitted
quota: limit, maximum, allowance
rate limit, throttl: limit, quota, permit, bucket
dead letter, poison message, poison queue: poison, dlq, error queue
circuit breaker: breaker
back off: exponential, retry delay
sent again, tried again, retried, retries: retr(?!iev), attempt, back off, resend, redeliver, requeue, repeat, resilien,
 reschedul
encrypt: crypt, cipher, protect
anonymi, pseudonymi, redact: mask
compress, gzip: zip, brotli, deflate
shrink, resiz: compress, thumbnail, scal, dimension, quality
watermark:
virus, malware, scanned for: scan, clamav
checksum: hash, sha256, md5, crc, digest
backup, backed up, back up: dump, snapshot, export, archive
spreadsheet, as csv, as excel, csv file, excel file: csv, xls, excel, export
as a pdf, as pdf, pdf file: pdf
undelete, trash, recycle bin: revert, restor, soft delete, is deleted, deleted at, roll back
earlier version, previous version, old version, older version, version history: revision, histor, revert, restor,
 snapshot
audit trail, audit log, see who, find out who: audit, histor, created by, modified by, changed by, updated by,
 deleted by, activit
health check, liveness: health, alive, readiness, ping, heartbeat, probe
prometheus, grafana: metric, meter
hit ratio, hit rate: hits, hit count
feature flag, feature toggle: feature, toggle
blue green, canary: traffic, weight, slot, rollout
auto scal: scal, replica
maintenance mode: maintenance
leader election: leader, elect
failover, fail over: replica, standby
data center: region, zone
idempoten: duplicate, already
tenant: organi
poll, survey:
star rating, reviews: rating, review, stars, score, feedback
leave a comment, write a comment, post a comment: comment, reply
certain tag, a tag, each tag, by tag: tag, label, keyword
colour, color: theme, css, style
dark mode: dark, theme
translat: locali, i18n, resource, culture, language
transcript, transcod: transcri, transcod, caption, subtitle, ffmpeg, codec
subtitle: caption
leaderboard, achievement: badge, ranking, score
profile picture, avatar: avatar, picture, photo, image
keyboard shortcut, hotkey: shortcut, hotkey, key bind
on a map, gps: latitude, location
ical, calendar:
snooze, on hold, pause switch, pause button: snooz, paus, on hold, suspend, resum, disabl, postpon
call off, called off: cancel, revok, withdraw, abort, recall, unschedul, discard
moderat, profan, bad word, swear: filter, forbidden, black list, blocked, censor
spam: akismet, abuse
into a group, department: group, team
signature, digitally sign, signed by: signed, signer, signing, hmac, certificate
swagger, openapi, api docs: scalar, redoc, api doc
graphql:
page by page, paginat: paging, paginat, page size, page number, skip, offset, cursor, limit, take
wildcard, regular expression, regex: pattern, glob, match
background job: background, hosted, worker, queue, hangfire, quartz, cron, schedul
retention: retain, expir, purge, clean, older
session timeout, idle timeout: timeout, idle, expir, sliding
birthday: birth
reminder: remind, notif
user role, which role, what role: role, permi, authori, claim, polic, admin, scope, access
waiting list, wait list: wait
credit card: card, stripe, paypal, payment
approval, approve: approv, moderat, review, pending, accept, confirm, reject
recommended to, recommendations: recommend, suggest, similar, related
slack, telegram, whatsapp:
web hook, webhook: callback, hook
s3: amazon, aws, minio
"""
"""How questions ask for what has few names, and behind each how else it is called where it is."""
_MAILED = re.compile(
    r"\b(?:gets?|got|receives?|sen[dt]s?|sending|told|notif\w+)\b[^.?!]{0,60}\b(?:e-?)?mails?\b(?! address)"
    r"|\b(?:which|what|confirmation|welcome|reminder|reset|verification|activation) (?:e-?)?mails?\b"
    r"|\bby (?:e-?)?mail\b",
    re.IGNORECASE,
)
_SENDS = re.compile(
    r"smtp|mailer|send\w*mail|mail\w*send|mail\w*(?:service|client|message|template|notif|job|queue|outbox)"
    r"|(?:send|sent|deliver|notif)[^\n]{0,80}mail|mail[^\n]{0,80}(?:sen[dt]|deliver|notif)",
    re.IGNORECASE,
)
_RATED = re.compile(
    r"\bhow (?:many|often|much)\b[^?]{0,80}\b(?:per|an?|each|every) (?:second|minute|hour|day|week|month)\b",
    re.IGNORECASE,
)
_BOUNDS_RATE = re.compile(
    r"limit|throttl|quota|permit|rate|window|(?:per|each|every)[\s_-]?(?:second|minute|hour|day|week|month)",
    re.IGNORECASE,
)
_BOUNDED = re.compile(
    r"\bhow (?:many|often|big|large|much)\b[^?]{0,70}\b(?:may|can|could|allow(?:ed)?|at most|maximum|permitted)\b"
    r"|\bat most\b",
    re.IGNORECASE,
)
_BOUND = re.compile(
    rf"{BOUNDS.pattern}|\wTake\(|bound|\b[2-9]\d*\b|\b1\d+\b|\b(?:two|three|four|five|six|seven|eight|ten)\b|only|once|single",
    re.IGNORECASE,
)
_ASKS_JOB = re.compile(r"\b(?:which|what) (?:[\w-]+ ){0,2}(?:jobs?|workers?|scheduled tasks?)\b", re.IGNORECASE)
_JOB = re.compile(r"(?i:job|worker|schedul|cron|hosted|background|timer|recurring|periodic|queue)|\btasks?\b")
_OF_ITSELF = (
    ("a mail that is sent", _MAILED, _SENDS, MOST_PROVING),
    ("how many may be in a time", _RATED, _BOUNDS_RATE, 1),
    ("a limit or a number", _BOUNDED, _BOUND, 1),
    ("a job", _ASKS_JOB, _JOB, 1),
)
"""What is asked for, how questions do that, what says it, and how many of the first passages may do so."""
_FILE = re.compile(
    r"(?<![\w./\\])[\w-]+(?:\.[\w-]+)?\.(?:config|csproj|csv|ini|json|md|props|py|sh|sln|sql|targets|toml|txt|xml|ya?ml)\b",
    re.IGNORECASE,
)
_CANCELS_NOTHING = re.compile(r"cancellation_?token", re.IGNORECASE)


def takes_for_granted(question: str) -> bool:
    """Whether a question may state something that has to be so."""
    return _WHY.match(question) is not None or _IN_ENVIRONMENT.search(question) is not None


def premise_unsaid(question: str, found: RankedPassages, told: Sequence[str], paths: Iterable[str]) -> str:
    """What a question states and neither the passages to quote nor the lines that are `told` say; '' where they say
    it, or nothing is stated. `paths` are those of all files."""
    if _WHY.match(question):
        return _amount_unsaid(question, found, told)
    asked = _IN_ENVIRONMENT.search(question)
    return _environment_unsaid(_named(asked), found, told, paths) if asked is not None else ""


def _amount_unsaid(question: str, found: RankedPassages, told: Sequence[str]) -> str:
    quoted = [found.passages[at] for at in found.chosen()]
    texts = [*told, *(f"{one.evidence.path}\n{one.text}" for one in quoted)]
    of_prose = [False] * len(told) + [one.is_prose for one in quoted]
    stating = _SUPPOSED.split(question.partition("?")[0])[0]
    for stated in _STATED.finditer(f"{stating} ") if texts else ():
        number, unit, noun = stated["number"], stated["unit"] or "", stated["noun"] or ""
        if (unit and _OF_NO_AMOUNT.fullmatch(unit)) or _NUMBERED.search(stating[: stated.start()]):
            continue
        amount = float(re.sub("[,_]", "", number)) if number else float(_WORDS[stated["word"].lower()])
        if number and not unit and 100 <= amount < 600 and _OF_STATUS.search(question):
            continue
        kind = _SHORT.get(unit.lower()) or next((one for one in _SECONDS if root(noun) == root(one)), "")
        is_count = amount <= _MOST_COUNTED and noun.endswith("s") and not kind and noun.lower() != "times"
        about = frozenset(word.root for word in found.words) - roots_of(stated.group())
        forms = _forms_of_time(amount, kind) if kind else [(_pattern(amount, unit), {root(noun)})]
        is_said = any(
            _says(text, forms, about, alone=not (kind and is_prose))
            for text, is_prose in zip(texts, of_prose, strict=True)
        )
        if is_count or not (number or kind or noun.lower() in ("percent", "times")):  # of few things each is named
            is_said = is_said or not noun or not _says_otherwise(noun, _pattern(amount), texts)
        if not is_said:
            words = (number or stated["word"]) + unit, noun if kind or noun.endswith("s") else ""
            return f"nothing that was found says {' '.join(filter(None, words))}"
    return ""


def _forms_of_time(amount: float, kind: str) -> list[tuple[re.Pattern[str], set[str]]]:
    """How a text may write a time, and the units that then stand behind the number."""
    seconds = amount * _SECONDS[kind]
    minutes, rest = divmod(round(seconds), 60)
    clock = re.compile(rf"\b{minutes // 60 % 24:02d}:{minutes % 60:02d}:{rest:02d}\b")
    each = [
        (seconds / one, {root(name), *(short for short, of in _SHORT.items() if of == name)})
        for name, one in _SECONDS.items()
    ]
    return [(clock, set[str]()), *((_pattern(number), units) for number, units in each if number >= 1)]


def _says(text: str, forms: Sequence[tuple[re.Pattern[str], set[str]]], about: frozenset[str], *, alone: bool) -> bool:
    """Whether a text, below its path, says an amount with its unit near words that the question has beside it; or in
    digits `alone`, on the line of some, as code does. The path may say them too, but one."""
    path, *lines = text.casefold().split("\n")
    named = {one for one in about if one in path}
    for at, line in enumerate(lines):
        for said, units in ((said, units) for form, units in forms for said in form.finditer(line)):
            behind = _BEHIND.findall(f"{line[said.end() :]} {' '.join(lines[at + 1 : at + 2])}"[:_NEAR])
            kinds = set(map(root, behind))
            if not (kinds & units or ((alone or not units) and said.group()[0].isdigit() and not kinds & _TIMES)):
                continue
            near = " ".join(lines[max(0, at - 1) : at + 2] if kinds & units else [line])
            told = {one for one in about if one in near}
            if told and len(told | named) >= min(len(about), _FEWEST_ABOUT):
                return True
    return False


def _pattern(amount: float, unit: str = "") -> re.Pattern[str]:
    """How a text may write an amount."""
    digits = re.escape(f"{amount:g}") if amount % 1 else f"{int(amount):,}".replace(",", "[,_.]?")
    made = [
        rf"(?<![\w.-])0*{digits}(?:\.0+)?(?!\d|[./]\d|[A-Za-z]{{4}}|-[\dA-F]{{4}})"
        + (rf"\s*{re.escape(unit)}" if unit else "")
    ]
    made += [rf"\b{word}\b" for word, value in _WORDS.items() if value == amount and not unit]
    made += [rf"\b(?:{_ONCE})\b"] if amount == 1 and not unit else []
    return re.compile("|".join(made), re.IGNORECASE)


def _says_otherwise(noun: str, said: re.Pattern[str], texts: Iterable[str]) -> bool:
    """Whether texts say how many there are, and never so many: few things that are two are called so."""
    stem = re.escape(noun[:-1] if noun.endswith("s") else noun)
    counted = re.compile(
        rf"(?<![\w.])(?P<before>\d+|{'|'.join(_WORDS)})\s+{stem}s?\b|\b\w*{stem}s?[\"']?\s*[:=]?\s*[\"']?(?P<behind>\d+)(?![\w.])",
        re.I,
    )
    amounts = [one["before"] or one["behind"] for text in texts for one in counted.finditer(text)]
    return bool(amounts) and not any(map(said.fullmatch, amounts))


def _named(found: re.Match[str]) -> str:
    """The environment that a word means."""
    return next(name for at, name in enumerate(_ENVIRONMENTS) if found[f"e{at}"])


def _environment_unsaid(name: str, found: RankedPassages, told: Sequence[str], paths: Iterable[str]) -> str:
    """That files of configuration are of other environments, where what is quoted neither names this one nor lies next
    to files of it."""
    proving = [found.passages[at] for at in found.chosen(MOST_PROVING)]
    texts = [*(f"{one.evidence.path}\n{one.text}" for one in proving), *told]
    if not proving or any(_named(one) == name for text in texts for one in _TOKEN.finditer(text)):
        return ""
    families: dict[tuple[str, str], set[str]] = {}
    for path, family, environment in _of_environments(paths):
        families.setdefault((path, family), set()).add(environment)
    several = {key: known for key, known in families.items() if len(known) > 1}
    folder = proving[0].evidence.path.rpartition("/")[0]
    near = max((_shared(folder, key[0]) for key in several), default=0)
    others = set[str]().union(*(known for key, known in several.items() if _shared(folder, key[0]) == near))
    if not others or name in others or name in _OF_BASE:
        return ""
    *first, last = sorted(others)
    listed = f"{', '.join(first)} and {last}" if first else last
    return f"no file of configuration is of {name}, those there are of {listed}"


def _of_environments(paths: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """(folder, the rest of the name, environment) of each file of configuration that is called after one, or whose
    folder is."""
    for path in paths:
        if not _CONFIGURES.search(path):
            continue
        folder, _, name = path.rpartition("/")
        above, _, last = folder.rpartition("/")
        if (of := _TOKEN.search(name)) is not None and not name.endswith(".tf"):
            yield folder, f"{name[: of.start()]}*{name[of.end() :]}", _named(of)
        elif (of := _TOKEN.fullmatch(last)) is not None:
            yield above, f"*/{name}", _named(of)


def _shared(one: str, other: str) -> int:
    """How many folders two have in common, from the root."""
    both = commonpath([one, other]) if one and other else ""
    return len(both.split("/")) if both else 0


def unmentioned(question: str, found: RankedPassages) -> str:
    """What a question is for and no passage to quote mentions, as it is typed or as a phrase; '' where there is nothing
    of that."""
    return _feature_unsaid(question, found) or _file_unsaid(question, found) or _thing_unsaid(question, found)


def _file_unsaid(question: str, found: RankedPassages) -> str:
    """A file that a question names and none of the first passages."""
    named = _FILE.findall(question)
    proving = [found.passages[at] for at in found.chosen(MOST_PROVING)] if named else []
    text = "\n".join(f"{one.evidence.path}\n{one.text}" for one in proving).casefold()
    return next((name for name in named if text and name.casefold() not in text), "")


def _thing_unsaid(question: str, found: RankedPassages) -> str:
    """A thing of a short question, or what is done to one, that none of all the passages to quote says."""
    quoted = found.chosen() if len(found.words) <= _MOST_OF_THINGS and found.model is not None else []
    if not quoted:
        return ""
    typed = _things(question)
    if len(found.words) <= _MOST_OF_VERBS:
        typed |= {root(one["verb"]): one["verb"] for one in _DONE.finditer(question) if not _is_general(one["verb"])}
    least = _LEAST_SHARE * sum(word.weight for word in found.words)
    said = found.credit[quoted].max(axis=0)
    for word, well in zip(found.words, said, strict=True):
        if word.root in typed and word.weight >= least and well < _UNSAID and _is_thing(word.word, found):
            return typed[word.root]
    return ""


def _things(question: str) -> dict[str, str]:
    """The roots of words that stand as things in a question, each with how it is typed."""
    words = [word.lower() for word in _WORD.findall(_COUNTED.sub("how many", _CASE.sub("", question)))]
    return {
        root(word): word
        for before, word in pairwise(words)
        if before in _BEFORE and not (word in _BEFORE or _OTHERWISE.search(word) or _is_general(word))
    }


def _is_general(word: str) -> bool:
    return is_relation_or_manner(word) or root(word.lower()) in _SAID_OTHERWISE


def _is_thing(word: str, found: RankedPassages) -> bool:
    if found.model is None or not found.model.knows(word):
        return True
    return float(found.model.embed([word])[0] @ things()) >= _LEAST_THING


def _feature_unsaid(question: str, found: RankedPassages) -> str:
    """What has few names, none of which the first passages have."""
    plain = question.replace("-", " ").casefold()
    asked = [(form, said) for forms, said in _called() for form in forms if form in plain]
    of_itself = [(what, says, most) for what, asks, says, most in _OF_ITSELF if asks.search(question)]
    if not (asked or of_itself):
        return ""
    proving = [found.passages[at] for at in found.chosen(MOST_PROVING)]
    texts = [f"{one.evidence.path}\n{one.name}\n{one.heading}\n{one.text}" for one in proving]
    for what, says, most in of_itself if texts else ():
        if not any(map(says.search, texts[:most])):
            return what
    text = _CANCELS_NOTHING.sub("", "\n".join(texts))
    for form, names in asked if text else ():
        written = re.search(rf"\b{form}\w*", plain)
        if written is not None and not re.search("|".join(names).replace(" ", r"[\s_-]?"), text, re.IGNORECASE):
            return written.group()
    return ""


@cache
def _called() -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
    """(how questions ask for something, all that texts call it) of each line of `_CALLED`."""
    rows = [line.partition(":") for line in _CALLED.strip().replace(",\n", ",").splitlines()]
    both = [[tuple(filter(None, map(str.strip, part.split(",")))) for part in (asked, said)] for asked, _, said in rows]
    return tuple((asked, (*asked, *said)) for asked, said in both)
