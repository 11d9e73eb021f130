"""`top`: what is used, as far as a metrics server tells it.

Source of the behaviour: kubectl pkg/cmd/top (top_node.go, top_pod.go, metricsutil/metrics_printer.go).
"""

from __future__ import annotations

from engine.api.quantity import Quantity
from engine.api.types import Object
from engine.kubectl.command import Command
from engine.kubectl.errors import CommandError, UsageError
from engine.kubectl.flags import Flag, Type
from engine.kubectl.flagsets import ALL_NAMESPACES, FIELD_SELECTOR, SELECTOR
from engine.kubectl.printers.tabwriter import ColumnWriter
from engine.kubectl.session import Session

GROUP = "metrics.k8s.io"
MEBI = 1024 * 1024


async def _metrics(session: Session, word: str) -> list[Object]:
    """The metrics of nodes or pods. Raises CommandError where there is no metrics server."""
    if len(session.arguments) > 1:
        raise UsageError(f"{word.removesuffix('s')} [NAME | -l label]")
    if session.flags.text("sort-by") not in ("", "cpu", "memory"):
        raise CommandError("--sort-by accepts only cpu or memory")
    if session.arguments and session.flags.text("selector"):
        selector = "--selector" if word == "nodes" else "selector"
        raise CommandError(f"only one of NAME or {selector} can be provided")
    resources = await session.discovery.resources(session.client)
    found = next((r for r in resources if (r.gvr.group, r.plural) == (GROUP, word)), None)
    if found is None:
        raise CommandError("Metrics API not available")
    namespace = "" if session.all_namespaces or not found.namespaced else session.namespace
    if session.arguments:
        return [await session.get(found, session.arguments[0], namespace)]
    selectors = {
        "labelSelector": session.flags.text("selector"),
        "fieldSelector": session.flags.text("field-selector") if "field-selector" in session.flags else "",
    }
    return await session.list(found, namespace, **selectors)


def _amounts(usage: Object) -> list[str]:
    cpu, memory = Quantity.parse(usage.get("cpu", "0")), Quantity.parse(usage.get("memory", "0"))
    return [f"{cpu.milli}m", f"{memory.value // MEBI}Mi"]


async def _nodes(session: Session) -> None:
    rows: list[list[str]] = []
    for one in await _metrics(session, "nodes"):
        node = await session.get(await session.resolve("nodes"), one["metadata"]["name"])
        allocatable = (node.get("status") or {}).get("allocatable") or {}
        cpu, memory = _amounts(one["usage"])
        shares = [_share(one["usage"], allocatable, name) for name in ("cpu", "memory")]
        rows.append([one["metadata"]["name"], cpu, shares[0], memory, shares[1]])
    _show(session, ["NAME", "CPU(cores)", "CPU(%)", "MEMORY(bytes)", "MEMORY(%)"], rows)


def _share(usage: Object, allocatable: Object, name: str) -> str:
    whole = Quantity.parse(allocatable.get(name, "0")).milli
    return f"{Quantity.parse(usage.get(name, '0')).milli * 100 // whole}%" if whole else "<unknown>"


async def _pods(session: Session) -> None:
    rows: list[list[str]] = []
    containers = session.flags.on("containers")
    for one in await _metrics(session, "pods"):
        place = [one["metadata"]["namespace"]] if session.all_namespaces else []
        name = one["metadata"]["name"]
        if containers:
            rows += [[*place, name, c["name"], *_amounts(c["usage"])] for c in one.get("containers") or ()]
            continue
        cpu = sum(Quantity.parse(c["usage"].get("cpu", "0")).milli for c in one.get("containers") or ())
        memory = sum(Quantity.parse(c["usage"].get("memory", "0")).value for c in one.get("containers") or ())
        rows.append([*place, name, f"{cpu}m", f"{memory // MEBI}Mi"])
    first = ["NAMESPACE"] if session.all_namespaces else []
    names = ["POD", "NAME"] if containers else ["NAME"]
    _show(session, [*first, *names, "CPU(cores)", "MEMORY(bytes)"], rows)


def _show(session: Session, headers: list[str], rows: list[list[str]]) -> None:
    if not rows:
        session.err("No resources found")
        return
    lines = rows if session.flags.on("no-headers") else [headers, *rows]
    for line in ColumnWriter().lines(lines):
        session.out(line)


_FLAGS = (
    *SELECTOR,
    Flag("no-headers", Type.BOOL, help="Leave out the headers."),
    Flag("show-swap", Type.BOOL, help="Swap in use, where nodes have some."),
    Flag("sort-by", help="cpu or memory."),
    Flag("use-protocol-buffers", Type.BOOL, default=True, help="Ask for protocol buffers."),
)
NODE = Command(
    name="node",
    short="Display resource (CPU/memory) usage of nodes",
    usage="[NAME | -l label]",
    run=_nodes,
    aliases=("nodes", "no"),
    flags=(*_FLAGS, Flag("show-capacity", Type.BOOL, help="Shares of the capacity.")),
)
POD = Command(
    name="pod",
    short="Display resource (CPU/memory) usage of pods",
    usage="[NAME | -l label]",
    run=_pods,
    aliases=("pods", "po"),
    flags=(
        *_FLAGS,
        *ALL_NAMESPACES,
        *FIELD_SELECTOR,
        Flag("containers", Type.BOOL, help="Each container."),
        Flag("sum", Type.BOOL, help="The sum of all."),
    ),
)
COMMAND = Command(name="top", short="Display resource (CPU/memory) usage", usage="[flags]", children=(NODE, POD))
