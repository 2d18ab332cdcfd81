"""What `[EntityDescription]` and `[FormField]` say: texts, addresses and input fields. [L]

Arguments may stand by position, as `Name: value` and as `Name = value`; texts are keys of a resource class.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from rag_assets.contracts.segment import Member, MemberKind, Segment, SymbolText
from rag_assets.languages.csharp.facts.expressions import arguments_of, last_name, literal
from rag_assets.languages.csharp.facts.localized_attributes import LocalizedAttributes, type_argument
from rag_assets.languages.csharp.facts.properties import same_words
from rag_assets.languages.csharp.facts.type_names import element_type, is_collection, parse_type
from rag_assets.languages.csharp.simple_names import attribute_name

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
        start = member.span.char_start - segment.span.char_start
        body = symbol_text[start : member.span.char_end - segment.span.char_start]
        names = tuple(name[1].rpartition(".")[2].strip() for name in _NAMEOF.finditer(body))
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
    expressions = [_first(given, names) for names in (_LABEL, _HELP, _WATERMARK)]
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


def _first(given: dict[str, str], names: tuple[str, ...]) -> str:
    return next((given[name] for name in names if name in given), "")


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
