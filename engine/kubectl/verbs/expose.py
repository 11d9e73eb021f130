"""`expose`: a Service for a workload, from its labels and ports.

Source of the behaviour: kubectl pkg/cmd/expose/expose.go and pkg/polymorphichelpers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from engine.api.types import GVK, Object
from engine.kubectl import last_applied, overrides
from engine.kubectl.change_cause import RECORD, recorded
from engine.kubectl.command import Command
from engine.kubectl.errors import CommandError
from engine.kubectl.flags import Flag
from engine.kubectl.flagsets import DRY_RUN, PRINT, SAVE_CONFIG, field_manager, filename
from engine.kubectl.printers.objects import result_printer
from engine.kubectl.selection import Info, Selection, visit
from engine.kubectl.session import Session

LONGEST_NAME = 63
_NUMBER = re.compile(r"[+-]?[0-9]+")
NO_SELECTOR = "couldn't retrieve selectors via --selector flag or introspection"
KINDS = ("Deployment", "Pod", "ReplicaSet", "ReplicationController", "Service")


async def run(session: Session) -> None:
    dry_run = session.dry_run()
    printer = result_printer(session, "exposed", dry_run=dry_run, typed=True)
    services = await session.discovery.for_kind(session.client, GVK("", "v1", "Service"))

    found = _Found()

    async def expose(info: Info) -> None:
        if info.resource.kind not in KINDS:
            group = info.resource.gvr.group
            raise CommandError(f"cannot expose a {info.resource.kind}{'.' if group else ''}{group}")
        service = _service(session, info, found)
        if session.namespace_given:
            service["metadata"]["namespace"] = session.namespace
        service = recorded(session, overrides.overridden(session, service))
        if session.flags.on("save-config") and dry_run != "client":
            service = last_applied.modified(service, typed=True)
        if dry_run != "client":
            query = {
                "dryRun": "All" if dry_run == "server" else "",
                "fieldManager": session.flags.text("field-manager"),
            }
            path = session.path_of(services, info.namespace)
            service = await session.request("POST", path, query=query, body=service)
        printer(service, services)

    selection = Selection.of_flags(session)
    selection.fetch = not session.from_files  # a manifest is exposed as it stands
    selection.typed = True
    selection.selector = ""  # the flag is about the Service's Pods, not about what is exposed
    await visit(session, selection, expose)


@dataclass(slots=True)
class _Found:
    """What objects say where no flag does. What was found once also holds for all that come after, but for what each
    port speaks and several ports, which the last that has any decides: upstream keeps them in its options."""

    selector: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    port: list[int] = field(default_factory=list)
    ports: list[int] = field(default_factory=list)
    protocols: dict[int, str] = field(default_factory=dict)


def _service(session: Session, info: Info, found: _Found) -> Object:
    """Raises CommandError."""
    flags = session.flags
    obj = info.object
    name = flags.text("name") or obj["metadata"]["name"][:LONGEST_NAME]
    given = flags.text("selector")
    found.selector = found.selector or ({} if given else _selector(info))
    _look_for_ports(session, info, found)
    found.selector = found.selector or _pairs(given)
    found.labels = found.labels or _labels(session, info)
    spec: Object = {"selector": dict(found.selector)}
    if ports := _ports(session, found):
        spec["ports"] = ports
    for flag, where in (
        ("type", "type"),
        ("cluster-ip", "clusterIP"),
        *((("load-balancer-ip", "loadBalancerIP"),) if flags.text("type") == "LoadBalancer" else ()),
        ("session-affinity", "sessionAffinity"),
    ):
        if flags.text(flag):
            spec[where] = flags.text(flag)
    if (affinity := flags.text("session-affinity")) not in ("", "None", "ClientIP"):
        raise CommandError(f"unknown session affinity: {affinity}")
    if flags.text("external-ip"):
        spec["externalIPs"] = [flags.text("external-ip")]
    metadata: Object = {"name": name}
    if found.labels:
        metadata["labels"] = dict(found.labels)
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata,
        "spec": spec,
        "status": {"loadBalancer": {}},
    }


def _labels(session: Session, info: Info) -> dict[str, str]:
    if given := session.flags.text("labels"):
        return _pairs(given)
    return dict(info.object["metadata"].get("labels") or {})


def _pairs(text: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for part in text.split(","):
        key, equals, value = part.partition("=")
        if equals and not key:
            raise CommandError("unexpected empty label key")
        if not equals or "=" in value:
            raise CommandError(f"unexpected label spec: {part}")
        pairs[key] = value
    return pairs


def _selector(info: Info) -> dict[str, str]:
    spec, kind = info.object.get("spec") or {}, info.resource.kind
    if kind == "Pod":
        labels = info.object["metadata"].get("labels") or {}
        if not labels:
            raise CommandError(f"{NO_SELECTOR}: the pod has no labels and cannot be exposed")
        return dict(labels)
    if kind in ("Service", "ReplicationController"):
        if not spec.get("selector"):
            raise CommandError(f"{NO_SELECTOR}: the service has no pod selector set")
        return dict(spec["selector"])
    selector = spec.get("selector") or {}
    if selector.get("matchExpressions"):
        expressions = selector["matchExpressions"]
        shown = " ".join(_as_go_prints(each) for each in expressions)
        why = f'couldn\'t convert expressions - "[{shown}]" to map-based selector format'
        raise CommandError(f"{NO_SELECTOR}: {why}")
    return dict(selector.get("matchLabels") or {})


def _as_go_prints(expression: Object) -> str:
    """A requirement as `%+v` shows it."""
    values = " ".join(expression.get("values") or ())
    return f"{{Key:{expression['key']} Operator:{expression['operator']} Values:[{values}]}}"


def _look_for_ports(session: Session, info: Info, found: _Found) -> None:
    """Raises CommandError where there are none and the Service needs some."""
    flags, known = session.flags, _known_ports(info.object)
    if not flags.text("port") and not found.port:
        if not known and flags.text("cluster-ip") != "None":
            raise CommandError("couldn't find port via --port flag or introspection")
        if len(known) == 1:
            found.port = list(known)
        elif known:
            found.ports = list(known)
    found.protocols = known or found.protocols


def _ports(session: Session, found: _Found) -> list[Object]:
    flags = session.flags
    wanted = [_number(port) for port in flags.text("port").split(",")] if flags.text("port") else found.port
    numbers = found.ports or wanted
    ports: list[Object] = []
    for index, number in enumerate(numbers):
        protocol = flags.text("protocol") or found.protocols.get(number, "TCP")
        port: dict[str, Any] = {"port": number, "protocol": protocol, "targetPort": number}
        if len(numbers) > 1:
            port["name"] = f"port-{index + 1}"
        if target := flags.text("target-port"):
            port["targetPort"] = int(target) if _NUMBER.fullmatch(target) else target
        ports.append(port)
    return ports


def _number(text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise CommandError(f'strconv.Atoi: parsing "{text}": invalid syntax')
    return int(text)


def _known_ports(obj: Object) -> dict[int, str]:
    """The ports that an object has, each with its protocol."""
    spec = obj.get("spec") or {}
    if obj["kind"] == "Service":
        return {port["port"]: port.get("protocol", "TCP") for port in spec.get("ports") or ()}
    pod = spec if obj["kind"] == "Pod" else (spec.get("template") or {}).get("spec") or {}
    return {
        port["containerPort"]: port.get("protocol", "TCP")
        for container in pod.get("containers") or ()
        for port in container.get("ports") or ()
    }


COMMAND = Command(
    name="expose",
    short="Take a replication controller, service, deployment or pod and expose it as a new Kubernetes service",
    usage=(
        "(-f FILENAME | TYPE NAME) [--port=port] [--protocol=TCP|UDP|SCTP] [--target-port=number-or-name] "
        "[--name=name] [--external-ip=external-ip-of-service] [--type=type]"
    ),
    run=run,
    flags=(
        *filename(),
        *PRINT,
        *DRY_RUN,
        *SAVE_CONFIG,
        *field_manager("kubectl-expose"),
        *RECORD,
        *overrides.FLAGS,
        Flag("cluster-ip", help="The cluster IP to take; None for a headless service."),
        Flag("external-ip", help="An address that traffic may come in by."),
        Flag("labels", short="l", help="The labels of the service."),
        Flag("load-balancer-ip", help="The address of the load balancer."),
        Flag("name", help="The name of the service."),
        Flag("port", help="The service's port."),
        Flag("protocol", help="TCP, UDP or SCTP."),
        Flag("selector", help="The labels that the service selects."),
        Flag("session-affinity", help="None or ClientIP."),
        Flag("target-port", help="The port or port name of the containers."),
        Flag("type", help="ClusterIP, NodePort, LoadBalancer or ExternalName."),
    ),
)
