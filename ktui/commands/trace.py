"""`ktui trace KIND/NAME`: the hops from keystroke to Ready, as a tree of causes."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from ktui.commands import UsageError
from ktui.commands.lifecycle import DEFAULT_NAME, Name, find
from ktui.trace_tree import mermaid, table


def declare(app: typer.Typer) -> None:
    app.command("trace")(trace)


def trace(
    target: Annotated[str, typer.Argument(metavar="KIND/NAME", help="As in deployment/web.")],
    namespace: Annotated[str, typer.Option("--namespace", "-n", help="The object's namespace.")] = "default",
    output: Annotated[Literal["table", "json", "mermaid"], typer.Option("--output", "-o")] = "table",
    events: Annotated[bool, typer.Option("--events", help="In a table, also the writes of Event objects.")] = False,
    name: Name = DEFAULT_NAME,
) -> None:
    """Print the hops from the last write to an object until all had reacted."""
    kind, separator, object_name = target.partition("/")
    if not separator or not kind or not object_name:
        raise UsageError(f'"{target}" is not KIND/NAME, as in deployment/web')
    from ktui.connect import fetch

    running = find(name)
    query = {"kind": [kind], "namespace": [namespace], "name": [object_name]}
    spans = fetch(Path(running.kubeconfig), "/debug/ktui/traces", query)["spans"]
    if not spans:
        raise UsageError(f"no trace of {target} in namespace {namespace}: nobody has written it, or it is too long ago")
    match output:
        case "json":
            print(json.dumps(spans, indent=2))
        case "mermaid":
            print(mermaid(spans))
        case _:
            shown = spans if events else [span for span in spans if not span["object"].startswith("event/")]
            print("\n".join(table(shown)))
            if hidden := len(spans) - len(shown):
                print(f"{hidden} spans of Event objects not shown: --events shows them", file=sys.stderr)
