"""kubectl's verbs on a running cluster: `ktui get pods` is `kubectl get pods` with the cluster's kubeconfig."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from engine.kubectl.command import find, first_word
from engine.kubectl.errors import InterruptedWaiting
from engine.kubectl.flagsets import GLOBAL
from engine.kubectl.tree import ROOT
from ktui import interruptible, stopped_time
from ktui.commands import UsageError

if TYPE_CHECKING:
    import typer

VERBS = {name: command.short for command in ROOT.children for name in (command.name, *command.aliases)}
DEFAULT_NAME = "default"
PANEL = "kubectl's words"
ON_FILES = frozenset(("kuberc", "kustomize"))  # they work on files alone


def declare(app: typer.Typer) -> None:
    """List the verbs in `ktui --help`; they are run before typer sees their flags."""
    for command in ROOT.children:
        app.command(command.name, help=command.short, rich_help_panel=PANEL)(_never_called)


def _never_called() -> None:
    raise AssertionError("kubectl's verbs are dispatched by `ktui.cli.main`")


def verb_first(words: Sequence[str]) -> list[str]:
    """kubectl's words with the verb before the flags that every verb takes, where such flags stand in front of one."""
    at = first_word(words, GLOBAL) if words and words[0].startswith("-") else None
    if at is None or words[at] not in VERBS:
        return list(words)
    return [words[at], *words[:at], *words[at + 1 :]]


def run(argv: Sequence[str], *, name: str) -> int:
    """Do one command; returns kubectl's exit code. Raises UsageError where the cluster does not run."""
    from engine.kubectl.main import run as run_kubectl

    environment, ours = dict(os.environ), ""
    if not any(word == "--kubeconfig" or word.startswith("--kubeconfig=") for word in argv):
        # A cluster of ours, never the one that KUBECONFIG happens to name: `ktui delete` must not reach production.
        environment["KUBECONFIG"] = ours = _kubeconfig(name) if _needs_cluster(argv) else ""
    work = run_kubectl(argv, stdin=sys.stdin, stdout=sys.stdout, stderr=sys.stderr, environment=environment)
    try:
        return interruptible.run(stopped_time.told_of(work, ours) if ours and argv[0] in stopped_time.WAITING else work)
    except KeyboardInterrupt as interrupt:
        if isinstance(interrupt.__cause__, InterruptedWaiting):
            return 1
        return find(ROOT, argv, program="ktui", global_flags=GLOBAL).command.interrupted


def _needs_cluster(argv: Sequence[str]) -> bool:
    return not ({"-h", "--help"} & set(argv)) and (not argv or argv[0] not in ON_FILES)


def _kubeconfig(name: str) -> str:
    """The kubeconfig of a running cluster. Raises UsageError if there is none."""
    from engine.folder import ClusterFolder, FolderError

    name = name or DEFAULT_NAME
    try:
        running = ClusterFolder.named(name).find_running()
    except FolderError as error:
        raise UsageError(str(error)) from error
    if running is None:
        from ktui.commands import lifecycle  # which loads more than a verb needs

        running = lifecycle.find(name)
    return str(Path(running.kubeconfig))
