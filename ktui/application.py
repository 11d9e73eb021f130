"""ktui's own commands, declared; what each does is under `ktui/commands/`.

Imports of what only one command needs stay inside it.
"""

from __future__ import annotations

from typing import Annotated

import typer

from ktui.commands import keys, lifecycle, schedule, store, trace, web

app = typer.Typer(
    name="ktui",
    help="A Kubernetes control plane that fits in a terminal.",
    no_args_is_help=False,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # its table cuts the names of options at 80 columns
    context_settings={"help_option_names": ["-h", "--help"]},
)
lifecycle.declare(app)
trace.declare(app)
schedule.declare(app)
store.declare(app)
keys.declare(app)
web.declare(app)


@app.callback(invoke_without_command=True)
def show_screen(
    context: typer.Context,
    name: Annotated[str, typer.Option(help="The cluster to start or attach to.")] = lifecycle.DEFAULT_NAME,
    profile: Annotated[str, typer.Option(help="Latencies of a cluster that this starts.")] = "realistic",
    ephemeral: Annotated[bool, typer.Option("--ephemeral", help="Keep nothing of a cluster that this starts.")] = False,
    screen: Annotated[str, typer.Option(help="The screen to begin with: flow, objects, store, ...")] = "",
    attach: Annotated[
        str, typer.Option(metavar="URL", help="A server of ktui, reached with the kubeconfig's credentials.")
    ] = "",
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Start the cluster, or attach to it where it runs, and show the screen."""
    if version:
        typer.echo(f"ktui {lifecycle.ktui_version()}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        from ktui.commands.screen import show

        raise typer.Exit(show(name=name, profile=profile, ephemeral=ephemeral, screen=screen, attach=attach))


def run(words: list[str]) -> None:
    """Do one of ktui's own commands."""
    if not _is_own(words):
        from ktui.commands import kubectl

        kubectl.declare(app)
    app(words)


def _is_own(words: list[str]) -> bool:
    """Whether the words are for ktui's own commands alone, so that kubectl's need not be loaded."""
    own = {
        command.name or (command.callback.__name__ if command.callback else "") for command in app.registered_commands
    }
    own |= {group.name for group in app.registered_groups if group.name}
    return not words or words[0] in own or (words[0].startswith("-") and not {"-h", "--help"} & set(words))
