"""The data that a type carries: its properties, fields and positional parameters, with what `[EntityDescription]` and
`[FormField]` say of them. [L]

Arguments may stand by position, as `Name: value` and as `Name = value`; texts are keys of a resource class.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from rag_assets.contracts.segment import Member, MemberKind, Parameter, Segment, SymbolText, first_paragraph, one_line
from rag_assets.languages.csharp.binder.type_syntax import attribute_name
from rag_assets.languages.csharp.facts.expressions import (
    LocalizedAttributes,
    arguments_of,
    last_name,
    literal,
    type_argument,
)
from rag_assets.languages.csharp.facts.type_names import element_type, is_collection, parse_type


@dataclass(frozen=True, slots=True)
class PropertyFact:
    """One property. `key` tells how it is known to be (part of) the key: `attribute`, `convention` or ''.

    `element` is the type that a collection holds, or the type itself without wrappers; `label` what people see;
    `external_name` the name in JSON, columns or tags where it differs. `parameter` marks a positional parameter.
    """

    name: str
    type: str
    element: str = ""
    doc: str = ""
    collection: bool = False
    nullable: bool = False
    key: str = ""
    required: bool = False
    read_only: bool = False
    max_length: int | None = None
    label: str = ""
    external_name: str = ""
    default: str = ""
    parameter: bool = False

    def marks(self) -> tuple[str, ...]:
        """What is special about it, in words."""
        found = (
            ("key" if self.key == "attribute" else "key by convention", bool(self.key)),
            ("required", self.required),
            ("collection", self.collection),
            ("read only", self.read_only),
            (f"at most {self.max_length} long", self.max_length is not None),
            (f"as {self.external_name}", bool(self.external_name)),
        )
        return tuple(mark for mark, holds in found if holds)

    def line(self) -> str:
        """One line of a snippet: `Number: string, required — The number customers quote.`"""
        shown = self.label
        head = ", ".join([f"{self.name}: {self.type}" if self.type else self.name, *self.marks()])
        said = said_of(self.doc, self.name)
        if shown and not same_words(shown, self.name) and not same_words(shown, said):
            head = f"{head} “{shown}”"
        return f"{head} — {said}" if said else head


def properties_of(segment: Segment, texts: LocalizedAttributes) -> tuple[PropertyFact, ...]:
    """The properties of a type in text order, positional parameters of a record first. Constants and static state are
    left out: they belong to no instance."""
    docs = parameter_docs(segment.doc)
    positional = segment.parameters if segment.kind.startswith("record") else ()
    found = [_of_parameter(parameter, docs.get(parameter.name, ""), texts) for parameter in positional]
    found += [_of_member(member, texts) for member in segment.members if is_data(member, segment)]
    return with_keys(segment, found)


def is_data(member: Member, segment: Segment) -> bool:
    """Whether a member holds data of an instance that others can see."""
    if member.kind not in (MemberKind.PROPERTY, MemberKind.FIELD) or member.explicit_interface:
        return False
    if any(modifier in _SHARED for modifier in member.modifiers):
        return False
    if segment.language in _DEFAULT_PRIVATE:
        return "public" in member.modifiers or "internal" in member.modifiers
    if segment.language == "java":
        return True  # fields are private by habit, and carry the data
    if segment.language == "python":
        return not member.name.startswith("_")
    if segment.language == "go":
        return member.name[:1].isupper()
    return not any(modifier in _HIDDEN for modifier in member.modifiers)


def with_keys(segment: Segment, properties: Iterable[PropertyFact]) -> tuple[PropertyFact, ...]:
    """Marks the key: what attributes say, else `Id` or `{Type}Id` as the conventions of ORMs have it."""
    found = tuple(properties)
    named: set[str] = set()
    for attribute in segment.attributes:
        if attribute_name(attribute) == "PrimaryKey":
            named.update(literal(argument) or last_name(argument) for argument in arguments_of(attribute).positional)
    if named:
        return tuple(_keyed(fact, "attribute") if fact.name in named else fact for fact in found)
    if any(fact.key for fact in found):
        return found
    names = {fact.name.lower(): fact.name for fact in found}
    own = names.get("id") or names.get(f"{segment.name}id".lower())
    return tuple(_keyed(fact, "convention") if fact.name == own else fact for fact in found)


def parameter_docs(doc: str) -> dict[str, str]:
    """`param Name: text` of a documentation text, by name."""
    if "param" not in doc:
        return {}
    return {found[1]: one_line(found[2]) for found in _PARAMETER_DOC.finditer(doc)}


def said_of(doc: str, name: str) -> str:
    """What the summary of a property says beyond its name: without `Gets or sets the`, and '' where nothing is left."""
    summary = first_paragraph(doc)
    said = _ACCESSOR_WORDS.sub("", summary)
    if same_words(said, name):
        return ""
    return said[:1].upper() + said[1:] if said != summary else summary


def same_words(text: str, name: str) -> bool:
    """Whether a text says no more than a name: `Version Number`, `version_number` and `VersionNumber`."""
    return _letters(text) == _letters(name)


def _letters(text: str) -> str:
    return "".join(character for character in text if character.isalnum()).casefold()


def _of_parameter(parameter: Parameter, doc: str, texts: LocalizedAttributes) -> PropertyFact:
    facts = _attribute_facts(parameter.name, parameter.attributes, texts)
    required = not parameter.default and not parse_type(parameter.type).nullable
    return _fact(
        parameter.name, parameter.type, doc, facts, required=required, default=parameter.default, parameter=True
    )


def _of_member(member: Member, texts: LocalizedAttributes) -> PropertyFact:
    facts = _attribute_facts(member.name, member.attributes, texts)
    settable = any(accessor in _SETTERS for accessor in member.accessors)
    read_only = "readonly" in member.modifiers or (bool(member.accessors) and not settable)
    return _fact(
        member.name,
        member.type,
        member.doc,
        facts,
        required="required" in member.modifiers,
        read_only=read_only,
        default="" if member.value in _NO_DEFAULT else member.value,
    )


@dataclass(slots=True)
class _AttributeFacts:
    key: str = ""
    required: bool = False
    max_length: int | None = None
    label: str = ""
    help: str = ""
    external_name: str = ""


def _fact(
    name: str,
    written: str,
    doc: str,
    facts: _AttributeFacts,
    *,
    required: bool = False,
    read_only: bool = False,
    default: str = "",
    parameter: bool = False,
) -> PropertyFact:
    parsed = parse_type(written)
    return PropertyFact(
        name=name,
        type=one_line(written),
        element=element_type(parsed).name,
        doc=doc or facts.help,
        collection=is_collection(parsed),
        nullable=parsed.nullable,
        key=facts.key,
        required=required or facts.required,
        read_only=read_only,
        max_length=facts.max_length,
        label=facts.label,
        external_name="" if same_words(facts.external_name, name) else facts.external_name,
        default=default,
        parameter=parameter,
    )


def _attribute_facts(owner: str, attributes: tuple[str, ...], texts: LocalizedAttributes) -> _AttributeFacts:
    facts = _AttributeFacts()
    for attribute in attributes:
        tags = _GO_TAG.search(attribute)
        if tags:
            facts.external_name = tags[1]
            continue
        name = attribute_name(attribute)
        if name in _KEYS:
            facts.key = "attribute"
        elif name in _REQUIRED:
            facts.required = True
        elif name in _LENGTHS:
            facts.max_length = _number((*arguments_of(attribute).positional, "")[_LENGTHS[name]])
        elif name in _JSON_NAMES:
            facts.external_name = literal((*arguments_of(attribute).positional, "")[0]) or ""
        elif name in ("Display", "DisplayName", "Description"):
            _add_texts(facts, owner, name, attribute, texts)
        elif name == "FormField":
            named = arguments_of(attribute).named
            facts.required = facts.required or named.get("IsRequired") == "true"
            facts.max_length = facts.max_length or _number(named.get("MaxLength", ""))
    return facts


def _add_texts(facts: _AttributeFacts, owner: str, name: str, attribute: str, texts: LocalizedAttributes) -> None:
    arguments = arguments_of(attribute)
    first = (*arguments.positional, "")[0]
    if name == "Display":
        resource_type = arguments.named.get("ResourceType", "")
        facts.label = texts.text(arguments.named.get("Name", ""), resource_type, owner)
        facts.help = texts.text(arguments.named.get("Description", ""), resource_type, owner)
    elif name == "DisplayName":
        facts.label = literal(first) or ""
    else:
        facts.help = facts.help or literal(first) or ""


def _keyed(fact: PropertyFact, how: str) -> PropertyFact:
    return replace(fact, key=how)


def _number(text: str) -> int | None:
    digits = text.strip().replace("_", "")
    return int(digits) if digits.isdecimal() and len(digits) < _LONGEST_NUMBER else None


_LONGEST_NUMBER = 12
"""Digits of a length; what is longer is none."""

_SHARED = frozenset({"static", "const"})
_HIDDEN = frozenset({"private", "protected"})
_DEFAULT_PRIVATE = frozenset({"csharp"})
_SETTERS = frozenset({"set", "init", "internal set", "internal init"})
_NO_DEFAULT = frozenset({"null!", "default!", "null", "default"})
"""Initial values that only quiet the compiler."""

_KEYS = frozenset({"Key", "BsonId", "PartitionKey", "Id"})
_REQUIRED = frozenset({"Required", "JsonRequired", "BindRequired"})
_LENGTHS = {"MaxLength": 0, "StringLength": 0, "Length": 1}
"""Attributes that limit a length, and which of their arguments is the limit."""
_JSON_NAMES = frozenset({"JsonPropertyName", "JsonProperty", "DataMember", "Column", "BsonElement", "XmlElement"})
_ACCESSOR_WORDS = re.compile(
    r"^Gets?(?:(?:,| and| or)*\s(?:sets?|inits?|initiali[sz]es?))*\s"
    r"(?:a value indicating (?:whether|that|if) )?(?:the |an? )?",
    re.IGNORECASE,
)
"""How the documentation rules of .NET let every property begin."""
_GO_TAG = re.compile(r'\bjson:"([^",]+)')
_PARAMETER_DOC = re.compile(r"^param (\w+)[ \t]*:[ \t]*(.*(?:\n(?!\w+(?: \w+)?:).*)*)", re.MULTILINE)


ENTITY = "EntityDescription"
FORM_FIELD = "FormField"


@dataclass(frozen=True, slots=True)
class NamedValue:
    """One named argument with its value: `SaveUrl`, `/api/order`."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class EntityFacts:
    """The arguments of `[EntityDescription]`: texts resolved, `domain` as written, addresses and other values by
    the names of their parameters."""

    domain: str = ""
    title: str = ""
    help: str = ""
    description: str = ""
    resource_class: str = ""
    urls: tuple[NamedValue, ...] = ()
    values: tuple[NamedValue, ...] = ()


@dataclass(frozen=True, slots=True)
class FormField:
    """A property on a generated form, its texts resolved. `keys` are the resource keys behind them, as label, help,
    watermark. `values` are the other arguments by name."""

    property: str
    type: str
    label: str = ""
    help: str = ""
    watermark: str = ""
    field_type: str = ""
    required: bool = False
    resource_class: str = ""
    keys: tuple[str, ...] = ()
    options: str = ""
    values: tuple[NamedValue, ...] = ()
    doc: str = ""

    def says_more(self) -> bool:
        """Whether the label says what the name of the property does not."""
        return bool(self.label) and not same_words(self.label, self.property)

    def line(self) -> str:
        """One line of a snippet: `Terms “Terms of payment”: Text, required — …`"""
        shown = f" “{self.label}”" if self.says_more() else ""
        marks = [self.field_type or self.type, *(["required"] if self.required else [])]
        if self.options:
            marks.append(f"one of {self.options}")
        if self.watermark:
            marks.append(f"watermark “{self.watermark}”")
        text = f"{self.property}{shown}: {', '.join(marks)}"
        said = self.help or self.doc
        return f"{text} — {said}" if said else text


@dataclass(frozen=True, slots=True)
class FormLayout:
    """A list of fields in the order of a form: `GetFormFieldsCol2` → `FormFieldsCol2`, its field names."""

    name: str
    method: str
    fields: tuple[str, ...]

    def line(self) -> str:
        return f"{self.name}: {', '.join(self.fields)}"


def entity_facts(segment: Segment, texts: LocalizedAttributes) -> EntityFacts | None:
    """The facts of `[EntityDescription]`, None without one."""
    attribute = _attribute(segment.attributes, ENTITY)
    if not attribute:
        return None
    arguments = arguments_of(attribute)
    given = dict(zip(_ENTITY_PARAMETERS, arguments.positional, strict=False))
    types = [argument for argument in arguments.positional if type_argument(argument)]
    given.update({name[:1].upper() + name[1:]: value for name, value in arguments.named.items()})
    resource_type = types[0] if types else given.get("ResourceType", "")

    def text(name: str) -> str:
        return texts.text(given.get(name, ""), resource_type, f"{segment.name} {name}")

    values = {name: value for name, value in given.items() if name not in _ENTITY_TEXTS and not type_argument(value)}
    named = [NamedValue(name, _plain(value)) for name, value in values.items()]
    return EntityFacts(
        domain=given.get("Domain", ""),
        title=text("TitleResource"),
        help=text("UserHelpResource"),
        description=text("DescriptionResource"),
        resource_class=type_argument(resource_type),
        urls=tuple(value for value in named if value.name.endswith("Url") and value.value),
        values=tuple(value for value in named if not value.name.endswith("Url") and value.value),
    )


def form_fields(segment: Segment, texts: LocalizedAttributes) -> tuple[FormField, ...]:
    """The properties with `[FormField]`, in text order."""
    found = ((member, _attribute(member.attributes, FORM_FIELD)) for member in segment.members)
    return tuple(_form_field(member, attribute, texts) for member, attribute in found if attribute)


def form_layouts(segment: Segment, symbol_text: SymbolText) -> tuple[FormLayout, ...]:
    """The methods that list form fields by `nameof`, in text order."""
    found = []
    for member in segment.members:
        if not is_layout(member):
            continue
        named = _NAMEOF.finditer(symbol_text.part(member.span))
        names = tuple(name[1].rpartition(".")[2].strip() for name in named)
        if names:
            name = member.name.removeprefix("Get")
            found.append(FormLayout(name, member.name, names))
    return tuple(found)


def is_layout(member: Member) -> bool:
    """Whether a member is like those of the form descriptor interfaces: `List<string> GetFormFieldsCol2()` …"""
    if member.kind is not MemberKind.METHOD or member.parameters or not _LAYOUT.fullmatch(member.name):
        return False
    returned = parse_type(member.type)
    return is_collection(returned) and element_type(returned).name in ("string", "String")


def _form_field(member: Member, attribute: str, texts: LocalizedAttributes) -> FormField:
    arguments = arguments_of(attribute)
    given = {name[:1].upper() + name[1:]: value for name, value in arguments.named.items()}
    if arguments.positional:
        given.setdefault("LabelResource", arguments.positional[0])
    resource_type = given.get("ResourceType", "")
    expressions = [next((given[name] for name in names if name in given), "") for names in (_LABEL, _HELP, _WATERMARK)]
    label, help_text, watermark = (
        texts.text(expression, resource_type, f"{member.name} {name}")
        for name, expression in zip(("label", "help", "watermark"), expressions, strict=True)
    )
    others = {name: value for name, value in given.items() if name not in _FIELD_KNOWN}
    return FormField(
        property=member.name,
        type=member.type,
        label=label,
        help=help_text,
        watermark=watermark,
        field_type=last_name(given.get("FieldType", "")),
        required=given.get("IsRequired", "").strip() == "true",
        resource_class=type_argument(resource_type),
        keys=tuple(last_name(expression) or literal(expression) or "" for expression in expressions),
        options=type_argument(given.get("EnumType", "")),
        values=tuple(NamedValue(name, _plain(value)) for name, value in others.items()),
        doc=member.doc,
    )


def _attribute(attributes: tuple[str, ...], name: str) -> str:
    return next((attribute for attribute in attributes if attribute_name(attribute) == name), "")


def _plain(expression: str) -> str:
    """A literal without quotes, the last name of a constant, anything else as written."""
    written = literal(expression)
    if written is not None:
        return written
    return "" if expression == "null" else last_name(expression) or expression


_ENTITY_PARAMETERS = ("Domain", "TitleResource", "UserHelpResource", "DescriptionResource", "EntityType")
"""The leading parameters of the attribute in their order; the resource type follows and is known by its `typeof`."""
_ENTITY_TEXTS = frozenset({*_ENTITY_PARAMETERS[:4], "ResourceType"})
_LABEL = ("LabelResource", "Label")
_HELP = ("HelpResource", "Help")
_WATERMARK = ("WaterMark", "WatermarkResource", "Watermark", "WaterMarkResource")
_FIELD_KNOWN = frozenset({*_LABEL, *_HELP, *_WATERMARK, "ResourceType", "FieldType", "IsRequired", "EnumType"})
_NAMEOF = re.compile(r"\bnameof\s*\(\s*([\w.\s]+?)\s*\)")
_LAYOUT = re.compile(r"Get\w*Fields\w*")
