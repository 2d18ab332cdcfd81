"""What a newcomer asks of the code of a gateway: lists in an order, values of things, texts of errors and tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_assets import Index
from rag_assets.qa.ask_options import AskOptions
from rag_assets_tests.cli.conftest import opened_index

FILES = {
    "README.md": "# Heron\n\nA gateway for letters.\n",
    "src/Pipeline.cs": """\
namespace Heron;

public static class Pipeline
{
    public const int DefaultHttpPort = 8096;
    const int SmallestViewport = 320;

    public static void Build(IApplicationBuilder app)
    {
        app.UseMiddleware<StampMiddleware>();
        app.UseIf<LogMiddleware>(true);
        app.UseRouting();
    }
}
""",
    "src/HeronErrorCode.cs": "namespace Heron;\n\npublic enum HeronErrorCode\n{\n"
    "    LetterLost = 1,\n    StampTorn = 2\n}\n",
    "src/LetterLostError.cs": """\
namespace Heron;

public class LetterLostError : Error
{
    public LetterLostError() : base(HeronErrorCode.LetterLost, StatusCodes.Status404NotFound)
    {
    }
}

public class StampTornError : Error
{
    public StampTornError() : base(HeronErrorCode.StampTorn, StatusCodes.Status500InternalServerError)
    {
    }
}
""",
    "src/GrantKind.cs": "namespace Heron;\n\npublic enum GrantKind\n{\n    ReadLetters,\n    BurnLetters\n}\n",
    "src/DeliveryFailureType.cs": "namespace Heron;\n\npublic enum DeliveryFailureType\n{\n    Rain,\n    Dog\n}\n",
    "src/Colour.cs": "namespace Heron;\n\npublic enum Colour\n{\n    Red,\n    Blue\n}\n",
    "src/Box.cs": """\
namespace Heron;

public class Box
{
    public Colour Colour { get; set; }
}

public class WallBox : Box
{
    public string Size { get; set; }
}
""",
    "src/Errors.cs": """\
namespace Heron;

public static class Errors
{
    public static Exception Sealed(string name)
    {
        var error = new InvalidOperationException("This letter is sealed and cannot be opened: " + name);
        return error;
    }

    public static Exception Empty() => new InvalidOperationException("There is nothing in it");
}
""",
    "src/Opener.cs": """\
namespace Heron;

public class Opener
{
    public void Check(string name)
    {
        if (name == "") throw Errors.Empty();
    }

    public void Open(string name)
    {
        if (name == "sealed") throw Errors.Sealed(name);
    }
}
""",
    "src/Tasks/SweepTask.cs": """\
namespace Heron.Tasks;

public class SweepTask : IScheduledTask
{
    private static readonly TimeSpan _saveInterval = TimeSpan.FromMinutes(5);

    public IEnumerable<Trigger> GetTriggers()
    {
        yield return new Trigger { IntervalTicks = TimeSpan.FromHours(6).Ticks };
    }
}

public interface IScheduledTask
{
    IEnumerable<Trigger> GetTriggers();
}
""",
    "src/Tasks/StampTask.cs": """\
namespace Heron.Tasks;

public class StampTask : IScheduledTask
{
    public IEnumerable<Trigger> GetTriggers()
    {
        yield return new Trigger { TimeOfDayTicks = TimeSpan.FromHours(2).Ticks };
    }
}
""",
    "src/HeronOptions.cs": """\
namespace Heron;

public class HeronOptions
{
    public const string SendTimeoutKey = "sendTimeout";
    private int? sendTimeout;

    public int SendTimeout => sendTimeout ?? Defaults.SendTimeout;

    public void Parse(string key, string value)
    {
        SendTimeout = ParseInt32(key, value);
    }

    private static class Keys
    {
        internal const string SendTimeout = "sendTimeout";
    }
}
""",
    "src/Providers/DefaultOptionsProvider.cs": """\
namespace Heron.Providers;

public class DefaultOptionsProvider
{
    public virtual int SendTimeout => 5000;
}
""",
    "src/NoDeliverySlotException.cs": """\
namespace Heron;

public class NoDeliverySlotException : Exception
{
}

public class Router
{
    public void Find(string name)
    {
        if (name == "") throw new NoDeliverySlotException();
    }
}
""",
    "src/Heron.Generators/StampGenerator.cs": """\
namespace Heron.Generators;

public class StampGenerator : IIncrementalGenerator
{
    public void Initialize(IncrementalGeneratorInitializationContext context)
    {
    }
}

public class BoxMaker : ISourceGenerator
{
}
""",
    "src/LetterOffice.cs": """\
namespace Heron;

public class LetterOffice
{
    /// <summary>
    /// Burns all of the letters in the office.
    /// </summary>
    public void BurnLetters()
    {
        Letters.Clear();
    }

    /// <summary>
    /// Lets an endpoint accept parcels that are heavy.
    /// </summary>
    public void AcceptHeavyParcels()
    {
        HeavyParcels = true;
    }
}
""",
    "src/LettersController.cs": """\
namespace Heron;

[ApiController]
[Route("parcels")]
public class ParcelsController : ControllerBase
{
    [HttpPost]
    public IActionResult Post() => Ok();
}
""",
    "src/ILateDeliveryPolicy.cs": """\
namespace Heron;

public interface ILateDeliveryPolicy
{
}

public class Refund : ILateDeliveryPolicy
{
}

public class Apology : ILateDeliveryPolicy
{
}
""",
    "docs/letter-carriers/index.md": "# Carriers\n\nWho carries letters.\n",
    "docs/letter-carriers/pigeon.md": "# Using pigeons\n\nThey fly.\n",
    "docs/letter-carriers/raven.md": "# Using ravens\n\nThey fly, too.\n",
    "docs/letter-carriers/owl/index.md": "# Using owls\n\nAt night.\n",
    "docs/letter-carriers/owl/food.md": "# Feeding owls\n\nWith mice.\n",
    "samples/Basic/Basic.csproj": '<Project Sdk="Microsoft.NET.Sdk.Web"></Project>\n',
    "samples/Stamps/Stamps.csproj": '<Project Sdk="Microsoft.NET.Sdk.Web"></Project>\n',
    "src/Heron.csproj": '<Project Sdk="Microsoft.NET.Sdk.Web"></Project>\n',
    "tests/Heron.Tests/Cases.cs": """\
namespace Heron.Tests;

public class Cases
{
    [Fact]
    public void OpensWhatIsNotSealed() => new Opener().Open("letter");
}
""",
}


@pytest.fixture(scope="module")
def heron(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("heron"), FILES, "heron") as index:
        yield index


def told(index: Index, question: str) -> str:
    return index.ask(question, options=AskOptions()).text


@pytest.mark.parametrize(
    "question", ["In which order do the middlewares run?", "What is the order of the middlewares?"]
)
def test_middlewares_are_listed_in_the_order_in_which_code_uses_them(heron: Index, question: str) -> None:
    answer = told(heron, question)
    assert answer.startswith("**3 middlewares:**")
    assert answer.index("StampMiddleware") < answer.index("LogMiddleware") < answer.index("UseRouting")


def test_error_codes_are_the_enumeration_with_the_name_of_the_product(heron: Index) -> None:
    answer = told(heron, "Which error codes does the gateway have?")
    assert "StampTorn = 2" in answer and "becomes" not in answer
    assert "becomes **404" in told(heron, "Which http status does each error become?")


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("Which grants can a user have?", "BurnLetters"),
        ("Which reasons can a delivery failure have?", "Dog"),
        ("Which colours does a box have?", "Blue"),
        ("Which colours of a wall box are there?", "Blue"),
    ],
)
def test_what_something_may_be_is_an_enumeration_that_is_called_nearly_so(
    heron: Index, question: str, value: str
) -> None:
    assert value in told(heron, question).partition("See also")[0]


def test_a_text_that_a_factory_makes_is_thrown_where_that_is_called(heron: Index) -> None:
    answer = told(heron, 'Why do I get "This letter is sealed and cannot be opened"?')
    assert "throw Errors.Sealed(name)" in answer and "Errors.Empty" not in answer


def test_tests_that_name_a_type_are_told_as_such(heron: Index) -> None:
    answer = told(heron, "Which tests cover Opener?")
    assert "Cases" in answer and "No graph" not in answer


def test_scheduled_tasks_say_how_often_they_run_and_no_other_interval(heron: Index) -> None:
    answer = told(heron, "Which scheduled tasks are there and how often do they run?")
    assert "TimeSpan.FromHours(6)" in answer and "TimeSpan.FromHours(2)" in answer and "FromMinutes" not in answer


def test_the_constant_of_a_port_is_listed_and_no_other_number(heron: Index) -> None:
    answer = told(heron, "On which port does the server listen?")
    assert "DefaultHttpPort = 8096" in answer and "320" not in answer


def test_a_name_that_has_neither_a_word_nor_the_letters_of_another_is_not_suggested(heron: Index) -> None:
    answer = heron.ask("Which OpenTelemetry exporters are configured?", options=AskOptions())
    assert not any("did you mean" in one for one in answer.suggestions), answer.suggestions
    missing = heron.ask("How does it talk to Kubernetes?", options=AskOptions())
    assert "Kubernetes" in missing.reason


def test_the_default_of_a_setting_is_what_a_type_of_defaults_says_and_not_its_own_name(heron: Index) -> None:
    answer = told(heron, "What is the default send timeout?")
    default = answer.partition("**Read in")[0]
    assert "SendTimeout => 5000" in default and 'sendTimeout"' not in default and "ParseInt32" not in default


@pytest.mark.parametrize(
    "question", ["How do I measure how long it takes to send a letter?", 'What does "SendTimeout" in a log mean?']
)
def test_who_measures_or_asks_for_a_meaning_wants_no_setting(heron: Index, question: str) -> None:
    assert "**Default:**" not in told(heron, question)


@pytest.mark.parametrize("question", ["Which sample applications are there?", "List the samples"])
def test_samples_are_the_projects_in_their_folders(heron: Index, question: str) -> None:
    answer = told(heron, question)
    assert answer.startswith("**2 sample projects:**") and "Heron.csproj" not in answer


def test_source_generators_are_what_the_compiler_runs(heron: Index) -> None:
    answer = told(heron, "Which source generators are there and what do they make?")
    assert answer.startswith("**2 source generators:**") and "BoxMaker" in answer


def test_how_any_endpoint_does_something_is_told_by_what_does_it_from_its_comment_on(heron: Index) -> None:
    answer = told(heron, "How do I make an endpoint accept heavy parcels?")
    assert answer.startswith("`LetterOffice.AcceptHeavyParcels`") and "BurnLetters" not in answer.split("\n\n")[1]
    assert "POST /parcels" in told(heron, "How do I call the endpoint for parcels?")


def test_the_error_whose_name_says_when_it_is_thrown_is_told(heron: Index) -> None:
    answer = told(heron, "Which exceptions are thrown when no slot is found?")
    assert "throws **NoDeliverySlotException**" in answer


def test_what_implements_the_interface_whose_name_says_more_is_listed(heron: Index) -> None:
    answer = told(heron, "Which delivery policies are there?")
    assert answer.startswith("**2 delivery policies:**") and "Apology" in answer


@pytest.mark.parametrize("question", ["Which letter carriers are supported?", "Which letter carriers exist?"])
def test_what_is_supported_are_the_pages_of_a_folder_that_is_called_so(heron: Index, question: str) -> None:
    answer = told(heron, question)
    assert answer.startswith("**3 letter carriers:**")
    assert "owl/index.md" in answer and "food.md" not in answer and "letter-carriers/index.md" not in answer
