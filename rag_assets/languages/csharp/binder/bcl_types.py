"""What is known of types that no label declares: collections, tasks, delegates, LINQ. Rules by shape, few names."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from rag_assets.languages.csharp.binder.type_syntax import ARRAY, TUPLE, TypeRef, is_interface_name

STRING, INT, BOOL, DOUBLE, CHAR = (TypeRef(name) for name in ("string", "int", "bool", "double", "char"))
NULL, VOID = TypeRef("null"), TypeRef("void")

_TUPLES = frozenset({"Tuple", "ValueTuple"})
_TASKS = frozenset({"Task", "ValueTask", "ConfiguredTaskAwaitable", "ConfiguredValueTaskAwaitable"})
_EXPRESSIONS = frozenset({"Expression"})
_DELEGATES = frozenset({"Func", "Action", "Predicate", "Comparison", "Converter", "EventHandler"})
_WORDS = (
    "Delegate MulticastDelegate ThreadStart ParameterizedThreadStart WaitCallback TimerCallback AsyncCallback "
    "SendOrPostCallback RequestDelegate EventHandler LambdaExpression"
)
_OTHER_DELEGATES = frozenset(_WORDS.split())
_SCALARS = frozenset(
    {
        "string", "int", "bool", "double", "char", "long", "short", "byte", "sbyte", "uint", "ulong", "ushort", "float",
        "decimal", "nint", "nuint", "Guid", "DateTime", "DateTimeOffset", "TimeSpan", "String", "Int32", "Int64",
        "Boolean", "Double", "Decimal", "Char", "Byte", "CancellationToken", "Type", "Uri",
    }
)  # fmt: skip
_NUMBERS = frozenset({"int", "long", "short", "byte", "sbyte", "uint", "ulong", "ushort", "float", "double", "decimal",
                      "char", "nint", "nuint", "Int32", "Int64"})  # fmt: skip
_ALIASES = {
    "String": "string", "Int32": "int", "Int64": "long", "Boolean": "bool", "Double": "double", "Decimal": "decimal",
    "Char": "char", "Byte": "byte", "Object": "object", "Single": "float", "Int16": "short",
}  # fmt: skip

_SAME_PREFIXES = (
    "Where", "OrderBy", "ThenBy", "Skip", "Take", "Distinct", "Reverse", "Concat", "Union", "Except", "Intersect",
    "ToList", "ToArray", "AsQueryable", "AsEnumerable", "AsNoTracking", "AsTracking", "Append", "Prepend",
    "DefaultIfEmpty", "ToHashSet", "ConfigureAwait", "AsParallel", "AsSplitQuery", "IgnoreQueryFilters", "FindAll",
    "GetRange", "ToImmutable", "AsReadOnly", "AsSpan", "WithCancellation", "Order", "AsAsyncEnumerable", "GetAwaiter",
    "Shuffle", "TagWith", "AsSingleQuery",
)  # fmt: skip
"""Methods of collections, queries and tasks that give one of the same elements."""
_ELEMENT_PREFIXES = (
    "First", "Last", "Single", "ElementAt", "MinBy", "MaxBy", "Pop", "Peek", "Dequeue", "Aggregate", "Find",
    "GetResult", "GetValueOrDefault", "GetOrAdd", "AddOrUpdate", "GetRequiredService", "GetService",
)  # fmt: skip
"""Methods that give one element; the asynchronous ones of queries begin alike, and awaiting an element gives it."""
_LISTS = ("List", "GetAll", "FindAll", "ToList", "GetPaged")
"""Methods of repositories of a library that give several elements: `IReadRepository<Order>.ListAsync`."""
_FLUENT = ("Add", "Configure", "Use", "Register", "Map", "With", "Replace", "TryAdd", "Remove", "Set", "Has", "Ignore")
"""Verbs whose type argument says what is set up, and which give their receiver back."""
_ADDERS = ("Add", "TryAdd")
"""Verbs whose type argument says what is registered; a lambda gets the provider or the options of it."""
_ELEMENT_VERBS = ("Get", "Find", "Load", "Create", "Build", "Read", "Add", "Update", "Insert")
"""Methods of other generic types of a library that may give the type of their argument."""
_SCALAR_PREFIXES = (
    "Add", "Subtract", "ToUpper", "ToLower", "ToUniversal", "ToLocal", "Trim", "Substring", "Replace", "Pad", "Insert",
    "Remove", "Normalize", "Duration", "Negate", "Multiply", "GetValueOrDefault",
)  # fmt: skip
"""Methods of texts and dates that give another one."""
OBJECT_METHODS = {"ToString": STRING, "GetHashCode": INT, "Equals": BOOL, "GetType": TypeRef("Type"),
                  "CompareTo": INT, "ReferenceEquals": BOOL, "GetEnumerator": None}  # fmt: skip
_ELEMENT_MEMBERS = frozenset({"Value", "Result", "Current", "CurrentValue", "Object", "Instance", "Target"})
_LISTS_OF_GIVEN = ("OfType", "Cast", "GetServices", "GetAll", "GetAttributes", "GetCustomAttributes", "GetExports")
_REMEMBERED = 16_384
"""Names of library members, and of their types, whose meaning is worked out once: what the code of a label uses."""
_SEQUENCE = "IEnumerable"
_GROUPING = "IGrouping"
_PAIR = "KeyValuePair"
_INCLUDABLE = "IIncludableQueryable"


def is_task(found: TypeRef) -> bool:
    return not found.declared and found.name in _TASKS


def cannot_become(found: TypeRef, wanted: TypeRef) -> bool:
    """Whether a library type is for certain no other one: arrays, tuples, tasks and delegates have few types above
    them, and only a task is a task."""
    if is_task(wanted) or wanted.is_array or wanted.is_tuple or (is_delegate(wanted) and wanted.arguments):
        return found.is_array or found.is_tuple or is_scalar(found) or is_task(found) or bool(found.arguments)
    if is_task(found) or found.is_tuple:
        return not is_interface_name(wanted.name) or "Enumerable" in wanted.name
    if is_delegate(found):
        return bool(wanted.arguments) and not is_delegate(wanted)
    return False


def is_scalar(found: TypeRef) -> bool:
    return not found.declared and found.name in _SCALARS


def plain_name(found: TypeRef) -> str:
    return _ALIASES.get(found.name, found.name)


def converts(given: TypeRef, wanted: TypeRef) -> bool:
    """Whether a number or text may be given where the other scalar is wanted."""
    both = {given.name, wanted.name}
    return both <= _NUMBERS or both == {"DateTime", "DateTimeOffset"}


def awaited(found: TypeRef | None) -> TypeRef | None:
    """What awaiting gives: `Task<T>` → T, nothing for `Task`; what is no task stays: rules need not wrap in tasks."""
    if found is not None and found.name in _TASKS and not found.declared:
        return found.arguments[0] if found.arguments else None
    return found


def element_of(found: TypeRef | None) -> TypeRef | None:
    """What a `foreach` over a library type gives."""
    if found is None or not found.arguments:
        return CHAR if found == STRING else None
    if found.name == TUPLE:
        return None
    if len(found.arguments) == 1 or found.name in (_GROUPING, _INCLUDABLE):
        return found.arguments[-1] if found.name == _GROUPING else found.arguments[0]
    return TypeRef(_PAIR, found.arguments) if len(found.arguments) == 2 else None


def indexed(found: TypeRef | None) -> TypeRef | None:
    """What `x[…]` gives: the element of an array or list, the value of a map."""
    return found.arguments[-1] if found is not None and found.arguments and found.name != TUPLE else None


def parts_of(found: TypeRef | None, count: int) -> tuple[TypeRef | None, ...]:
    """What deconstruction gives: the elements of a tuple or a pair."""
    if found is not None and found.name in (TUPLE, _PAIR) and len(found.arguments) == count:
        return found.arguments
    return (None,) * count


def is_delegate(found: TypeRef) -> bool:
    return not found.declared and (
        found.name in _DELEGATES or found.name in _EXPRESSIONS or found.name in _OTHER_DELEGATES
    )


def delegate_parameters(found: TypeRef) -> tuple[TypeRef, ...] | None:
    """The parameters of a delegate type of the library, None for what is none or unknown."""
    if found.name in _EXPRESSIONS and found.arguments:
        return delegate_parameters(found.arguments[0])
    if found.name == "Func":
        return found.arguments[:-1]
    if found.name in ("Action", "Predicate"):
        return found.arguments
    if found.name == "Comparison" and found.arguments:
        return (found.arguments[0],) * 2
    if found.name == "Converter":
        return found.arguments[:1]
    if found.name == "EventHandler":
        return (TypeRef("object"), *(found.arguments or (TypeRef("EventArgs"),)))
    return None


def delegate_result(found: TypeRef) -> TypeRef | None:
    if found.name in _EXPRESSIONS and found.arguments:
        return delegate_result(found.arguments[0])
    if found.name in ("Func", "Converter") and found.arguments:
        return found.arguments[-1]
    return BOOL if found.name == "Predicate" else None


def lambda_parameters(receiver: TypeRef | None, name: str, given: tuple[TypeRef, ...]) -> tuple[TypeRef | None, ...]:
    """What a lambda gets that is handed to a library method: its explicit type argument, or an element of the receiver.

    A guess by shape. A wrong one does no harm as long as the type has no member of the name that the lambda uses.
    """
    if given and name.startswith(_ADDERS):
        return ()
    if given and receiver is None:
        return (given[0],)
    if receiver is None:
        return ()
    if name == "ThenInclude" and len(receiver.arguments) == 2:
        last = receiver.arguments[1]
        return (element_of(last) or last,)
    if name == "ContinueWith":
        return (receiver,)
    element = element_of(receiver)
    if (
        element is not None
        and element.name == _PAIR
        and receiver.name not in _MAPS
        and "Dictionary" not in receiver.name
    ):
        element = receiver.arguments[0]  # `IRuleBuilder<Order, string>`
    if name == "Aggregate":
        return (element, element)
    return (element,) if not given or element is not None else (given[0],)


_MAPS = frozenset({"IGrouping", "ILookup", "SortedList"})


def call_result(
    receiver: TypeRef | None,
    name: str,
    given: tuple[TypeRef, ...],
    returned: Sequence[TypeRef | None],
) -> TypeRef | None:
    """What a library method gives. `given`: explicit type arguments, `returned`: what each lambda argument returns."""
    if given:
        if name.startswith("AddOptions"):
            return TypeRef("OptionsBuilder", given[:1])
        if name.startswith(_FLUENT):
            return receiver
        if name.startswith(_LISTS_OF_GIVEN):
            return TypeRef(_SEQUENCE, (given[0],))
        return given[0] if len(given) == 1 else None
    if name in OBJECT_METHODS:
        return OBJECT_METHODS[name]
    if receiver is None:
        return named_result(name)
    if is_scalar(receiver):
        if receiver == STRING and name == "Split":
            return TypeRef(ARRAY, (STRING,))
        return receiver if name.startswith(_SCALAR_PREFIXES) else None
    made = returned[0] if returned else None
    if name == "Select":
        return TypeRef(_SEQUENCE, (made,)) if made is not None else None
    if name == "SelectMany":
        element = element_of(made)
        return TypeRef(_SEQUENCE, (element,)) if element is not None and len(returned) < 2 else None
    if name in ("Include", "ThenInclude"):
        element = element_of(receiver)
        return TypeRef(_INCLUDABLE, (element, made)) if element is not None and made is not None else receiver
    element = element_of(receiver)
    if name == "GroupBy" and element is not None:
        return TypeRef(_SEQUENCE, (TypeRef(_GROUPING, (made or NULL, element)),))
    if name == "ToDictionary" and element is not None:
        return TypeRef("Dictionary", (made or NULL, (returned[1] if len(returned) > 1 else element) or NULL))
    if name.startswith(_SAME_PREFIXES):
        return receiver
    if name.startswith(_ELEMENT_PREFIXES):
        return receiver.arguments[-1] if len(receiver.arguments) == 2 and receiver.name != _INCLUDABLE else element
    if name in ("Invoke", "DynamicInvoke"):
        return delegate_result(receiver)
    if element is not None and len(receiver.arguments) == 1 and name.startswith(_LISTS):
        return TypeRef(_SEQUENCE, (element,))
    return element if len(receiver.arguments) == 1 and name.startswith(_ELEMENT_VERBS) else None


def member_type(receiver: TypeRef, name: str) -> TypeRef | None:
    """The type of a property of a library type: elements of tuples, `Value`, `Keys` and their like."""
    if receiver.name == TUPLE or receiver.name in _TUPLES:
        if name in receiver.labels:
            return receiver.arguments[receiver.labels.index(name)]
        number = name.removeprefix("Item")
        if number.isdecimal() and 0 < int(number) <= len(receiver.arguments):
            return receiver.arguments[int(number) - 1]
        return None
    if not receiver.arguments:
        if name == "Value" and is_scalar(receiver):  # of a `Nullable<int>`, which is read as its argument
            return receiver
        return INT if name in ("Length", "Count") else BOOL if name == "HasValue" else None
    if name in _ELEMENT_MEMBERS:
        return receiver.arguments[-1]
    if name == "Key":
        return receiver.arguments[0]
    if name == "Keys":
        return TypeRef(_SEQUENCE, receiver.arguments[:1])
    if name == "Values":
        return TypeRef(_SEQUENCE, receiver.arguments[-1:])
    if name in ("Count", "Length"):
        return INT
    return TypeRef("Task", receiver.arguments) if name == "Task" else None


@lru_cache(maxsize=_REMEMBERED)
def static_result(type_name: str, name: str) -> TypeRef | None:
    """What a static member of a value type gives: mostly one of it, as `TimeSpan.Zero`, `Guid.NewGuid()` do."""
    simple = type_name.rpartition(".")[2]
    told = named_result(name)
    if told is not None:
        return told
    if name.startswith(_FACTORIES) and simple not in _SCALARS:
        return TypeRef(simple)
    if simple not in _SCALARS or name in _OTHER_RESULTS:
        return _OTHER_RESULTS.get(name) if simple in _SCALARS else None
    return BOOL if name.startswith(("Try", "Is")) else TypeRef(_ALIASES.get(simple, simple))


@lru_cache(maxsize=_REMEMBERED)
def named_result(name: str) -> TypeRef | None:
    """What a method gives that says so in its name, as those of the framework do: `ToInt32`, `GetString`."""
    for verb in _VERBS_OF_RESULTS:
        if name.startswith(verb) and (simple := name[len(verb) :]) in _SCALARS and simple[0].isupper():
            return TypeRef(_ALIASES.get(simple, simple))
    return None


_VERBS_OF_RESULTS = ("To", "Get", "Read")
_FACTORIES = ("Parse", "From", "New", "Default", "Instance", "Shared")
"""Static members of any library type that give one of it."""
_OTHER_RESULTS = {**OBJECT_METHODS, "Compare": INT, "CompareOrdinal": INT, "DaysInMonth": INT}
