"""A Pod in words, and the Pod template of a workload.

Source of the behaviour: kubectl pkg/describe (describePod, DescribePodTemplate) and pkg/util/qos.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.api.quantity import Quantity
from engine.api.selectors import format_label_selector
from engine.api.types import Object
from engine.kubectl.describe import containers, events, volumes
from engine.kubectl.describe.writer import NONE, Page
from engine.kubectl.session import Session

MIRROR = "kubernetes.io/config.mirror"


async def describe(session: Session, pod: Object, *, show_events: bool) -> str:
    page = Page(session.now)
    spec, status = pod.get("spec") or {}, pod.get("status") or {}
    page.head(pod)
    if spec.get("priority") is not None:
        page.field("Priority", spec["priority"])
    for title, key in (
        ("Priority Class Name", "priorityClassName"),
        ("Runtime Class Name", "runtimeClassName"),
        ("Service Account", "serviceAccountName"),
    ):
        if spec.get(key):
            page.field(title, spec[key])
    page.field("Node", f"{spec['nodeName']}/{status.get('hostIP', '')}" if spec.get("nodeName") else NONE)
    if status.get("startTime"):
        page.field("Start Time", page.date(status["startTime"]))
    page.labels_and_annotations(pod)
    _phase(page, pod, status)
    _seccomp(page, spec)
    _addresses(page, status)
    if controller := controlled_by(pod):
        page.field("Controlled By", controller)
    if status.get("nominatedNodeName"):
        page.field("NominatedNodeName", status["nominatedNodeName"])
    if spec.get("resources") is not None:
        page.line("Resources:")
        containers.resources(page, spec["resources"], 1)
    _containers(page, pod, spec, status)
    _gates_and_conditions(page, spec, status)
    volumes.write(page, spec.get("volumes"))
    page.field("QoS Class", status.get("qosClass") or qos_class(spec))
    page.labels("Node-Selectors", spec.get("nodeSelector"))
    page.tolerations("Tolerations", spec.get("tolerations"))
    spread(page, spec.get("topologySpreadConstraints"))
    scheduling_group(page, spec)
    if show_events:
        uid = (pod["metadata"].get("annotations") or {}).get(MIRROR)
        events.write(page, await events.search(session, pod, with_kind=False, uid=uid))
    return page.text()


def _phase(page: Page, pod: Object, status: Object) -> None:
    metadata, phase = pod["metadata"], status.get("phase", "")
    if metadata.get("deletionTimestamp") and phase not in ("Failed", "Succeeded"):
        page.field("Status", f"Terminating (lasts {page.since(metadata['deletionTimestamp'])})")
        page.field("Termination Grace Period", f"{metadata.get('deletionGracePeriodSeconds', 0)}s")
    else:
        page.field("Status", phase)
    for title, key in (("Reason", "reason"), ("Message", "message")):
        if status.get(key):
            page.field(title, status[key])


def _seccomp(page: Page, spec: Object) -> None:
    profile = (spec.get("securityContext") or {}).get("seccompProfile")
    if not profile:
        return
    page.field("SeccompProfile", profile.get("type", ""))
    if profile.get("type") == "Localhost":
        page.field("LocalhostProfile", profile.get("localhostProfile", ""))


def _addresses(page: Page, status: Object) -> None:
    page.field("IP", status.get("podIP", ""))
    addresses = status.get("podIPs") or ()
    if not addresses:
        page.field("IPs", NONE)
        return
    page.line("IPs:")
    for address in addresses:
        page.field("IP", address.get("ip", ""), 1)


def _containers(page: Page, pod: Object, spec: Object, status: Object) -> None:
    for title, key, statuses in (
        ("Init Containers", "initContainers", "initContainerStatuses"),
        ("Containers", "containers", "containerStatuses"),
        ("Ephemeral Containers", "ephemeralContainers", "ephemeralContainerStatuses"),
    ):
        listed = spec.get(key) or ()
        if listed or key == "containers":
            containers.write(page, title, listed, statuses=status.get(statuses), pod=pod)


def _gates_and_conditions(page: Page, spec: Object, status: Object) -> None:
    conditions = status.get("conditions") or ()
    if gates := spec.get("readinessGates"):
        page.line("Readiness Gates:\n  Type\tStatus")
        known = {condition.get("type"): condition.get("status", "") for condition in conditions}
        for gate in gates:
            kind = gate.get("conditionType", "")
            page.line(f"{kind} \t{known.get(kind, NONE)} ", 1)
    if conditions:
        page.line("Conditions:\n  Type\tStatus")
        for condition in conditions:
            page.line(f"{condition.get('type', '')} \t{condition.get('status', '')} ", 1)


def spread(page: Page, constraints: Sequence[Object] | None, space: str = "") -> None:
    if not constraints:
        return
    page.write(f"{space}Topology Spread Constraints:\t")
    for index, constraint in enumerate(sorted(constraints, key=lambda item: str(item["topologyKey"]))):
        if index:
            page.write(f"{space}\t")
        text = f"{constraint['topologyKey']}:{constraint['whenUnsatisfiable']} when max skew"
        text += f" {constraint['maxSkew']} is exceeded"
        if constraint.get("labelSelector") is not None:
            text += f" for selector {format_label_selector(constraint['labelSelector'])}"
        page.line(text)


def scheduling_group(page: Page, spec: Object, level: int = 0) -> None:
    if (group := spec.get("schedulingGroup")) is not None:
        page.line("SchedulingGroup:", level)
        page.field("PodGroupName", group.get("podGroupName", ""), 1)


def controlled_by(obj: Object) -> str:
    """`ReplicaSet/web-7d8d2f4c`, or "" without a controller."""
    for owner in obj["metadata"].get("ownerReferences") or ():
        if owner.get("controller"):
            return f"{owner['kind']}/{owner['name']}"
    return ""


def template(page: Page, obj: Object | None) -> None:
    """The Pod template of a workload."""
    page.line("Pod Template:")
    if obj is None:
        page.write("<unset>", 1)
        return
    metadata, spec = obj.get("metadata") or {}, obj.get("spec") or {}
    page.labels("  Labels", metadata.get("labels"))
    if metadata.get("annotations"):
        page.annotations("  Annotations", metadata["annotations"])
    if spec.get("serviceAccountName"):
        page.field("Service Account", spec["serviceAccountName"], 1)
    if spec.get("initContainers"):
        containers.write(page, "Init Containers", spec["initContainers"], space="  ")
    containers.write(page, "Containers", spec.get("containers") or (), space="  ")
    volumes.write(page, spec.get("volumes"), "  ")
    spread(page, spec.get("topologySpreadConstraints"), "  ")
    if spec.get("priorityClassName"):
        page.field("Priority Class Name", spec["priorityClassName"], 1)
    page.labels("  Node-Selectors", spec.get("nodeSelector"))
    page.tolerations("  Tolerations", spec.get("tolerations"))
    scheduling_group(page, spec, 1)


def _asks_for_any(whole: Object) -> bool:
    """Whether a Pod asks for resources as a whole, for which what its containers ask for does not count."""
    names = {*(whole.get("requests") or ()), *(whole.get("limits") or ())}
    return any(name in ("cpu", "memory") or name.startswith("hugepages-") for name in names)


def qos_class(spec: Object) -> str:
    """The quality of service class that follows from requests and limits."""
    requests: dict[str, None] = {}
    guaranteed, any_set = True, False
    whole = spec.get("resources") or {}
    each_of = (*(spec.get("containers") or ()), *(spec.get("initContainers") or ()))
    for resources in [whole] if _asks_for_any(whole) else [each.get("resources") or {} for each in each_of]:
        asked, limits = resources.get("requests") or {}, resources.get("limits") or {}
        for name in ("cpu", "memory"):
            if name in asked or name in limits:
                any_set = True
                requests[name] = None
            if name not in limits or Quantity.parse(asked.get(name, "0")) != Quantity.parse(limits[name]):
                guaranteed = False
    if not any_set:
        return "BestEffort"
    return "Guaranteed" if guaranteed else "Burstable"
