"""kubectl's verbs on a running cluster: `ktui get pods` is `kubectl get pods` with the cluster's kubeconfig."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import typer

from engine.kubectl.main import run as run_kubectl
from engine.kubectl.tree import ROOT
from ktui.commands.lifecycle import find

VERBS = {name: command.short for command in ROOT.children for name in (command.name, *command.aliases)}
PANEL = "kubectl's words"


def declare(app: typer.Typer) -> None:
    """List the verbs in `ktui --help`; they are run before typer sees their flags."""
    for command in ROOT.children:
        app.command(command.name, help=command.short, rich_help_panel=PANEL)(_never_called)


def _never_called() -> None:
    raise AssertionError("kubectl's verbs are dispatched by `ktui.cli.main`")


def run(argv: Sequence[str], *, name: str) -> int:
    """Do one command; returns kubectl's exit code. Raises UsageError where the cluster does not run."""
    environment = dict(os.environ)
    if not any(word == "--kubeconfig" or word.startswith("--kubeconfig=") for word in argv):
        # A cluster of ours, never the one that KUBECONFIG happens to name: `ktui delete` must not reach production.
        environment["KUBECONFIG"] = str(Path(find(name).kubeconfig)) if _needs_cluster(argv) else ""
    return asyncio.run(
        run_kubectl(argv, stdin=sys.stdin, stdout=sys.stdout, stderr=sys.stderr, environment=environment)
    )


def _needs_cluster(argv: Sequence[str]) -> bool:
    return not ({"-h", "--help"} & set(argv))
