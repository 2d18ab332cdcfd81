"""What people say around a question: `can you tell me how the total is calculated in this project?` asks `how is the
total calculated?`. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from rag_assets.identifiers import singular

_ASKED = r"(?:how|if|what|when|where|whether|which|who|whom|whose|why)\b"
_KNOW = r"(?:check|explain|figure out|find(?: out)?|know|learn|look up|see|show|tell|understand)(?: to)?(?: me| us)?"
_AROUND = re.compile(
    r"\s*(?:"
    r"(?:so|ok|okay|well|hmm+|right|sorry|q|(?:quick |short |small )?question|btw|by the way)\s*[,:;-]+"
    rf"|(?:please |kindly )?(?:(?:can|could|would|will) (?:you|someone|somebody|anyone|anybody) )?"
    rf"(?:please |kindly |maybe |perhaps |quickly |briefly |just )*"
    rf"(?:help me(?: to)? {_KNOW}|let me know|walk (?:me|us) through|remind me|describe(?: to)?(?: me| us)?|{_KNOW})"
    rf"(?: (?:briefly|exactly|in detail|please))?(?=\s+{_ASKED})"
    r"|(?:i|we)(?:['’]d| would)? (?:just )?(?:need|want|like|love|have|am trying|are trying)(?: to)"
    rf" (?:ask(?: you)?|{_KNOW})(?=\s+{_ASKED})"
    rf"|i(?:['’]m| am) trying to {_KNOW}(?=\s+{_ASKED})"
    r"|i(?:['’]m| am) (?:just )?(?:curious|interested|interested in|not sure|unsure|wondering)(?: about)?"
    rf"(?=\s+{_ASKED})"
    rf"|i (?:was |just )*(?:wonder(?:ed|ing)?|do(?:n['’]t| not) (?:get|know|see|understand))(?=\s+{_ASKED})"
    rf"|(?:do|does) (?:you|someone|somebody|anyone|anybody) (?:happen to )?know(?=\s+{_ASKED})"
    rf"|(?:(?:any|have you (?:got )?any|no) (?:clue|idea)|is it (?:known|clear)|is there a way to (?:know|see|tell))"
    rf"(?=\s+{_ASKED})"
    r"|(?:(?:please|kindly|(?:can|could|would|will) (?:you|someone|somebody|anyone|anybody)|i (?:need|want) you to"
    r"|(?:i['’]d|i would) like you to)\s+)+(?=(?:compare|count|describe|draw|enumerate|explain|find|give|list|name"
    r"|print|show|summari[sz]e|tell|trace)\b)"
    r"|(?:i(?:['’]m| am) (?:looking|searching) for|(?:can|could) you point me to|point me to|i need(?: to find)?)"
    rf" (?:the )?(?:class|code|file|function|line|method|module|part|place|section|spot)s? (?=where\b)"
    r")\s*",
    re.IGNORECASE,
)
_MOST_AROUND = 4
_BEHIND = re.compile(
    r"(?<!\bare)(?<!\bis)(?<!\blies)(?<!\bexist)[,\s]+(?:actually|at the moment|by the way|currently|exactly|for me"
    r"|if possible|in (?:here|the|this|our|your) (?:code ?base|code|project|repo|repository|solution)|please|right now"
    r"|these days|though)(?P<end>\s*[.!?]*\s*)$",
    re.IGNORECASE,
)
_BETWEEN = re.compile(
    r"(?<!\S)(?:actually|basically|really)\s+"
    r"|(?:(?<=\bhow )|(?<=\bwhy )|(?<=\bwhen )|(?<=\bwhat )|(?<=\bwhere ))exactly\s+",
    re.IGNORECASE,
)
_CODE = (
    r"(?:business |actual |source )?(?:class(?:es)?|code|component|file|function|implementation|line|logic|method"
    r"|module|part|piece of code|place|section|service|spot|type)s?(?: (?:of|in) (?:the |this |our )?"
    r"(?:code ?base|code|project|app\w*|system))?"
)
_HANDLES = r"(?:(?:is|are) (?:responsible for|in charge of)|takes? care of|deals? with|cares? about)"
_FIND = (
    r"(?:where (?:can|could|do|does|would) (?:i|we|one|you) find|find|locate|show(?: me)?|point me to"
    r"|(?:is|are) there(?: any)?|where (?:is|are))(?: the| an?| some)*"
)
_DONE_TO = r"(?:(?P<doing>[a-z]+ing) )?(?P<what>(?!the$|it\b)(?:(?!\b(?:if|that|when|where|which)\b).)+?)"
_FOUND = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"(?:which|what|who)(?: {_CODE})? {_HANDLES} {_DONE_TO}",
        rf"{_FIND} {_CODE} (?:that|which) (?:{_HANDLES} {_DONE_TO}|(?P<does>[a-z]+s) (?P<it>the .+?|an? .+?|[\w-]+))",
        rf"{_FIND} (?:code|logic|part|piece of code|place|section|spot)s? (?:for|behind) {_DONE_TO}",
        r"(?:which|what) (?:class|code|file|folder|module|project|type)s? (?:contains?|has|have|holds?|implements?)"
        rf" (?:the )?(?:code (?:for|of) {_DONE_TO}|(?P<said>.+?) (?:implementation|logic))",
        r"(?:where (?:is|are|lives?)|find|locate) (?:the )?(?P<what>(?!the$).+?) (?:implementation|logic)",
    )
)
"""Ways to ask where the code for something is."""
_SYSTEM = (
    r"(?:the|this|our) (?:app|application|back ?end|code(?: ?base)?|framework|library|product|program|project|repo"
    r"|repository|server|site|software|solution|system|tool)"
)
_THING = (
    r"(?!(?:about|after|around|as|at|between|by|down|for|from|i|if|in|into|it|like|off|on|out|over|that|through|to|up|we|with"
    r"|without|you|\w+ly)\b)(?:(?!(?:and|because|behave|do|happen|has|have|how|if|look|or|that|what|when|where|whether|which|who"
    r"|why)\b)[^\s,;?]+ ){0,7}?(?!(?:behave|do|happen|have|in|it|like|look|of|on|to|up|with|work)\b)[^\s,;?]+"
)
_DONE = r"(?-i:[a-z]+ed|built|caught|chosen|done|found|held|kept|made|read|sent|set|shown|taken|thrown|written)"
_JOINS = re.compile(r" (?:by|for|from|in|into|of|on|to|with) ")
_ASKS = r"(?P<asks>how|when|where|why)"
_DOES = (
    r"(?P<base>(?!(?:behave|belong|call|catch|come|communicate|depend|differ|go|happen|have|interact|know|look|mean|need"
    r"|raise|react|return|talk|throw|use|work)\b)[a-z]{2,})"
)
_ACTIVE = tuple(
    (re.compile(form, re.IGNORECASE), asks)
    for form, asks in (
        (rf"{_ASKS} (?:do|does) {_SYSTEM} {_DOES} (?P<what>{_THING})", ""),
        (rf"(?P<asks>where) do (?:we|you) (?:first |then )?{_DOES} (?P<what>{_THING})", ""),
        (rf"{_ASKS} (?:do|does) (?P<what>{_THING}) get (?P<done>{_DONE})", ""),
        (rf"{_ASKS} (?:is|are) (?P<what>{_THING}) being (?P<done>{_DONE})", ""),
        (
            rf"what (?:is|are) the (?:process|mechanism|procedure|way) (?:for|of)"
            rf" (?P<doing>[a-z]+ing) (?P<what>{_THING})",
            "how",
        ),
        (
            r"what (?:approach|mechanism|process|strategy|technique)(?:e?s)? (?:is|are) used"
            rf" (?:to {_DOES}|for (?P<doing>[a-z]+ing)) (?P<what>{_THING})",
            "how",
        ),
        (
            rf"(?:which|what) part of {_SYSTEM} (?P<does>(?!(?:calls|has|is|uses|was)\b)[a-z]+s) (?P<what>{_THING})",
            "where",
        ),
        (rf"how does (?P<doing>[a-z]+ing) (?P<what>(?:the|an?) {_THING}|[\w-]+s) work", "how"),
        (
            rf"in (?:which|what) (?:class|file|line|method|part of {_SYSTEM}|place|spot)(?:e?s)? (?:is|are)"
            rf" (?P<what>{_THING}) (?P<done>(?!declared|defined|implemented|located){_DONE})",
            "where",
        ),
        (
            rf"where in (?:{_SYSTEM}) (?:is|are) (?P<what>{_THING}) (?P<done>{_DONE})",
            "where",
        ),
    )
)
"""Ways to ask how or where something is done, and which of both that is where they do not say it."""
_TO_DO = re.compile(
    r"(?:how to|(?:i|we)(?:['’]d| would)?(?: (?:just|now|also))? (?:am trying|are trying|have|like|need|want) to)"
    r" (?P<do>(?!(?:ask|be|check|find|get|have|know|learn|list|look|see|show|tell|understand)\b)[a-z]+"
    r" [^,?!.;]+?)\s*[.?!]*",
    re.IGNORECASE,
)
"""What somebody has in mind to do, and asks how."""
_PUT_LAST = re.compile(
    r"(?P<where>how|where) (?P<is>is|are) (?P<done>called|configured|created|declared|defined|handled|implemented|kept"
    r"|located|registered|saved|set|stored|used|written) (?P<what>(?:the|an?|our) [^?]+?|[A-Z][\w.]*)",
    re.IGNORECASE,
)
"""The order of other languages: `where is defined the total?`"""
_IRREGULAR = {
    "bind": "bound",
    "build": "built",
    "cancel": "cancelled",
    "catch": "caught",
    "choose": "chosen",
    "choos": "chosen",
    "do": "done",
    "draw": "drawn",
    "find": "found",
    "get": "got",
    "gett": "got",
    "give": "given",
    "giv": "given",
    "hold": "held",
    "keep": "kept",
    "make": "made",
    "mak": "made",
    "pay": "paid",
    "put": "put",
    "putt": "put",
    "read": "read",
    "run": "run",
    "runn": "run",
    "send": "sent",
    "set": "set",
    "sett": "set",
    "show": "shown",
    "take": "taken",
    "tak": "taken",
    "tell": "told",
    "throw": "thrown",
    "write": "written",
    "writ": "written",
}
_DOUBLED = re.compile(r"(?:^|[^aeiou])[aeiou][bdgmnpt]$")  # `map`, `stop`
_IS = r"(?:is|are|was|were|can|could|should|must|will|gets?)"
_NO_SUBJECT = (
    r"(?:after|and|are|be|been|because|before|can|could|did|do|does|had|has|have|how|if|is|may|might|must|should|that|to"
    r"|unless|until|was|were|what|when|where|which|while|who|why|will|would)"
)
_SUBJECT = (
    r"(?P<subject>(?!(?:at|come|from|happens?|in|long|many|much|of|often|on)\b)"
    rf"(?:(?!{_NO_SUBJECT}\b)[^\s,;?]+ ){{1,8}}?)"
)
_TURNED = re.compile(
    rf"(?P<asks>how(?: long| much| often| many times)?|where|why|when) {_SUBJECT}"
    rf"(?P<is>{_IS})(?P<rest>(?: (?!(?:how|what|where|which|who|why)\b)[^\s,;?]+)*)\s*[.?!]*\s*",
    re.IGNORECASE,
)
_WORKS = re.compile(
    rf"(?P<asks>how|what|where|why) {_SUBJECT}"
    r"(?P<does>works?|do|does|fails?|means?|returns?|looks? like|comes? from|lives?|happens?)\s*[.?!]*\s*",
    re.IGNORECASE,
)
_NAMED = re.compile(rf"what {_SUBJECT}(?P<is>is|are)(?P<about> about| for)?\s*[.?!]*\s*", re.IGNORECASE)
_OF_WHICH = re.compile(
    r"(?P<asks>(?:which|what) [a-z][\w-]*(?: [a-z][\w-]*){0,3}?) (?P<subject>(?:the|our) [\w.]+(?: [\w.]+)?|[\w.]+)"
    r" (?P<does>calls|contains|exposes|has|needs|raises|reads|returns|supports|takes|throws|uses)\s*[.?!]*\s*",
    re.IGNORECASE,
)
_WHETHER = re.compile(
    rf"(?:if|whether) (?P<subject>(?:(?!(?:if|that|when|where|which|who)\b)[^\s,;?]+ ){{1,5}}?)(?P<is>{_IS}|has|have)"
    r" (?P<rest>[^?]+?)\s*[.?!]*\s*",
    re.IGNORECASE,
)
_IT = r"(?:it|(?:the|our|this) (?:app|application|code|code ?base|program|project|server|service|software|system|tool))"
_RUN = (
    r"(?:(?:the|this|our|all|unit|integration|these) )*(?:app\w*|back ?end|code|front ?end|program|project|server"
    r"|service|site|solution|system|tests?)"
)
_ONE_WORD = tuple(
    (re.compile(said, re.IGNORECASE), meant)
    for said, meant in (
        (
            r"^(\W*(?:(?:and|but|so) )?)(?:in|on|under)(?: exactly)? (?:what|which)(?: exact| kinds? of)?"
            r" (?:cases?|circumstances?|conditions?|occasions?|situations?)\b(?! (?:in|of|the)\b)"
            r"|^(\W*(?:(?:and|but|so) )?)at(?: exactly)? (?:what|which)(?: exact)? (?:moment|point|stage|step|time)\b",
            r"\1\2when",
        ),
        (
            r"^(\W*(?:(?:and|but|so) )?)(?:for (?:what|which) reasons?|how come|what is the reason (?:that|why))\b",
            r"\1why",
        ),
        (
            r"^(\W*(?:(?:and|but|so) )?)(?:based on what"
            r"|(?:by|on) (?:what|which) (?:basis|criteria|means|mechanism|rules?))\b",
            r"\1how",
        ),
        (r"^(\W*(?:(?:and|but|so) )?)in (?:what|which) (?:location|place|spot)\b", r"\1where"),
        (
            r"\bwhat (?:is|would be) the (?:behaviou?r|consequence|effect|outcome|result) (?=(?:if|when)\b)"
            r"|\bwhat (?:outcome|result) (?:do|does|will|would) \w+ (?:get|have|see) (?=(?:if|when)\b)"
            rf"|\b(?:how (?:do|does|will|would) {_IT} (?:behave|react|respond)|what (?:do|does|will|would) {_IT} do)"
            r" (?=(?:if|in case|in the event|when)\b)",
            "what happens ",
        ),
        (r"\bwhat happens in (?:case|the (?:case|event)) (?:of|that) ", "what happens with "),
        (r"\bin the absence of ", "without "),
        (
            r"\b(a|another|from|in|into|my|no|of|our|same|sql|the|this|to|what|which) db(s?)"
            r"(?=[,;:?!]|\.?$|\. | (?:and|are|at|by|can|do|does|for|if|in|is|of|on|or|to|used|when|where|which|with)"
            r"\b)",
            r"\1 database\2",
        ),
        (r"\bdb (?=(?:columns?|connections?|migrations?|schemas?|tables?|transactions?)\b)", "database "),
        (r"\bpermitted (?=to\b)", "allowed "),
        (r"\bobtain(?=s?\b)", "get"),
        (r"\butili[sz](?=(?:e[ds]?|ing)\b)", "us"),
        (r"\binvoked\b", "called"),
        (r"\binvokes\b", "calls"),
        (r"\bhow frequently\b", "how often"),
        (r"\boccurs? (?=(?:after|before|if|when)\b)", "happens "),
        (
            rf"\b(how (?:do|can|could|should|would|to) (?:(?:i|we|you|one) )?)(?:execute|launch) (?=(?:it|{_RUN})\b)",
            r"\1run ",
        ),
        (r"\b(for|in|of|the|through|uses?|using|via|with) (?-i:DI)\b(?!\.)", r"\1 dependency injection"),
        (
            r"^(\W*)what ((?:(?!(?:does|happens|has|if|is|it|kinds?|makes|sorts?|that|was)\b)[a-z][\w-]* ){1,4}(?<=s )"
            r"(?:are|can|do|have|must|should)\b)",
            r"\1which \2",
        ),
        (r"\b(which|what) (?:bit|chunk|part|piece|section)s? of (?:the |our )?code\b", r"\1 code"),
    )
)
"""How questions say `when`, `why`, `how`, `where` and `what happens` in more words, none of which code has."""


def plainly(text: str) -> str:
    """The question in a text without what is said around it, its words in the order of a question. Others as they
    are."""
    plain = text
    for _ in range(_MOST_AROUND):
        shorter = _AROUND.sub("", plain, count=1) if _AROUND.match(plain) else plain
        if shorter == plain or not shorter.strip():
            break
        plain = shorter
    is_indirect = plain != text
    for _ in range(_MOST_AROUND):
        shorter = _BEHIND.sub(r"\g<end>", plain)
        if shorter == plain or not shorter.strip(" .?!"):
            break
        plain = shorter
    plain = _BETWEEN.sub("", plain)
    for said, meant in _ONE_WORD:
        plain = said.sub(meant, plain)
    plain = _turned(plain, is_indirect=is_indirect)
    asked = plain.strip(" .?!")
    if (last := _PUT_LAST.fullmatch(asked)) is not None:
        return f"{last['where']} {last['is']} {last['what']} {last['done']}?"
    for form, asks in _ACTIVE:
        if (active := form.fullmatch(asked)) is not None:
            told = {"asks": asks, **{name: said for name, said in active.groupdict().items() if said}}
            return _passive(told["asks"].lower(), told["what"], _done_by(told))
    found = next((match for form in _FOUND if (match := form.fullmatch(asked)) is not None), None)
    return plain if found is None else _where(**{name: said or "" for name, said in found.groupdict().items()})


def _where(what: str = "", doing: str = "", does: str = "", it: str = "", said: str = "") -> str:
    """`where is the token validated?` of code for `validating the token`, or that `validates the token`."""
    return _passive("where", what or it or said, _done_by({"doing": doing, "does": does}))


def _passive(asks: str, thing: str, done: str) -> str:
    last = _JOINS.split(thing)[0].split()[-1]
    return f"{asks} {'are' if singular(last) != last else 'is'} {thing} {done}?"


def _is_thing(subject: str, rest: str) -> bool:
    """Whether what stands behind `how` is what is asked about, and not how much of it: `how big is the store?`"""
    is_alone = " " not in subject and not (subject[0].isupper() or singular(subject) != subject)
    return not subject.endswith("ly") and (not is_alone or re.fullmatch(_DONE, rest) is not None)


def _done_by(said: Mapping[str, str]) -> str:
    """What has been `done`, also by what stands before `ing`, which may have lost an `e` or doubled its end, by what
    something `does`, or by its `base`."""
    if doing := said.get("doing", "").lower().removesuffix("ing"):
        return _IRREGULAR.get(doing) or _regular(doing)
    does = said.get("does", "").lower()
    base = said.get("base", "").lower() or (f"{does[:-3]}y" if does.endswith("ies") else does.removesuffix("s"))
    if not base or does == "does":
        return said.get("done", "done")
    if base in _IRREGULAR:
        return _IRREGULAR[base]
    if base.endswith("e"):
        return f"{base}d"
    hisses = does.endswith("es") and re.search(r"(?:[sxz]|[cs]h)e$", base)  # of `processes`, `matches`
    return f"{base}d" if hisses else f"{base}{base[-1]}ed" if _DOUBLED.search(base) else _regular(base)


def _regular(verb: str) -> str:
    return f"{verb[:-1]}ied" if re.search(r"[^aeiou]y$", verb) else f"{verb}ed"


def _turned(text: str, *, is_indirect: bool) -> str:
    """`how is the total calculated?` for `how the total is calculated`."""
    if (found := _TO_DO.fullmatch(text)) is not None:
        return f"how do I {found['do']}?"
    if (found := _WORKS.fullmatch(text)) is not None:
        verb, subject = found["does"].lower(), found["subject"].strip()
        if verb in ("do", "does"):
            return f"{found['asks']} {verb} {subject} do?"
        many = verb in ("work", "mean", "return", "look like", "come from", "live", "happen", "fail")
        bare = verb if many else verb.replace("looks", "look").replace("comes", "come").removesuffix("s")
        return f"{found['asks']} {'do' if many else 'does'} {subject} {bare}?"
    if (found := _NAMED.fullmatch(text)) is not None and is_indirect:
        return f"what {found['is']} {found['subject'].strip()}{found['about'] or ''}?"
    if (found := _OF_WHICH.fullmatch(text)) is not None and is_indirect:
        verb = found["does"].lower()
        return f"{found['asks']} does {found['subject']} {'have' if verb == 'has' else verb.removesuffix('s')}?"
    if (
        (found := _TURNED.fullmatch(text)) is not None
        and (is_indirect or found["asks"].lower() != "when")
        and _is_thing(found["subject"].strip(), found["rest"].strip())
    ):
        return f"{found['asks']} {found['is']} {found['subject'].strip()}{found['rest']}?"
    if (found := _WHETHER.fullmatch(text)) is not None and is_indirect:
        subject, verb, rest = found["subject"].strip(), found["is"].lower(), found["rest"]
        if subject.lower() == "there":
            return f"{verb} there {rest}?"
        if verb in ("has", "have"):
            return f"{'does' if verb == 'has' else 'do'} {subject} have {rest}?"
        return f"{verb} {subject} {rest}?"
    return text
