"""`ktui schedule`: why a Pod runs where it runs, where Pods would run, what would make them fit, how many more do."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ktui.commands import UsageError
from ktui.commands.lifecycle import DEFAULT_NAME, Name, find

if TYPE_CHECKING:
    from engine.client import Client
    from engine.scheduler import SchedulerConfiguration
    from ktui.report import Section
    from ktui.whatif.question import WhatIf
    from ktui.whatif.running import RunningCluster

Json = dict[str, Any]
Output = Literal["table", "json", "markdown"]

DECISION = "/debug/ktui/views/scheduler/decision"


def declare(app: typer.Typer) -> None:
    app.command("schedule")(schedule)


@dataclass(frozen=True, slots=True)
class Look:
    """How answers are shown."""

    output: Output
    nodes: int
    details: bool

    def show(self, value: Any, sections: list[Section]) -> None:
        from ktui.report import markdown, plain

        if self.output == "json":
            print(json.dumps(value, indent=2))
        else:
            print(markdown(sections) if self.output == "markdown" else plain(sections))


def schedule(
    target: Annotated[str, typer.Argument(metavar="[KIND/NAME]", help="As in pod/web-0 or deployment/web.")] = "",
    namespace: Annotated[str, typer.Option("--namespace", "-n", help="The namespace.")] = "default",
    filename: Annotated[
        list[str] | None, typer.Option("--filename", "-f", help="Pods or workloads to place; - for standard input.")
    ] = None,
    cluster: Annotated[
        list[str] | None,
        typer.Option(
            help="A dump (kubectl get nodes,pods,... -A -o yaml, or kubectl cluster-info dump -A) to place them on. "
            "Default: the running cluster."
        ),
    ] = None,
    config: Annotated[
        str, typer.Option(metavar="FILE", help="A KubeSchedulerConfiguration; default: the cluster's own.")
    ] = "",
    compare_config: Annotated[str, typer.Option(metavar="FILE", help="Another, to show what differs.")] = "",
    count: Annotated[bool, typer.Option("--count", help="How many more of the Pod fit, what runs out first.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="Where --count ends.")] = 10_000,
    seed: Annotated[str, typer.Option(help="Breaks ties: the same seed, the same nodes.")] = "1",
    nodes: Annotated[int, typer.Option(min=1, help="So many nodes in a table.")] = 10,
    details: Annotated[bool, typer.Option("--details", help="All tables of each Pod and attempt.")] = False,
    output: Annotated[Output, typer.Option("--output", "-o")] = "table",
    name: Name = DEFAULT_NAME,
) -> None:
    """Explain the scheduler's decisions, or ask where Pods would run. A question binds nothing.

    KIND/NAME alone shows the newest decision on a Pod, or on each Pod of a workload. With --cluster, --config or
    --compare-config its Pods are taken off their nodes in a copy of the cluster and placed again. -f places Pods and
    workloads that are not there yet; --cluster alone those that are pending there.
    """
    if count and (compare_config or not filename):
        raise UsageError("--count counts what -f names, and by one configuration")
    if target and filename:
        raise UsageError("either KIND/NAME or -f")
    if [*(filename or []), *(cluster or [])].count("-") > 1:
        raise UsageError("standard input is either the dump or the Pods, and is read once")
    look = Look(output, nodes, details)
    if not (filename or cluster or config or compare_config):
        if not target:
            raise UsageError("name a KIND/NAME, as in pod/web-0, or files of Pods with -f")
        explain(target, namespace, name, look)
        return
    from ktui.whatif.question import WhatIf, read_dump, read_objects

    there = None if cluster else _running_cluster(name)
    wanted = read_objects(filename or [])
    asked = WhatIf(
        read_dump(cluster or []) if there is None else there.objects,
        [obj for _, obj in wanted],
        target=target,
        namespace=namespace,
        seed=seed,
        files=[file for file, _ in wanted],
        version=there.version if there is not None else "",
    )
    by = _read_by(config) if config else _own_by(there)
    if compare_config:
        _compare(asked, by, _read_by(compare_config), look)
    else:
        _place(asked, by, limit if count else 0, look)
    if there is None:
        _warn_of_dump([*asked.objects, *asked.wanted])


def _warn_of_dump(objects: list[Json]) -> None:
    """Say what a dump, and what is placed on it, speaks of and does not have."""
    from engine.scheduler.whatif.dumps import lacking

    if kinds := lacking(objects):
        message = f"the dump has no {', '.join(kinds)}: it is decided as if the cluster had none"
        print(f"warning: {message} (docs/scheduler.md names what to dump)", file=sys.stderr)


def _running_cluster(name: str) -> RunningCluster:
    from ktui.connect import ask
    from ktui.whatif.running import read_running

    return ask(Path(find(name).kubeconfig), read_running)


# -- what if


@dataclass(frozen=True, slots=True)
class By:
    """A configuration that decides, and what it is called."""

    name: str
    configuration: SchedulerConfiguration


def _read_by(file: str) -> By:
    """Tells what of the file has no effect. Raises UsageError."""
    from ktui.whatif.question import read_configuration

    configuration = read_configuration(file)
    for note in configuration.notes:
        print(f"{file}: {note}", file=sys.stderr)
    return By(Path(file).name, configuration)


def _own_by(there: RunningCluster | None) -> By:
    """What the running cluster decides by; a dump does not tell."""
    from engine.scheduler import SchedulerConfiguration

    if there is not None and there.configuration is not None:
        return By("the cluster's own", there.configuration)
    if there is not None:
        print("no scheduler of the cluster tells its configuration: the default one decides", file=sys.stderr)
    return By("the default", SchedulerConfiguration())


def _place(asked: WhatIf, by: By, limit: int, look: Look) -> None:
    from ktui.whatif.report import capacity, placements

    configuration = by.configuration
    if limit:
        found = asyncio.run(asked.count(configuration, limit))
        look.show(found, capacity(found))
        return
    outcomes = [outcome.to_json() for outcome in asyncio.run(asked.place(configuration))]
    look.show({"pods": outcomes}, placements(outcomes, nodes=look.nodes, details=look.details))


def _compare(asked: WhatIf, before: By, after: By, look: Look) -> None:
    from ktui.whatif.report import comparison

    pairs = asyncio.run(asked.compare(before.configuration, after.configuration))
    look.show({"pods": pairs}, comparison(pairs, before.name, after.name))


# -- what was decided


def explain(target: str, namespace: str, name: str, look: Look) -> None:
    """Show the decisions that the running scheduler keeps on the Pods of an object."""
    from ktui.connect import ask
    from ktui.report import Section
    from ktui.whatif.decisions import SUMMARY, sections, summary, waiting
    from ktui.whatif.question import parse_target

    kind, object_name = parse_target(target)
    views = ask(Path(find(name).kubeconfig), lambda client: views_of(client, kind, object_name, namespace=namespace))
    if not any(view["decisions"] or view["queue"] for view in views):
        from ktui.whatif.running import why_undecided

        why = ask(Path(find(name).kubeconfig), lambda client: why_undecided(client, kind, object_name, namespace))
        raise UsageError(f"no decision on {target} in namespace {namespace} is kept: {why}")
    made: list[Section] = []
    if len(views) > 1:
        rows = [summary(view["decisions"][0]) for view in views if view["decisions"]]
        made.append(Section(f"{len(views)} Pods of {target}", [], SUMMARY, list(rows), level=1))
    for view in views:
        made += waiting(view)
        if view["decisions"] and (len(views) == 1 or look.details):
            made += sections(view["decisions"][0], nodes=look.nodes, details=look.details)
            for earlier in view["decisions"][1:] if look.details else ():
                made += sections(earlier, nodes=look.nodes, details=look.details)
        if len(view["decisions"]) > 1 and len(views) == 1:
            older = [summary(decision) for decision in view["decisions"][1:]]
            made.append(Section("EARLIER ATTEMPTS", [], SUMMARY, list(older), level=3))
    look.show(views[0] if len(views) == 1 else {"pods": views}, made)


async def views_of(client: Client, kind: str, name: str, *, namespace: str) -> list[Json]:
    """What the scheduler keeps on each Pod that is meant. Raises ApiError, ConnectionError."""
    if kind == "Pod":
        keys = [f"{namespace}/{name}"]
    else:
        from ktui.whatif.running import pod_keys

        keys = await pod_keys(client, kind, name, namespace=namespace)
    return [await client.request("GET", DECISION, query={"pod": [key]}) for key in keys]
