"""`ktui up --detach`: a cluster that outlives the command. One of that name that runs already is used as it is, and
what of it is not as asked is told."""

from __future__ import annotations

import sys
import time
from collections.abc import Collection, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import typer

from engine.api.schema import UnknownVersionError, resolve_version
from engine.folder import ClusterFolder, Running
from ktui.commands.lifecycle import DEFAULT_NAME, tell_running
from ktui.engine_process import StartError, UpOptions, spawn
from ktui.nodes_ready import wait_for_nodes

LOOK_SECONDS = 0.1  # between looks for an engine that is starting


def start(options: UpOptions, given: Collection[str], wait: float) -> None:
    """Return once the nodes are Ready, or after `wait` seconds. `given` are the fields that a person has said.

    Raises typer.Exit for one that does not come up, or takes no writes.
    """
    folder = ClusterFolder.named(options.name)
    running, is_new = _find(folder), False
    if running is None:
        try:
            running, is_new = spawn(options.arguments()), True
        except StartError as error:
            running = _find(folder)  # another may have been quicker
            if running is None:
                print(error if str(error).startswith("Usage: ") else f"error: {error}", file=sys.stderr)
                raise typer.Exit(1) from None
    asked = _by_name(options.arguments() if is_new else running.asked)
    nodes, trouble = int(asked.get("nodes", options.nodes)), ""
    if wait and nodes and asked.get("components", "all") == "all":  # with fewer parts nodes may never be Ready
        trouble = wait_for_nodes(Path(running.kubeconfig), nodes, wait, lambda text: print(text, file=sys.stderr))
    tell_running(running, is_new=is_new)
    if not is_new:
        _warn(running, options, given)
    if trouble:
        print(f"error: cluster {options.name} takes no writes: {trouble}", file=sys.stderr)
        raise typer.Exit(1)


def _find(folder: ClusterFolder) -> Running | None:
    """The engine that runs; one that another process has begun to start is waited for."""
    while (running := folder.find_running()) is None and folder.is_held():
        time.sleep(LOOK_SECONDS)
    return running


def _warn(running: Running, options: UpOptions, given: Collection[str]) -> None:
    differs = list(_differences(running, options, given))
    for difference in differs:
        print(f"warning: {difference}", file=sys.stderr)
    if differs:
        named = "" if options.name == DEFAULT_NAME else f" --name {options.name}"
        print(f'To start it anew: "ktui down{named}", then this again.', file=sys.stderr)


def _differences(running: Running, options: UpOptions, given: Collection[str]) -> Iterator[str]:
    """What a person has asked for and is not so."""
    has, wants = _by_name(running.asked), _by_name(options.arguments())
    port = urlsplit(running.address).port
    for field in given:
        option = field.replace("_", "-")
        is_now = has.get(option)
        is_so = is_now == wants.get(option)
        if option == "port":
            is_so, is_now = options.port in (None, 0, port), str(port)
        elif option == "kubernetes-version":
            is_now = running.kubernetes_version
            is_so = is_now == _version(options.kubernetes_version)
        if not is_so:
            asked = f"--{option}={wants[option]}" if wants.get(option) else f"--{option}"
            yield f"{asked} was asked for, and it runs {f'with {is_now}' if is_now else 'without that'}"


def _version(wanted: str) -> str:
    try:
        return f"v{resolve_version(wanted)}"
    except UnknownVersionError:
        return wanted


def _by_name(words: Collection[str]) -> dict[str, str]:
    """Options by their names without dashes; the value of a flag is empty."""
    return {name.removeprefix("--"): value for name, _, value in (word.partition("=") for word in words)}
