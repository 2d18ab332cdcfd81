"""What somebody typed before it is read as a question: a courtesy, another language, a story with a question. Pure."""

from __future__ import annotations

import re

from rag_assets.answer.question_analysis import SAYS_NOTHING, asking_sentences, is_relation_or_manner, telling_words
from rag_assets.identifiers import word_set

_WORD = re.compile(r"[^\W\d_]+")
_CODE_RUN = re.compile(
    r"`[^`\n]*`|(?<![\w.])[\w.]*[a-z0-9][A-Z]\w*(?:\.\w+)*|(?<!\w)(?:\w+(?:\.\w+)+|\w*_\w*|\w+\(\))", re.ASCII
)
"""Identifiers and paths: they are of no language."""

_MOST_COURTESY_CHARS = 120


_COURTESY = word_set(
    "hello hi hey hallo moin servus ciao hola bonjour greetings goodbye bye cheers thanks thank thx ty danke merci",
    "gracias obrigado grazie please sorry ok okay cool nice great perfect awesome wow lol morning evening afternoon",
    "welcome",
)
_INSULT = word_set("stupid idiot idiotic dumb moron fuck fucking shit shitty suck sucks asshole dumbass wtf")
_INSULT_OF_SOMEBODY = word_set("useless garbage rubbish crap trash bad terrible awful worst horrible hate")
_SOMEBODY = word_set("you your this that it bot tool thing")
_BESIDE = word_set(
    "a absolutely again all am and are as at bot completely day everybody everyone for friend from fine good guys",
    "have help helped helpful helping i is it just me much my of off r really so such that the there thing this to",
    "tool too u ur very appreciate appreciated d didn do does doesn don ever having job lot lots love loved now",
    "perfectly thats today understand work worked working works yes no nope yep already any was well what world you",
    "your re s m",
)
"""What stands beside a courtesy or an insult; `hello world` too."""
_OF_THE_TOOL = frozenset({"how are you", "who are you", "what are you", "what can you do", "what can i ask", "help"})


def is_courtesy(typed: str) -> bool:
    """Whether a text thanks, greets, insults or asks after the tool itself, and asks nothing of the index."""
    if len(typed) > _MOST_COURTESY_CHARS or "`" in typed:
        return False
    said = [word.lower() for word in _WORD.findall(typed)]
    if " ".join(said) in _OF_THE_TOOL:
        return True
    words = set(said)
    if not words or not words <= _COURTESY | _INSULT | _INSULT_OF_SOMEBODY | _BESIDE:
        return False
    return bool(words & (_COURTESY | _INSULT)) or bool(words & _INSULT_OF_SOMEBODY and words & _SOMEBODY)


_FUNCTION_WORDS = {
    "German": word_set(
        "wo wie was wer wird werden wurde wurden ist sind der die das dem den des ein eine einen einem einer eines",
        "und oder nicht mit für von auf aus bei nach über wenn warum wieso welche welcher welches welchen wann gibt",
        "es ich mir man macht tut funktioniert kann zeige finde zum zur im beim womit wofür woher hier alle dieser",
        "diese dieses wir uns hat lange viel viele oft",
    ),
    "French": word_set(
        "où comment quel quelle quels quelles est sont le la les un une des du au aux et pour dans avec sur par que",
        "qui quoi pourquoi fait ce cette ces quand combien il elle je nous se sa son leur fonctionne",
    ),
    "Spanish": word_set(
        "dónde donde cómo como qué que cuál cual cuáles quién quien está están es son el la los las un una de del y",
        "en para con por se al cuando cuándo hace funciona hay este esta cuántos",
    ),
    "Italian": word_set(
        "dove come cosa che chi quale quali è sono il lo la gli le un una di del della dei delle e in per con viene",
        "vengono quando perché fa funziona si nel nella questo questa",
    ),
    "Dutch": word_set(
        "waar hoe wat wie wordt worden is zijn de het een van en of niet met voor op uit bij naar als waarom welke",
        "wanneer er deze dit die ik doet kan werkt",
    ),
    "Portuguese": word_set(
        "onde como que qual quais quem é são está o a os as um uma de do da dos das e em para com por no na quando",
        "faz funciona não este esta",
    ),
    "Polish": word_set(
        "gdzie jak co kto jest są w z na do i nie dla od po przez który która które dlaczego kiedy ile się czy to ten",
        "ta jaki jakie działa robi",
    ),
}
_FEWEST_HITS = 2
_SCRIPTS = (
    (re.compile("[\u3040-\u30ff]"), "Japanese"),
    (re.compile("[\uac00-\ud7af\u1100-\u11ff]"), "Korean"),
    (re.compile("[\u3400-\u9fff]"), "Chinese"),
    (re.compile("[іїєґІЇЄҐ]"), "Ukrainian"),
    (re.compile("[\u0400-\u04ff]"), "Russian"),
    (re.compile("[\u0370-\u03ff]"), "Greek"),
    (re.compile("[\u0590-\u05ff]"), "Hebrew"),
    (re.compile("[\u0600-\u06ff]"), "Arabic"),
    (re.compile("[\u0900-\u097f]"), "Hindi"),
    (re.compile("[\u0e00-\u0e7f]"), "Thai"),
)
_OTHER_SCRIPT = re.compile("[\u0370-\u1fff\u3040-\ud7ff]")
_LETTER = re.compile(r"[^\W\d_]")


def foreign_language(typed: str) -> str:
    """The language that a question seems to be in, where that is not English; '' where nothing shows one. Identifiers
    do not count, and a question with as many English function words is English."""
    text = _CODE_RUN.sub(" ", typed)
    letters = _LETTER.findall(text)
    if 2 * len(_OTHER_SCRIPT.findall(text)) > len(letters):
        return next((name for script, name in _SCRIPTS if script.search(text)), "")
    words = dict.fromkeys(word.lower() for word in _WORD.findall(text))
    english = {word for word in words if word in SAYS_NOTHING or is_relation_or_manner(word)}
    accented = sum(not word.isascii() for word in words) + ("¿" in text)
    best, most = "", (0, 0)
    for name, known in _FUNCTION_WORDS.items():
        of_it = words.keys() & known
        own = {word for word in of_it - english if len(word) > 1}
        hits = len(of_it | {word for word in words if not word.isascii()}) if accented else len(of_it)
        if own and hits + ("¿" in text) >= _FEWEST_HITS and hits > len(english) and (len(own), hits) > most:
            best, most = name, (len(own), hits)
    return best


def is_function_word(word: str) -> bool:
    """Whether some other language than English has it as a word that says nothing."""
    return any(word in known for known in _FUNCTION_WORDS.values())


_CALLS = re.compile(
    r"\b(?:aufgerufen|aufrufe?r?|ruft|verwende\w*|benutz\w*|genutzt|appel(?:é|ée|és|le|lent|ant)\b|appelée?s?|utilis\w*|llama\w*"
    r"|usa|usan|usad[oa]s?|utiliza\w*|invoca\w*|chiama\w*|usat[oaie]|aangeroepen|gebruik\w*|roept|chama\w*|wywoł\w*"
    r"|używa\w*|вызыва\w*|использу\w*|викор\w*|виклик\w*)|调用|使用|呼び出|使われ|使用|사용|호출",
    re.IGNORECASE,
)
_IMPLEMENTS = re.compile(
    r"\b(?:implementier\w*|implémente\w*|implementa\w*|implementeer\w*|implementuj\w*|erbt|erben|hérite\w*|hereda\w*"
    r"|eredita\w*|реализу\w*)|实现|実装|구현",
    re.IGNORECASE,
)
_NAME = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*", re.ASCII)


def ascii_names(typed: str) -> str:
    """The words of a text that may be identifiers, also where a script without blanks is around them."""
    return " ".join(_NAME.findall(typed))


def in_english(typed: str, names: tuple[str, ...]) -> str:
    """What a question in another language asks about the names in it, as far as its words show that; the names alone
    where they do not, as scripts without blanks hide them; '' for a question that is read better as it is."""
    if not names:
        return ""
    if _CALLS.search(typed):
        return f"who calls {names[0]}?"
    if _IMPLEMENTS.search(typed):
        return f"what implements {names[0]}?"
    return " ".join(names[:2]) if _OTHER_SCRIPT.search(typed) else ""


_POINTS = re.compile(
    r"\b(?:these|those|such|then|(?<!are )(?<!is )(?<!were )(?<!be )there(?! (?:an?|any|are|is|no)\b)"
    r"|this(?! (?:app\w*|code\w*|framework|library|program|project|repo\w*|service|software|system|tool)\b)"
    r"|(?:the|an|a) (?:former|latter|others?)"
    r"|ones?(?=\W*$|[,;]| (?:and|are|as|for|in|is|on|or|to|with)\b)"
    r"|(?:(?<=\babout )|(?<=\bdid )|(?<=\bdo )|(?<=\bdoes )|(?<=\bfor )|(?<=\bfrom )|(?<=\bin )|(?<=\bis )|(?<=\blike )"
    r"|(?<=\bof )|(?<=\bon )|(?<=\bto )|(?<=\bwas )|(?<=\bwith ))that"
    r"|that(?=\W*$|[,;]| (?:around|back|down|off|on|out|over|up)\b))\b",
    re.IGNORECASE,
)
"""What stands for something of the sentences before."""
_MAY_POINT = re.compile(r"\b(?:its?|itself|they|them(?:selves)?|theirs?|he|she|him|hers?|his)\b", re.IGNORECASE)
_OF_NOTHING = re.compile(
    r"\b(?:are|be|is|was) it (?:[a-z]+ ){1,2}?(?=(?:how|that|to|what|when|where|whether|which|who|why)\b)",
    re.IGNORECASE,
)
"""`where is it decided how long …`, `is it possible to …`"""
_CLAUSE = re.compile(
    r"[,;:?]|\b(?:after|and|because|before|but|if|once|or|so|that|though|unless|until|when|where|which|while|who|without)\b",
    re.IGNORECASE,
)
_A_THING = re.compile(
    r"\b(?:an?|all|any(?! more)|each|every|how many|my|our|the|what|which) (?:[\w-]+ )??(?P<word>[\w-]+)", re.IGNORECASE
)
_FEWEST_TOLD = 2
_LONGEST_STORY = 600  # characters: of a longer text only what asks is asked


def asked_alone(typed: str) -> str:
    """The sentences of a text that ask, where they say by themselves what; '' for a text of which all asks, and where
    they point at what the others tell: `We send invoices. Where is that set up?`"""
    asking = " ".join(asking_sentences(typed)) if len(typed) <= _LONGEST_STORY else ""
    if not asking:
        return ""
    if _POINTS.search(asking) or not (len(_told(asking)) >= _FEWEST_TOLD or _names_thing(asking)):
        return ""
    plain = _OF_NOTHING.sub("", asking)
    return asking if all(_is_named_before(plain[: found.start()]) for found in _MAY_POINT.finditer(plain)) else ""


def _is_named_before(text: str) -> bool:
    """Whether some clause before the last names a thing, which may be what is pointed at."""
    return any(map(_names_thing, _CLAUSE.split(text)[:-1]))


def _names_thing(text: str) -> bool:
    return any(_told(found["word"]) for found in _A_THING.finditer(text))


def _told(text: str) -> list[str]:
    return [word for word, _ in telling_words(text) if not is_relation_or_manner(word)]
