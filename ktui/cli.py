"""The command line: declares the commands; what each does is under `ktui/commands/`.

Streams and exit codes follow kubectl: results on stdout, everything else on stderr; 0 for success, 1 for a failure
whose message says what to do. Imports of what only one command needs stay inside it, so that `ktui get` need not load
the engine.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from engine.folder import FolderError
from ktui.commands import UsageError, lifecycle, schedule, store, trace

app = typer.Typer(
    name="ktui",
    help="A Kubernetes control plane that fits in a terminal.",
    no_args_is_help=False,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
lifecycle.declare(app)
trace.declare(app)
schedule.declare(app)
store.declare(app)


@app.callback(invoke_without_command=True)
def screen(
    context: typer.Context,
    name: Annotated[str, typer.Option(help="The cluster to start or attach to.")] = lifecycle.DEFAULT_NAME,
    profile: Annotated[str, typer.Option(help="Latencies of a cluster that this starts.")] = "realistic",
    ephemeral: Annotated[bool, typer.Option("--ephemeral", help="Keep nothing of a cluster that this starts.")] = False,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Start the cluster, or attach to it where it runs, and show the screen."""
    if version:
        typer.echo(f"ktui {lifecycle.ktui_version()}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        from ktui.commands.screen import show

        raise typer.Exit(show(name=name, profile=profile, ephemeral=ephemeral))


def main() -> None:
    """The console command `ktui`."""
    try:
        name, rest = take_name(sys.argv[1:])
        if not _is_own(rest):
            from ktui.commands import kubectl

            if rest[0] in kubectl.VERBS:
                # kubectl's verbs parse their own flags, the way kubectl does.
                sys.exit(kubectl.run(rest, name=name or lifecycle.DEFAULT_NAME))
            kubectl.declare(app)
        app()
    except (UsageError, FolderError) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)


def _is_own(words: list[str]) -> bool:
    """Whether the words are for ktui's own commands alone, so that kubectl's need not be loaded."""
    own = {
        command.name or (command.callback.__name__ if command.callback else "") for command in app.registered_commands
    }
    own |= {group.name for group in app.registered_groups if group.name}
    return not words or words[0] in own or (words[0].startswith("-") and not {"-h", "--help"} & set(words))


def take_name(words: list[str]) -> tuple[str, list[str]]:
    """The cluster that `--name` names in front of a verb, and the words after it."""
    if words and words[0].startswith("--name="):
        return words[0].partition("=")[2], words[1:]
    if len(words) > 1 and words[0] == "--name":
        return words[1], words[2:]
    return "", words
