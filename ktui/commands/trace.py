"""`ktui trace KIND/NAME`: the hops from keystroke to Ready, as a tree of causes."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ktui.commands import UsageError
from ktui.commands.lifecycle import DEFAULT_NAME, Name, find
from ktui.trace_diagram import mermaid
from ktui.trace_table import table
from ktui.trace_tree import without_events

if TYPE_CHECKING:
    from engine.client import Client


def declare(app: typer.Typer) -> None:
    app.command("trace")(trace)


def trace(
    target: Annotated[str, typer.Argument(metavar="KIND/NAME", help="As in deployment/web.")],
    namespace: Annotated[str, typer.Option("--namespace", "-n", help="The object's namespace.")] = "default",
    output: Annotated[Literal["table", "json", "mermaid"], typer.Option("--output", "-o")] = "table",
    events: Annotated[bool, typer.Option("--events", help="Also the writes of Event objects, as JSON always.")] = False,
    all_steps: Annotated[bool, typer.Option("--all", help="In a table, each step, also those that are alike.")] = False,
    name: Name = DEFAULT_NAME,
) -> None:
    """Print the hops from the last write to an object until all had reacted."""
    kind, separator, object_name = target.partition("/")
    if not separator or not kind or not object_name:
        raise UsageError(f'"{target}" is not KIND/NAME, as in deployment/web')
    from ktui.connect import ask

    spans = ask(Path(find(name).kubeconfig), lambda client: spans_of(client, kind, namespace, object_name))
    if not spans:
        raise UsageError(f"no trace of {target} in namespace {namespace}: nobody has written it, or it is too long ago")
    if output == "json":
        print(json.dumps(spans, indent=2))
        return
    shown = spans if events else without_events(spans)
    print(mermaid(shown) if output == "mermaid" else "\n".join(table(shown, fold=not all_steps)))
    if hidden := len(spans) - len(shown):
        print(f"{hidden} spans of Event objects not shown: --events shows them", file=sys.stderr)


async def spans_of(client: Client, kind: str, namespace: str, name: str) -> list[dict[str, Any]]:
    """The trace of the newest write to an object, its kind by any of its names (`deploy`, `deployments.apps`).

    Raises CommandError for a kind that the server does not have, ApiError, ConnectionError.
    """
    from engine.kubectl.discovery import Discovery

    resource = await Discovery().resolve(client, kind)
    query = {"kind": [resource.one], "name": [name]}
    if resource.namespaced:
        query["namespace"] = [namespace]
    answer = await client.request("GET", "/debug/ktui/traces", query=query)
    spans: list[dict[str, Any]] = answer["spans"]
    return spans
