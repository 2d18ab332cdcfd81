"""The options and commands of a command line are read as the libraries of each language declare them."""

from __future__ import annotations

from operator import itemgetter

import pytest

from rag_assets.languages.command_line import arguments_declared, commands_declared, options_declared

CLAP = """\
#[derive(Subcommand, Debug)]
#[command(infer_subcommands = true)]
pub enum Cmd {
    /// Sends what is open (Later)
    #[command(subcommand)]
    SendAll(send::Cmd),
    Wrapped {
        Year(i32),
    },
    #[command(flatten)]
    Client(client::Cmd),
    #[command(
        name = "__internal",
        hide = true
    )]
    Internal,
    #[command(name = "ls")]
    List,
}

struct Send {
    /// How many
    #[arg(long, short)]
    pub dry_run: bool,
    #[arg(long = "to", env)]
    to_whom: String,
    #[arg(short)]
    quiet: bool,
}
"""


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (
            'parser.add_argument("-p", "--port", type=int)\nparser.add_argument("file")\nparser.add_argument("-q")\n',
            ["--port", "-q"],
        ),
        (
            '@click.option(\n    "pks", "-k", "--primary-key", help="With -- two"\n)\n@click.argument("path")\n',
            ["--primary-key"],
        ),
        ('cmd.Flags().StringVarP(&name, "name", "n", "", "of whom")\nflag.Int("port", 80, "")\n', ["--name", "--port"]),
        (
            'f := pflag.NewFlagSet("shop", pflag.ExitOnError)\n\tf.Bool("open", false, "")\n}\n\tf.String("no", "")\n',
            ["--open"],
        ),
        ('&cli.StringFlag{Name: "config"}', ["--config"]),
        ("program.option('-p, --port <number>', 'where')", ["--port"]),
        ('new Option<int>(new[] { "-d", "--delay" }, () => 3)', ["--delay"]),
        ('new System.CommandLine.Option<bool>("--force")', ["--force"]),
        ('if (String.Equals(args[index], "--to", StringComparison.OrdinalIgnoreCase)) Send();', ["--to"]),
        ('[CommandOption("-c|--count <COUNT>")]\n[Option(\'v\', "verbose")]', ["--count", "--verbose"]),
        ('@Flag(help: "More (a lot).") var verbose = false', ["--verbose"]),
        ('spark.read.option("header", "true")\nArg::new("x").long("to-file")', ["--to-file"]),
        (CLAP, ["--dry-run", "--to"]),
        ('const string Log = "--log-file";\n[Option(Names.Log, "Where to", "-l")]', ["--log-file"]),
        ('switch (args[i]) { case "-s": case "/soft": case "-soft":\n  break;\n case "Deep": break; }', ["-soft"]),
        (
            'if (args[0] == "--quiet" || args.Contains("-v"))\nstrcmp(argv[1], "--port") == 0',
            ["--quiet", "-v", "--port"],
        ),
    ],
)
def test_options_are_read_as_they_are_typed(text: str, options: list[str]) -> None:
    assert [name for name, _ in sorted(options_declared(text), key=itemgetter(1))] == options


def test_arguments_are_read_beside_options() -> None:
    text = 'parser.add_argument("file")\nparser.add_argument("--port")\n'
    assert {name for name, _ in arguments_declared(text)} == {"file", "--port"}


@pytest.mark.parametrize(
    ("language", "text", "commands"),
    [
        ("rust", CLAP, ["send-all", "wrapped", "ls"]),
        ("rust", 'Command::new("git").arg("log");\nCommand::new("add").about("Adds")', ["add"]),
        ("go", 'jose.Key{Use: "sig"}', []),
        (
            "ruby",
            '  desc "roll-back [VERSION]", "Go back"\n  desc "dig", "Dig", hide: true\ndesc "Builds"\ntask :build\n',
            ["roll-back"],
        ),
        ("go", 'exec.Command("git")\n&cobra.Command{Use: "serve [port]"}', ["serve"]),
        (
            "python",
            '@cli.command("add-user")\ndef add(): ...\n@cli.command()\n@click.option("-x")\ndef drop_user(): ...\n',
            ["add-user", "drop-user"],
        ),
        ("python", 'subparsers.add_parser("run", help="Runs")', ["run"]),
        ("typescript", 'program.command("build <path>")', ["build"]),
        (
            "csharp",
            'new Command("push", "Pushes")\napp.Command("pull", c => {})\n[Verb("log")]',
            ["push", "pull", "log"],
        ),
    ],
)
def test_commands_are_read_as_they_are_typed(language: str, text: str, commands: list[str]) -> None:
    assert [name for name, _ in sorted(commands_declared(text, language), key=itemgetter(1))] == commands
