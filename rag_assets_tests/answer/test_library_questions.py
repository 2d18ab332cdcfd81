"""What users of a library ask: overloads, target frameworks, what a major version changed, what an attribute may be put
on, what they may implement, set and share between threads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets import Index
from rag_assets.answer.plans.documents import is_of_release
from rag_assets.answer.whole_project import Everyday, EverydayQuestion, everyday_question
from rag_assets.qa.ask_options import AskOptions
from rag_assets_tests.cli.conftest import opened_index
from rag_assets_tests.effort import ends_within

FILES = {
    "README.md": "# Inkwell\n\nWrites letters.\n\nWorks with Paperbase 9 and 10.\n\n* Waxmill (minimum version 2012)\n",
    "docs/breaking-changes.md": """\
# Breaking changes

## V15.x.x

### Breaking changes in V15.x

* Quills are cut by whoever holds them.

## V14.x.x

* Ink is blue unless a colour is given.

## V1.x.x

* The first one.
""",
    "CHANGELOG.md": "# Changes\n\n## 2.1.0\n\n- Added blotting paper\n\n## 2.0.0\n\n- Added Mixed\n",
    "docs/3.x/papers.md": "# Papers\n\nThe following papers are supported:\n\n* Rag\n* Laid\n* Bond\n",
    "docs/4.x/papers.md": """\
# Writing

Inkwell currently supports the following papers:

* Vellum
  * only old
* Wove
* Laid

## Nibs

| Nib | Cut |
|---|---|
| `Round` | Italic |
| `Broad` | Oblique |
| `Fine` | Straight |

A table of printers follows in the next version. Each printer has the following details:

* Name
* Speed
* Tray
""",
    "src/Directory.Build.props": """\
<Project>
  <PropertyGroup>
    <InkFrameworkTargets>net462;net48</InkFrameworkTargets>
    <InkModernTargets>net8.0;net9.0</InkModernTargets>
  </PropertyGroup>
</Project>
""",
    "src/Inkwell/Pen.cs": """\
namespace Inkwell;

public abstract class Nib { }

public class Pen
{
    /// <summary>Writes a letter.</summary>
    [Obsolete]
    public void Write(string text) { }

    public void Write(
        string text,
        int copies)
    {
    }

    public void Erase(int last) { }
}
""",
    "src/Inkwell/Inkwell.csproj": """\
<Project>
  <PropertyGroup>
    <TargetFrameworks>netstandard2.0;net7.0</TargetFrameworks>
    <TargetFrameworks Condition="'$(OS)' == 'Windows_NT'">$(TargetFrameworks);net472</TargetFrameworks>
  </PropertyGroup>
</Project>
""",
    "src/Inkwell/Posting/IDrier.cs": """\
namespace Inkwell.Posting;

public interface IDrier
{
    /// <summary>Dries a letter.</summary>
    bool Dry(Letter letter);

    /// <summary>How long that takes.</summary>
    TimeSpan Takes(Letter letter);
}

public sealed class SandDrier : IDrier
{
    internal const int GrainCount = 60;

    private readonly TimeSpan _dryingDuration = TimeSpan.FromSeconds(30);

    public bool Dry(Letter letter) => letter.Wax;

    public TimeSpan Takes(Letter letter) => _dryingDuration;
}
""",
    "web/driers.html": "<form>\n  <label>The difference between an IDrier and a SandDrier</label>\n"
    "  <select name='drier'><option>IDrier</option><option>SandDrier</option></select>\n</form>\n",
    "docs/drying.md": """\
# Drying

## Sand

A SandDrier strews sand on the page.

## Wind

Opposed to the SandDrier, which works at once, an IDrier of one's own may wait for the wind.
""",
    "src/Inkwell.Desk/Inkwell.Desk.csproj": """\
<Project>
  <PropertyGroup>
    <TargetFrameworks>
      net5.0;
      net6.0
    </TargetFrameworks>
  </PropertyGroup>
</Project>
""",
    "src/Inkwell/Letters.cs": """\
namespace Inkwell;

/// <summary>Says that a letter is sealed.</summary>
[AttributeUsage(AttributeTargets.Class | AttributeTargets.Enum)]
public sealed class WaxAttribute : Attribute { }

/// <summary>A letter.</summary>
/// <remarks>This class is not thread-safe.</remarks>
[Wax]
public class Letter { public bool Wax { get; set; } }

/// <summary>What writes letters down.</summary>
public interface IScribe { void Note(Letter letter); }

public interface ISealer { void Seal(Letter letter); }

internal interface IPaper { }

public interface ISpellingService { }

public interface IBindingService { }

public sealed class Clerk : IScribe { public void Note(Letter letter) { } }

/// <summary>How the copy machine works.</summary>
public class CopyMachineOptions
{
    /// <summary>The trays that are filled.</summary>
    /// <remarks>Default: 12</remarks>
    public int TrayCount { get; set; }

    public bool Stapled { get; set; }
}

public class CopyMachine
{
    /// <summary>How many sheets fit in. By default 40.</summary>
    public int SheetLimit { get => _sheets; set => _sheets = value; }
    private int _sheets = new Sheets(40).Count;
}

public sealed class InkGrade
{
    public static readonly InkGrade Thin = new InkGrade();
    public static readonly InkGrade Thick = new InkGrade();
    internal static InkGrade Best => Thick;
    public static InkGrade Mixed() => new InkGrade();
    public static InkGrade Parse(string text) => Thin;
    public static InkGrade CreateAny() => Thin;
}

public sealed class LetterFoldingStyle
{
    public static readonly LetterFoldingStyle Half = new LetterFoldingStyle
    {
    };

    public static readonly LetterFoldingStyle Third = new LetterFoldingStyle { };
}

public class Folder
{
    private const string PressureColumn = "PRESSURE";

    public Folder(LetterFoldingStyle? style, Envelope? envelope) => Style = style ?? LetterFoldingStyle.Third;

    public void Close(SealOptions options) { options ??= new SealOptions(); }

    public List<Ribbon> Ribbons(List<Ribbon>? ribbons) => ribbons ?? new List<Ribbon>();
}

internal static class InkFaults { public const string TooThin = "INK0042"; }

public class Inspector { public string Check() => InkFaults.TooThin; }

public abstract class Blotter { }

public class PaperBlotter : Blotter { }

public class ClothBlotter : Blotter { }

public abstract class DeskWithBlotter { }

public class OakDesk : DeskWithBlotter { }
""",
    "src/Inkwell/Stamping.cs": """\
namespace Inkwell;

public class Stamper
{
    /// <summary>Puts a stamp on an envelope.</summary>
    public void Stamp(Envelope envelope, Stamp stamp) => envelope.Take(stamp);

    internal void PutStampOnEnvelope(Envelope envelope, Stamp stamp)
    {
        var corner = envelope.Corner;
        if (corner.HasStamp)
        {
            corner = envelope.NextCorner;
        }
        corner.Put(stamp);
        envelope.Corner = corner;
    }
}
""",
    "tests/Inkwell.Tests/PenTests.cs": """\
namespace Inkwell.Tests;

public class SilentScribe : IScribe { public void Note(Letter letter) { } }

public class FailingSealer : ISealer { public void Seal(Letter letter) { } }

public class DummyNib1 : Nib { }

public class DummyNib2 : Nib { }
""",
}


@pytest.fixture(scope="module")
def inkwell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("inkwell"), FILES, "inkwell") as index:
        yield index


def told(index: Index, question: str) -> str:
    return index.ask(question, options=AskOptions()).text


@pytest.mark.parametrize(
    "question",
    [
        "which overloads of Pen.Write are there?",
        "which overloads does Write() have?",
        "which overloads does Write have?",
        "what are the Write overloads?",
    ],
)
def test_all_overloads_of_a_method_are_listed_by_their_parameters(inkwell: Index, question: str) -> None:
    text = told(inkwell, question)
    assert text.startswith("**2 overloads of Write:**")
    assert "**Write(string)** in src/Inkwell/Pen.cs:9: `public void Write(string text)" in text
    assert "**Write(string,int)** in src/Inkwell/Pen.cs:11-13: `public void Write(string text, int copies)`" in text


@pytest.mark.parametrize(
    "question", ["which target frameworks are supported?", "which .NET frameworks does the library target?"]
)
def test_targets_that_have_a_name_of_their_own_are_told(inkwell: Index, question: str) -> None:
    text = told(inkwell, question)
    assert "net462;net48" in text and "net8.0;net9.0" in text


def test_all_lines_that_say_the_targets_of_a_project_are_told(inkwell: Index) -> None:
    text = told(inkwell, "which target frameworks are supported?")
    assert "netstandard2.0;net7.0" in text and "$(TargetFrameworks);net472" in text
    assert "net5.0;" in text and "`net6.0`" in text


@pytest.mark.parametrize(
    "question", ["what may the Wax attribute be put on?", "what does the Wax attribute do?", "what does [Wax] mean?"]
)
def test_an_attribute_is_called_as_it_is_written(inkwell: Index, question: str) -> None:
    text = told(inkwell, question)
    assert text.startswith("`WaxAttribute` in src/Inkwell/Letters.cs")
    assert "AttributeTargets.Class | AttributeTargets.Enum" in text


def test_the_uses_of_an_attribute_are_where_it_marks_something(inkwell: Index) -> None:
    assert "names **Wax** in src/Inkwell/Letters.cs:10" in told(inkwell, "who uses WaxAttribute?")


def test_what_is_said_of_threads_is_told(inkwell: Index) -> None:
    text = told(inkwell, "is Letter thread safe?")
    assert text.startswith("**What is said of threads:**") and "This class is not thread-safe." in text
    assert told(inkwell, "can several threads use one Pen?").startswith("**Not sure")


@pytest.mark.parametrize("question", ["which interfaces can I implement?", "what extension points are there?"])
def test_what_tests_implement_others_may_implement_too(inkwell: Index, question: str) -> None:
    text = told(inkwell, question)
    assert "contracts that others may implement:**" in text and "IScribe" in text and "ISealer" in text
    assert "IPaper" not in text and "Clerk" not in text


@pytest.mark.parametrize("question", ["how do I write my own scribe?", "which interface do I implement for a scribe?"])
def test_one_contract_is_told_for_what_is_called_so(inkwell: Index, question: str) -> None:
    text = told(inkwell, question)
    assert text.startswith("**1 contract that others may implement:**") and "public interface IScribe" in text
    assert "contract" not in told(inkwell, "how do I add a custom spelling?")


def test_a_contract_is_told_by_its_last_word_and_what_derives_from_it(inkwell: Index) -> None:
    text = told(inkwell, "how do I write my own sand drier?")
    assert "public interface IDrier" in text and "TimeSpan Takes(Letter letter);" in text.partition("See also")[0]
    assert "IDrier in" not in told(inkwell, "how do I write my own hair drier?").replace("**", "")


@pytest.mark.parametrize(
    "question",
    ["what is the difference between IDrier and SandDrier?", "when should I use SandDrier instead of IDrier?"],
)
def test_how_two_types_differ_is_told_by_the_paragraph_that_names_both(inkwell: Index, question: str) -> None:
    text = told(inkwell, question)
    assert "may wait for the wind" in text.partition("```")[0] and "<label>" not in text.partition("```")[0]
    assert "public interface IDrier" in text and "public sealed class SandDrier" in text


def test_how_many_there_are_of_something_is_told_by_the_constant_that_is_called_so(inkwell: Index) -> None:
    text = told(inkwell, "how many grains does the drying of the sand drier take?")
    assert "sets **GrainCount** in" in text and "internal const int GrainCount = 60;" in text


def test_the_options_of_something_are_those_of_its_type_of_options(inkwell: Index) -> None:
    text = told(inkwell, "which options does the copy machine have?")
    assert "CopyMachineOptions" in text and "TrayCount" in text and "Stapled" in text


def test_a_default_is_told_by_the_comment_where_no_code_says_it(inkwell: Index) -> None:
    assert "<remarks>Default: 12</remarks>" in told(inkwell, "what is the default of TrayCount?")
    text = told(inkwell, "what is the default sheet limit of CopyMachine?")
    assert text.startswith("**Default:**") and "By default 40." in text


def test_what_only_has_something_is_none_of_it(inkwell: Index) -> None:
    text = told(inkwell, "which blotters are there?")
    assert "PaperBlotter" in text and "ClothBlotter" in text and "Desk" not in text.partition("[1]")[0]


def test_versions_of_something_else_are_told_by_the_documents(inkwell: Index) -> None:
    assert "`Works with Paperbase 9 and 10.`" in told(inkwell, "which versions of Paperbase are supported?")
    assert "`* Waxmill (minimum version 2012)`" in told(inkwell, "what is the minimum version of Waxmill?")
    assert "Paperbase" not in told(inkwell, "which version of Slatebase is needed?")


def test_the_values_of_a_type_are_those_that_others_see_whatever_is_asked_of_them_too(inkwell: Index) -> None:
    text = told(inkwell, "which ink grades exist, and in which order?")
    assert text.startswith("**3 ink grades:**") and "Thin" in text and "Best" not in text


def test_a_value_that_is_made_each_time_is_one_and_what_reads_or_makes_any_is_none(inkwell: Index) -> None:
    text = told(inkwell, "which ink grades are there?")
    assert "**InkGrade.Mixed** in" in text and "Parse" not in text and "CreateAny" not in text


@pytest.mark.parametrize(
    "question", ["which letter folding styles are there?", "which letter folding styles can I use?"]
)
def test_the_values_of_a_type_of_three_words_are_listed(inkwell: Index, question: str) -> None:
    text = told(inkwell, question)
    assert text.startswith("**2 letter folding styles:**") and "Half" in text and "Third" in text


@pytest.mark.parametrize("question", ["what is the default folding style?", "which folding style is used by default?"])
def test_a_default_that_no_setting_has_is_what_code_takes_where_nothing_is_given(inkwell: Index, question: str) -> None:
    text = told(inkwell, question)
    assert text.startswith("**Default:**") and "style ?? LetterFoldingStyle.Third" in text


@pytest.mark.parametrize(
    "question",
    [
        "what is the default seal?",
        "what is the default envelope?",
        "what is the default pressure?",
        "what is the default ribbon?",
    ],
)
def test_what_is_only_near_a_fallback_and_a_constant_are_no_defaults(inkwell: Index, question: str) -> None:
    assert "**Default:**" not in told(inkwell, question)


def test_what_reports_a_code_is_told_where_a_constant_is_that_code(inkwell: Index) -> None:
    text = told(inkwell, "which check reports INK0042?")
    assert "**Inspector** names **TooThin**" in text and 'TooThin = "INK0042"' in text
    assert "names" not in told(inkwell, "which check reports INK0043?")


def test_what_is_supported_is_the_list_of_the_document_of_the_highest_version(inkwell: Index) -> None:
    text = told(inkwell, "which papers are supported?")
    assert text.startswith("**Supported papers:**") and "docs/4.x/papers.md:5: `* Vellum`" in text
    assert "Wove" in text and "only old" not in text and "Rag" not in text
    assert not told(inkwell, "which printers are supported?").startswith("**Supported")


def test_what_is_supported_is_the_table_below_a_heading_that_says_only_that(inkwell: Index) -> None:
    text = told(inkwell, "which nibs does Inkwell support?")
    assert text.startswith("**Supported nibs:**") and "Italic" in text and "| Nib | Cut |" not in text


def test_what_no_document_lists_is_not_supported_by_another_list(inkwell: Index) -> None:
    assert "Supported" not in told(inkwell, "which printers are supported?")


@pytest.mark.parametrize(
    "question",
    ["since which version can I use blotting paper?", "since which version can I write with blotting paper?"],
)
def test_what_can_be_done_since_a_version_is_what_was_added_then(inkwell: Index, question: str) -> None:
    assert told(inkwell, question).startswith("- **2.1.0** in CHANGELOG.md")


def test_what_no_entry_of_a_changelog_says_is_no_version(inkwell: Index) -> None:
    assert "2.1.0" not in told(inkwell, "since which version can I emboss a letter?")


def test_how_to_do_something_is_told_by_what_others_can_call(inkwell: Index) -> None:
    assert told(inkwell, "how do I put a stamp on an envelope?").startswith(
        "`Stamper.Stamp` in src/Inkwell/Stamping.cs"
    )
    assert told(inkwell, "how is a stamp put on an envelope?").startswith("`Stamper.PutStampOnEnvelope` in")


def test_types_that_are_called_services_are_not_what_is_registered(inkwell: Index) -> None:
    assert "2 services" in told(inkwell, "which services are there?")
    assert "2 services" not in told(inkwell, "which services are registered by default?")


@pytest.mark.parametrize("question", ["what changed in version 14?", "what broke in v14?"])
def test_a_major_version_is_told_by_the_heading_that_leaves_the_rest_open(inkwell: Index, question: str) -> None:
    text = told(inkwell, question)
    assert "Ink is blue" in text and "Quills" not in text and "The first one" not in text


def test_what_only_tests_derive_from_a_type_of_the_product_is_not_what_there_is(inkwell: Index) -> None:
    assert "2 nibs" not in told(inkwell, "which nibs are there?")


@pytest.mark.parametrize(
    ("heading", "version", "is_of"),
    [
        ("V14.x.x", "14", True),
        ("Updates in 8.0.x", "8.0", True),
        ("14.2.1 - 2024-05-01", "14", True),
        ("V15.x.x", "14", False),
        ("14.20", "14.2", False),
        ("2014-05-01", "14", False),
        ("Quill# 13.0 - Desk 9 of 2022", "Quill# 13", True),
        ("[Quill# 7.2](https://quill.example) - Desk 2017", "Quill# 7.2", True),
        ("Quill# 7.2", "Quill# 2", False),
        ("Release: V1.0.8", "1.0.8", True),
    ],
)
def test_headings_of_versions(heading: str, version: str, is_of: bool) -> None:
    assert is_of_release(heading, version) is is_of


@pytest.mark.parametrize("mark", ["- ", "# ", "a - ", "a", ". ", "a: ", "[", "a  "])
def test_a_long_heading_is_of_no_version_soon(mark: str) -> None:
    with ends_within(2.0):  # a line of 2,000 characters took 14 s
        assert not is_of_release(mark * (100_000 // len(mark)) + "~", "2.4")


@pytest.mark.parametrize(
    ("question", "place", "line"),
    [
        ("which features were added in Quill# 13?", "Language-Version-History.md", "Blots"),
        ("what is new in Quill# 7.2?", "Language-Version-History.md", "Feathers"),
        ("since which version does Quill# have blots?", "Language-Version-History.md", "Quill# 13.0"),
        ("what is new in V1.0.80?", "build/ReleaseNotes.txt", "Wax is red"),
    ],
)
def test_a_history_of_versions_is_a_changelog_whatever_it_calls_them(
    tmp_path: Path, question: str, place: str, line: str
) -> None:
    files = {
        "README.md": "# Quill\n\nA language for letters, with a blot here and there.\n",
        "Language-Version-History.md": "What each version added.\n\n# Quill# 13.0 - Desk 9\n"
        "- [Blots](https://quill.example/blots.md): introduces the `blot` keyword.\n- Smears: allows them.\n\n"
        "# [Quill# 7.2](https://quill.example/7-2) - Desk 2\n- Feathers\n",
        "build/ReleaseNotes.txt": "Notes\n=====\n---------\nRelease: V1.0.80 \nDate: 2022-01-08\n\nNEW FEATURES:\n\n"
        "1. Wax is red\n\n---------\nRelease: V1.0.79\n\n1. Wax is green\n",
    }
    with opened_index(tmp_path, files, "quill") as index:
        answer = index.ask(question)
    assert place in answer.text and line in answer.text and "green" not in answer.text


def test_a_number_is_a_version_where_it_is_called_so() -> None:
    assert everyday_question("what changed in Quill# 13?") == EverydayQuestion(Everyday.RELEASE, ("Quill# 13",))
    assert everyday_question("what changed in version 14?") == EverydayQuestion(Everyday.RELEASE, ("14",))
    assert everyday_question("what changed in v14?") == EverydayQuestion(Everyday.RELEASE, ("14",))
    assert everyday_question("what changed in 14 days?") != EverydayQuestion(Everyday.RELEASE, ("14",))


def test_of_two_members_that_differ_the_product_is_told_before_benchmarks(tmp_path: Path) -> None:
    body = "    public int Dip(int ink)\n    {{\n        return ink + 1;\n    }}\n"
    member = f"namespace Nib;\n\npublic class {{0}}\n{{{{\n{body}{{1}}}}}}\n"
    files = {
        "README.md": "# Nib\n\nWrites.\n",
        "bench/Nib.Benchmarks/DipBenchmark.cs": member.format("DipBenchmark", ""),
        "src/Nib/Pen.cs": member.format("Pen", "\n    public int DipTwice(int ink) => Dip(Dip(ink));\n"),
    }
    with opened_index(tmp_path, files, "nib") as index:
        text = told(index, "What is the difference between Dip and DipTwice?")
    assert "src/Nib/Pen.cs" in text.partition("```")[0]


SPOOLER = {
    "README.md": "# Spooler\n\nWinds thread.\n",
    "CONTRIBUTING.md": "# Contributing\n\nThrow all knots and loose threads away before others look at them.\n",
    "docs/dyeing.md": "# Dyeing\n\nIndigo is dyed in a vat without air, and turns blue outside of it.\n",
    "docs/dyeing.html": "<h1>Dyeing</h1>\n<p>Indigo is dyed in a vat without air, and turns blue outside of it.</p>\n",
    "docs/winding.md": f"""\
# Winding

A spool is wound from its core.

{"A thread that is wound tightly is held by the turn beside it. " * 10}

## Bobbins

{"Bobbins are smaller, and need no core. " * 40}
""",
    "src/Spooler/Spool.cs": """\
using System.Collections.Generic;
using System.ComponentModel;

namespace Spooler;

public class Spool
{
    private readonly List<Knot> _knots = new();
    private readonly int _turnLimit;

    /// <summary>Throws all knots away.</summary>
    public void Untie()
    {
        RemoveKnots(_knots);
        Rewind(_knots);
    }

    void RemoveKnots(List<Knot> knots)
    {
        // all knots are thrown away here, one after the other
        foreach (var knot in knots)
            knots.Remove(knot);
    }

    void Rewind(List<Knot> knots) => knots.Clear();
}

public class Winder
{
    /// <summary>How many threads are wound beside each other.</summary>
    [DefaultValue(12)]
    public int ThreadLimit
    {
        get => _threads;
        set => _threads = value;
    }
    int _threads;

    public int SlotCount { get; set; } = 40;

    void BleachYarnOvernight(Vat vat)
    {
        vat.Fill();
        vat.Wait();
    }
}

public static class WinderExtensions
{
    /// <summary>Sets how many slots are shown to who winds.</summary>
    public static Winder SlotCount(this Winder winder, int slots)
    {
        winder.SlotCount = slots;
        return winder;
    }
}
""",
    "src/Spooler/Generated/TangleCounter.cs": """\
namespace Spooler;

public class TangleCounter
{
    public int CountTangles(int[] tangles)
    {
        return tangles.Length;
    }
}
""",
    "src/Spooler/Tension.cs": """\
namespace Spooler;

public class TensionException : System.Exception { }

public class Tension
{
    public void Pull(int grams)
    {
        if (grams > 9)
            throw new TensionException(
                $"A thread tears at {grams} grams, take a thicker one");
        if (grams < 1)
            ThrowHelper.ThrowInvalidOperationException("Nothing is pulled");
    }
}
""",
    "src/Spooler/Tangles.cs": """\
namespace Spooler;

public class Tangles
{
    public int CountTangles(int[] tangles)
    {
        return tangles.Length + 1;
    }
}
""",
    "samples/Weaving/Loom.cs": """\
using Spooler;

public class Loom
{
    public void Weave(Spool spool)
    {
        spool.Untie();
    }
}
""",
}


@pytest.fixture(scope="module")
def spooler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("spooler"), SPOOLER, "spooler") as index:
        yield index


@pytest.mark.parametrize("question", ["how do I throw all knots away?", "can I throw all knots away?"])
def test_what_others_may_use_is_told_with_where_code_does(spooler: Index, question: str) -> None:
    text = told(spooler, question)
    assert text.startswith("`Spool.Untie` in src/Spooler/Spool.cs")
    assert "**Used like this:**\n- **Loom.Weave** in samples/Weaving/Loom.cs:7: `spool.Untie();`" in text
    assert "CONTRIBUTING" not in text and "in this order" not in text


def test_who_works_on_a_library_is_told_what_it_asks_of_contributors(spooler: Index) -> None:
    assert "CONTRIBUTING.md" in told(spooler, "can I leave loose threads in a pull request?")


def test_a_page_that_is_made_of_a_document_does_not_say_the_same_again(spooler: Index) -> None:
    text = told(spooler, "why is indigo dyed in a vat without air?")
    assert "docs/dyeing.md" in text and "docs/dyeing.html" not in text


def test_a_default_is_told_by_the_attribute_that_says_it(spooler: Index) -> None:
    text = told(spooler, "how many threads does the winder take at most?")
    assert "**Default:**\n- **Winder.ThreadLimit** in src/Spooler/Spool.cs" in text and "`[DefaultValue(12)]`" in text
    assert "_turnLimit" not in text


def test_what_a_method_sets_is_told_with_its_first_value(spooler: Index) -> None:
    text = told(spooler, "how many slots are shown?")
    assert "**Winder.SlotCount** sets **SlotCount**" in text or "`public int SlotCount { get; set; } = 40;`" in text


def test_a_quote_of_a_document_ends_before_what_introduces_the_next(spooler: Index) -> None:
    text = told(spooler, "how tightly is a thread wound beside the other turns?")
    assert "docs/winding.md" in text and "## Bobbins" not in text


def test_what_nobody_can_call_is_no_sure_way_to_do_something(spooler: Index) -> None:
    assert told(spooler, "how do I bleach yarn overnight?").startswith("**Not sure.")
    assert told(spooler, "how is yarn bleached overnight?").startswith("`Winder.BleachYarnOvernight`")


def test_what_a_tool_writes_comes_behind_what_people_write(spooler: Index) -> None:
    assert told(spooler, "which code counts the tangles?").startswith("`Tangles.CountTangles`")


def test_the_message_of_an_error_is_told_where_it_stands_below(spooler: Index) -> None:
    text = told(spooler, "what happens when a thread tears at many grams?")
    assert '`throw new TensionException($"A thread tears at {grams} grams, take a thicker one");`' in text


def test_what_helpers_throw_is_thrown(spooler: Index) -> None:
    text = told(spooler, "which exceptions does Tension.Pull throw?")
    assert "**TensionException**" in text and "**InvalidOperationException** in src/Spooler/Tension.cs:13" in text


def test_of_an_application_what_nobody_calls_is_how_something_is_done(tmp_path: Path) -> None:
    members = "".join(
        f"    private void {name}(object sender)\n    {{\n        var file = Ask(sender);\n        {body};\n    }}\n\n"
        for name, body in (("ExportNotesAsMarkdown", "notes.WriteTo(file)"), ("PrintPage", "printer.Print(file)"))
    )
    files = {"README.md": "# Desk\n\nKeeps notes.\n", "src/Desk/MainForm.cs": f"class MainForm\n{{\n{members}}}\n"}
    with opened_index(tmp_path, files, "desk") as index:
        assert told(index, "how can I export notes as markdown?").startswith("`MainForm.ExportNotesAsMarkdown`")
