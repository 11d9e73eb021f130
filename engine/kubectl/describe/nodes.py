"""A Node in words: conditions, capacity, and the Pods that it runs with what they ask for.

Source of the behaviour: kubectl pkg/describe (describeNode, describeNodeResource) and pkg/util/resource.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from engine.api.errors import ApiError
from engine.api.pod_amounts import add, parsed, peak, raise_to
from engine.api.quantity import Quantity
from engine.api.types import Object
from engine.kubectl.describe import events
from engine.kubectl.describe.writer import NONE, UNSET, Page, true_false
from engine.kubectl.errors import CommandError
from engine.kubectl.session import Session

Amounts = dict[str, Quantity]
ZERO = Quantity.parse("0")
STANDARD = ("cpu", "memory", "ephemeral-storage", "pods")
ROLE_PREFIX = "node-role.kubernetes.io/"
SYSTEM_INFO = (
    ("Machine ID", "machineID"),
    ("System UUID", "systemUUID"),
    ("Boot ID", "bootID"),
    ("Kernel Version", "kernelVersion"),
    ("OS Image", "osImage"),
    ("Operating System", "operatingSystem"),
    ("Architecture", "architecture"),
    ("Container Runtime Version", "containerRuntimeVersion"),
    ("Kubelet Version", "kubeletVersion"),
)

_NO_NUMBER = -(2**63)  # what amd64 makes an integer of that is divided by nothing


async def describe(session: Session, node: Object, *, show_events: bool) -> str:
    page = Page(session.now)
    metadata, spec, status = node["metadata"], node.get("spec") or {}, node.get("status") or {}
    page.field("Name", metadata["name"])
    page.field("Roles", ",".join(_roles(metadata.get("labels") or {})) or NONE)
    page.labels_and_annotations(node)
    page.field("CreationTimestamp", page.date(metadata.get("creationTimestamp")))
    page.column("Taints", [taint_text(taint) for taint in sorted(spec.get("taints") or (), key=_taint_order)])
    page.field("Unschedulable", true_false(spec.get("unschedulable")))
    await _lease(session, page, metadata["name"])
    _conditions(page, status)
    page.line("Addresses:")
    for address in status.get("addresses") or ():
        page.field(address["type"], address["address"], 1)
    for title, key in (("Capacity", "capacity"), ("Allocatable", "allocatable")):
        if amounts := status.get(key):
            page.line(f"{title}:")
            for name in sorted(amounts):
                page.field(f"  {name}", amounts[name])
    await _resource_slices(session, page, metadata["name"])
    page.line("System Info:")
    info = status.get("nodeInfo") or {}
    for title, key in SYSTEM_INFO:
        page.field(f"  {title}", info.get(key, ""))
    if spec.get("podCIDR"):
        page.field("PodCIDR", spec["podCIDR"])
    if spec.get("podCIDRs"):
        page.field("PodCIDRs", ",".join(spec["podCIDRs"]))
    if spec.get("providerID"):
        page.field("ProviderID", spec["providerID"])
    await _pods(session, page, node)
    if show_events:
        found = await events.search(session, node)
        found += await events.search(session, node, uid=metadata["name"])
        events.write(page, found)
    return page.text()


def _roles(labels: Mapping[str, str]) -> list[str]:
    roles = {key.removeprefix(ROLE_PREFIX): None for key in labels if key.startswith(ROLE_PREFIX)}
    roles |= {value: None for key, value in labels.items() if key == "kubernetes.io/role" and value}
    return sorted(role for role in roles if role)


def _taint_order(taint: Object) -> str:
    return f"{taint.get('effect', '')},{taint.get('key', '')}"


def taint_text(taint: Object) -> str:
    key, value, effect = taint.get("key", ""), taint.get("value", ""), taint.get("effect", "")
    if not effect:
        return f"{key}={value}:" if value else str(key)
    return f"{key}={value}:{effect}" if value else f"{key}:{effect}"


async def _lease(session: Session, page: Page, name: str) -> None:
    try:
        resource = await session.resolve("leases.coordination.k8s.io")
        lease = await session.get(resource, name, "kube-node-lease")
    except ApiError as error:
        page.field("Lease", f"Failed to get lease: {error.message}")
        return
    spec = lease.get("spec") or {}
    page.line("Lease:")
    page.field("HolderIdentity", spec.get("holderIdentity", UNSET), 1)
    for title, key in (("AcquireTime", "acquireTime"), ("RenewTime", "renewTime")):
        page.field(title, page.date(spec[key]) if spec.get(key) else UNSET, 1)


def _conditions(page: Page, status: Object) -> None:
    conditions = status.get("conditions") or ()
    if not conditions:
        return
    page.line("Conditions:\n  Type\tStatus\tLastHeartbeatTime\tLastTransitionTime\tReason\tMessage")
    page.row("----", "------", "-----------------", "------------------", "------", "-------", level=1)
    for c in conditions:
        page.line(
            f"{c['type']} \t{c['status']} \t{page.date(c.get('lastHeartbeatTime'))} \t"
            f"{page.date(c.get('lastTransitionTime'))} \t{c.get('reason', '')} \t{c.get('message', '')}",
            1,
        )


async def _resource_slices(session: Session, page: Page, name: str) -> None:
    """The devices that drivers offer on this node, by pool."""
    try:
        resource = await session.resolve("resourceslices.resource.k8s.io")
        slices = await session.list(resource, fieldSelector=f"spec.nodeName={name}")
    except (ApiError, CommandError):
        return
    pools: dict[tuple[str, str], list[int]] = {}
    for one in slices:
        spec = one["spec"]
        counts = pools.setdefault((spec["driver"], (spec.get("pool") or {}).get("name", "")), [0, 0])
        counts[0] += 1
        counts[1] += len(spec.get("devices") or ())
    if not pools:
        return
    page.line("Node-Local ResourceSlices:")
    page.row("Driver", "Pool", "Slices", "Devices", level=1)
    page.row("------", "----", "------", "-------", level=1)
    for (driver, pool), counts in sorted(pools.items()):
        page.row(driver, pool, *counts, level=1)


# -- what the Pods ask for


async def _pods(session: Session, page: Page, node: Object) -> None:
    name = node["metadata"]["name"]
    selector = f"spec.nodeName={name},status.phase!=Succeeded,status.phase!=Failed"
    try:
        resource = await session.resolve("pods")
        pods = await session.list(resource, "", fieldSelector=selector)
    except ApiError as error:
        if error.reason != "Forbidden":
            raise
        page.field("Pods", "not authorized")
        return
    status = node.get("status") or {}
    allocatable = parsed(status.get("allocatable") or status.get("capacity"))
    page.field("Non-terminated Pods", f"({len(pods)} in total)")
    page.line("Namespace\tName\t\tCPU Requests\tCPU Limits\tMemory Requests\tMemory Limits\tAge", 1)
    page.line("---------\t----\t\t------------\t----------\t---------------\t-------------\t---", 1)
    asked: Amounts = {}
    allowed: Amounts = {}
    for pod in pods:
        requests, limits = pod_amounts(pod, "requests"), pod_amounts(pod, "limits")
        add(asked, pod_amounts(pod, "requests", with_status=False))  # as kubectl sums up, resizes left out
        add(allowed, pod_amounts(pod, "limits", with_status=False))
        shares = [
            _share(amounts.get(what, ZERO), allocatable.get(what, ZERO), of_nothing=_NO_NUMBER)
            for what in ("cpu", "memory")
            for amounts in (requests, limits)
        ]
        metadata = pod["metadata"]
        age = page.since(metadata.get("creationTimestamp"))
        page.line("\t".join([metadata["namespace"], metadata["name"], "", *shares, age]), 1)
    _totals(page, asked, allowed, allocatable)


def _totals(page: Page, asked: Amounts, allowed: Amounts, allocatable: Amounts) -> None:
    page.line("Allocated resources:\n  (Total limits may be over 100 percent, i.e., overcommitted.)")
    page.row("Resource", "Requests", "Limits", level=1)
    page.row("--------", "--------", "------", level=1)
    huge = sorted(name for name in allocatable if name.startswith("hugepages-"))
    for name in ("cpu", "memory", "ephemeral-storage", *huge):
        whole = allocatable.get(name, ZERO)
        page.row(name, _share(asked.get(name, ZERO), whole), _share(allowed.get(name, ZERO), whole), level=1)
    for name in sorted(allocatable):
        if name not in STANDARD and name not in huge:
            page.row(name, asked.get(name, ZERO), allowed.get(name, ZERO), level=1)


def _share(amount: Quantity, whole: Quantity, *, of_nothing: int = 0) -> str:
    percent = int(float(amount) / float(whole) * 100) if whole else of_nothing
    return f"{amount} ({percent}%)"


def pod_amounts(pod: Object, kind: str, *, with_status: bool = True) -> Amounts:
    """What a Pod requests (or is limited to): its containers together, or its largest init container, and overhead."""
    spec, of = pod.get("spec") or {}, partial(_effective, pod if with_status else {}, kind)
    total = peak(spec, of)
    own = _of(spec, kind)
    total.update({name: amount for name, amount in own.items() if name in ("cpu", "memory")})
    overhead = parsed(spec.get("overhead"))
    if kind == "requests":
        add(total, overhead)
    else:
        add(total, {name: amount for name, amount in overhead.items() if name in total})
    return total


def _effective(pod: Object, kind: str, container: Object) -> Amounts:
    """The most of what a container wants, has been allocated and runs with; less what it wants if that cannot be."""
    status = pod.get("status") or {}
    listed = [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]
    own = next((s for s in listed if s.get("name") == container["name"] and s.get("resources") is not None), None)
    pending: Object = next((c for c in status.get("conditions") or () if c.get("type") == "PodResizePending"), {})
    infeasible = pending.get("reason") == "Infeasible"
    if own is None:
        return {} if infeasible and kind == "requests" else _of(container, kind)
    total = {} if infeasible else _of(container, kind)
    raise_to(total, _of(own, kind))
    if kind == "requests":
        raise_to(total, parsed(own.get("allocatedResources")))
    return total


def _of(holder: Object, kind: str) -> Amounts:
    return parsed((holder.get("resources") or {}).get(kind))
