"""`top`: what is used, as far as a metrics server tells it.

Source of the behaviour: kubectl pkg/cmd/top (top_node.go, top_pod.go), pkg/metricsutil (metrics_printer.go,
metrics_resource_sorter.go).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from engine.api.errors import ApiError
from engine.api.golang.duration import duration_text
from engine.api.quantity import Quantity
from engine.api.resource_metrics import GROUP, NODE_METRICS, POD_METRICS, VERSION
from engine.api.selectors import FieldSelector, LabelSelector
from engine.api.types import GVR, NODES, PODS, Object
from engine.kubectl.command import Command
from engine.kubectl.errors import CommandError, UsageError
from engine.kubectl.flags import Flag, Type
from engine.kubectl.flagsets import ALL_NAMESPACES, FIELD_SELECTOR, SELECTOR
from engine.kubectl.printers.tabwriter import TabWriter
from engine.kubectl.session import Session

_MEBI = 1024 * 1024
_CREATION_DELAY = 120.0  # seconds for which a Pod may be without metrics (metricsCreationDelay)
_UNKNOWN = "<unknown>"
_LINE = "________"
_HEADS = {"cpu": "CPU(cores)", "memory": "MEMORY(bytes)", "swap": "SWAP(bytes)"}
_SHARES = {"cpu": "CPU(%)", "memory": "MEMORY(%)", "swap": "SWAP(%)"}

_Used = Mapping[str, Quantity]


async def _metrics(session: Session, gvr: GVR, namespace: str | None) -> list[Object]:
    """Raises CommandError where there is no metrics server. Fields are those of the Pods: metrics have none but where
    they are."""
    word = gvr.resource
    if len(session.arguments) > 1:
        raise UsageError(f"{word.removesuffix('s')} [NAME | -l label]")
    if session.flags.text("sort-by") not in ("", "cpu", "memory"):
        raise CommandError("--sort-by accepts only cpu or memory")
    selectors = _selectors(session)
    if session.arguments and any(selectors.values()):
        raise CommandError(f"only one of NAME or {'--selector' if gvr == NODE_METRICS else 'selector'} can be provided")
    groups = (await session.request("GET", "/apis")).get("groups") or ()
    served = {each["groupVersion"] for group in groups for each in group["versions"]}
    if f"{GROUP}/{VERSION}" not in served:
        raise CommandError("Metrics API not available")
    if session.arguments:
        return [await session.request("GET", gvr.path(namespace, session.arguments[0]))]
    measured = await _items(session, gvr, namespace, {**selectors, "fieldSelector": ""})
    if not selectors["fieldSelector"]:
        return measured
    wanted = {_place(pod) for pod in await _items(session, PODS, namespace, selectors)}
    return [each for each in measured if _place(each) in wanted]


def _place(obj: Object) -> tuple[str, str]:
    return obj["metadata"]["namespace"], obj["metadata"]["name"]


def _selectors(session: Session) -> dict[str, str]:
    """Raises CommandError for one that is none, which no server is asked about."""
    labels = session.flags.text("selector")
    fields = session.flags.text("field-selector") if "field-selector" in session.flags else ""
    try:
        LabelSelector.parse(labels)
        FieldSelector.parse(fields)
    except ApiError as error:
        raise CommandError(error.message) from error
    return {"labelSelector": labels, "fieldSelector": fields}


async def _items(session: Session, gvr: GVR, namespace: str | None, query: Mapping[str, str]) -> list[Object]:
    found = await session.request("GET", gvr.path(namespace), query=query)
    return list(found.get("items") or ())


def _resources(session: Session) -> list[str]:
    return ["cpu", "memory", *(["swap"] if session.flags.on("show-swap") else [])]


def _used(usage: Mapping[str, str], resources: Iterable[str]) -> dict[str, Quantity]:
    return {resource: Quantity.parse(usage.get(resource, "0")) for resource in resources}


def _total(parts: Iterable[_Used], resources: Iterable[str]) -> dict[str, Quantity]:
    parts = list(parts)
    return {resource: sum((part[resource] for part in parts), Quantity()) for resource in resources}


def _amount(resource: str, used: Quantity) -> str:
    return f"{used.milli}m" if resource == "cpu" else f"{used.value // _MEBI}Mi"


def _amounts(used: _Used) -> list[str]:
    return [_amount(resource, amount) for resource, amount in used.items()]


def _by_use(used: _Used, by: str) -> int:
    """The most first."""
    return -(used[by].milli if by == "cpu" else used[by].value)


# -- nodes


async def _nodes(session: Session) -> None:
    measured = await _metrics(session, NODE_METRICS, None)
    if not measured:
        raise CommandError("metrics not available yet")
    if session.arguments:
        nodes = [await session.request("GET", NODES.path(None, session.arguments[0]))]
    else:
        nodes = await _items(session, NODES, None, {"labelSelector": session.flags.text("selector")})
    resources, by = _resources(session), session.flags.text("sort-by")
    whole = {node["metadata"]["name"]: _whole(session, node) for node in nodes}
    used = {one["metadata"]["name"]: _used(one["usage"], resources) for one in measured}
    rows = [["NAME", *(head for resource in resources for head in (_HEADS[resource], _SHARES[resource]))]]
    names = sorted(used, key=lambda name: (_by_use(used[name], by), "") if by else (0, name))
    for name in names:
        cells = [cell for each in used[name].items() for cell in _share(*each, whole.get(name))]
        rows.append([name, *cells])
    rows += [[name, *[_UNKNOWN] * 2 * len(resources)] for name in sorted(whole.keys() - used.keys())]
    _show(session, rows)


def _whole(session: Session, node: Object) -> dict[str, str]:
    """What a node has of each resource; "" for none that it tells of."""
    status = node.get("status") or {}
    found = dict(status.get("capacity" if session.flags.on("show-capacity") else "allocatable") or {})
    if session.flags.on("show-swap"):
        swap = ((status.get("nodeInfo") or {}).get("swap") or {}).get("capacity")
        found["swap"] = "" if swap is None else str(swap)
    return found


def _share(resource: str, used: Quantity, whole: Mapping[str, str] | None) -> list[str]:
    if whole is None or resource not in whole:
        return [_amount(resource, used)]
    if not whole[resource]:
        return [_UNKNOWN, _UNKNOWN]
    available = Quantity.parse(whole[resource]).milli
    percent = int(used.milli / available * 100) if available else 0
    return [_amount(resource, used), f"{percent}%"]


# -- Pods


async def _pods(session: Session) -> None:
    everywhere = session.all_namespaces
    measured = await _metrics(session, POD_METRICS, None if everywhere else session.namespace)
    if not measured:
        await _explain_nothing(session)
        session.err("No resources found" if everywhere else f"No resources found in {session.namespace} namespace.")
        return
    containers, resources = session.flags.on("containers"), _resources(session)
    heads = [_HEADS[resource] for resource in resources]
    rows = [[*(["NAMESPACE"] if everywhere else []), *(["POD"] if containers else []), "NAME", *heads]]
    totals = []
    for pod, used in _sorted_pods(session, measured, resources):
        totals.append(used)
        place = [pod["metadata"]["namespace"]] if everywhere else []
        name = pod["metadata"]["name"]
        if containers:
            rows += [[*place, name, *line] for line in _container_lines(session, pod, resources)]
        else:
            rows.append([*place, name, *_amounts(used)])
    if session.flags.on("sum"):
        rows += _sum(_total(totals, resources), 1 + len(heads) if session.flags.on("no-headers") else len(rows[0]))
    _show(session, rows)


def _sorted_pods(
    session: Session, measured: Sequence[Object], resources: list[str]
) -> list[tuple[Object, dict[str, Quantity]]]:
    by = session.flags.text("sort-by")
    found = [(pod, _total((_used(c["usage"], resources) for c in pod["containers"]), resources)) for pod in measured]
    if by:
        return sorted(found, key=lambda each: _by_use(each[1], by))
    return sorted(found, key=lambda each: (each[0]["metadata"]["namespace"], each[0]["metadata"]["name"]))


def _container_lines(session: Session, pod: Object, resources: list[str]) -> list[list[str]]:
    by = session.flags.text("sort-by")
    found = {each["name"]: _used(each["usage"], resources) for each in pod["containers"]}
    names = sorted(found, key=lambda name: (_by_use(found[name], by), "") if by else (0, name))
    return [[name, *_amounts(found[name])] for name in names]


def _sum(total: _Used, width: int) -> list[list[str]]:
    """The sum of all below a line, which is drawn for two resources, however many there are."""
    return [[*[""] * (width - 2), _LINE, _LINE], [*[""] * (width - 3), "", *_amounts(total)]]


async def _explain_nothing(session: Session) -> None:
    """Raises CommandError where there are Pods that could have metrics, or will have them soon."""
    if session.arguments:
        return
    pods = await _items(session, PODS, session.namespace, _selectors(session))
    for pod in pods:
        age = session.now - datetime.fromisoformat(pod["metadata"]["creationTimestamp"])
        if age.total_seconds() > _CREATION_DELAY:
            name = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
            shown = duration_text(age.total_seconds())
            raise CommandError(f"Metrics not available for pod {name}, age: {shown}")
    if pods:
        raise CommandError("metrics not available yet")


def _show(session: Session, rows: list[list[str]]) -> None:
    """Each cell ends with a tab, so that the last is filled up as well."""
    writer = TabWriter(minimum=6, padding=3)
    for row in rows[1:] if session.flags.on("no-headers") else rows:
        writer.write("".join(f"{cell}\t" for cell in row) + "\n")
    session.stdout.write(writer.flush())


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
