"""Containers of a Pod: regular, init and ephemeral (core validation, validateContainerCommon and its callers)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from engine.api.types import Object
from engine.api.validation import resources, security, text
from engine.api.validation.environment import env, env_from
from engine.api.validation.mounts import volume_devices, volume_mounts
from engine.api.validation.probes import PROBES, lifecycle, probes, stop_signal
from engine.api.validation.problems import Problems
from engine.api.validation.restart_rules import restart_rules

_PROTOCOLS = ("SCTP", "TCP", "UDP")
_PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_MESSAGE_POLICIES = ("File", "FallbackToLogsOnError")
_RESIZE_POLICIES = ("NotRequired", "RestartContainer")
_NOT_FOR_INIT = "may not be set for init containers without restartPolicy=Always"
_NOT_FOR_EPHEMERAL = "cannot be set for an Ephemeral Container"
_EPHEMERAL_FORBIDDEN = (
    "ports",
    "resources",
    "resizePolicy",
    "restartPolicy",
    "restartPolicyRules",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "lifecycle",
)
_NO_RESTART = "must not be set to 'RestartContainer' for non-sidecar initContainers"
_POINTERS = (*PROBES, "lifecycle", "restartPolicy")  # there, though empty


@dataclass(frozen=True, slots=True)
class PodContext:
    """What the rules for a container look up in its Pod."""

    volumes: Mapping[str, Object] = field(default_factory=dict)
    claims: frozenset[str] = frozenset()
    grace_period: int | None = None
    restart_policy: str = ""
    host_users: bool = True
    operating_system: str = ""


def containers(spec: Object, path: str, context: PodContext, problems: Problems) -> None:
    """All containers of a Pod spec."""
    regular = spec.get("containers", [])
    _regular(regular, f"{path}.containers", context, problems)
    if spec.get("initContainers"):
        names = {container.get("name", "") for container in regular}
        _init(spec["initContainers"], f"{path}.initContainers", context, problems, names=names)
    if spec.get("ephemeralContainers"):
        _ephemeral(spec, f"{path}.ephemeralContainers", context, problems)


def _regular(found: Sequence[Object], path: str, context: PodContext, problems: Problems) -> None:
    if not found:
        problems.required(path)
        return
    names: set[str] = set()
    for index, container in enumerate(found):
        at = f"{path}[{index}]"
        _common(container, at, context, problems)
        name = container.get("name", "")
        if name in names:
            problems.duplicate(f"{at}.name", name)
        names.add(name)
        _hooks(container, at, context, problems)
        restart_rules(container, at, problems)
    _host_ports(found, path, problems)


def _hooks(container: Object, path: str, context: PodContext, problems: Problems) -> None:
    if "lifecycle" in container:
        hooks, at = container["lifecycle"], f"{path}.lifecycle"
        lifecycle(hooks, at, problems, grace_period=context.grace_period)
        if "stopSignal" in hooks:
            stop_signal(hooks["stopSignal"], f"{at}.stopSignal", problems, operating_system=context.operating_system)
    probes(container, path, problems)


def _init(found: Sequence[Object], path: str, context: PodContext, problems: Problems, *, names: set[str]) -> None:
    for index, container in enumerate(found):
        at = f"{path}[{index}]"
        _common(container, at, context, problems)
        restart_rules(container, at, problems)
        restart = container.get("restartPolicy")
        name = container.get("name", "")
        if name in names:
            problems.duplicate(f"{at}.name", name)
        elif name:
            names.add(name)
        _host_ports([container], path, problems)
        if restart == "Always":
            _hooks(container, at, context, problems)
        else:
            for forbidden in ("lifecycle", *PROBES):
                if forbidden in container:
                    problems.forbidden(f"{at}.{forbidden}", _NOT_FOR_INIT)
            for number, policy in enumerate(container.get("resizePolicy", ())):
                if policy.get("restartPolicy") == "RestartContainer":
                    problems.invalid(f"{at}.resizePolicy[{number}].restartPolicy", "RestartContainer", _NO_RESTART)


def _ephemeral(spec: Object, path: str, context: PodContext, problems: Problems) -> None:
    others = {each.get("name", "") for each in (*spec.get("containers", ()), *spec.get("initContainers", ()))}
    names = set(others)
    for index, container in enumerate(spec["ephemeralContainers"]):
        at = f"{path}[{index}]"
        _common(container, at, context, problems)
        trimmed_image(container, at, problems)
        name, target = container.get("name", ""), container.get("targetContainerName", "")
        if name in names:
            problems.duplicate(f"{at}.name", name)
        names.add(name)
        if target and target not in others:
            problems.not_found(f"{at}.targetContainerName", target)
        for forbidden in _EPHEMERAL_FORBIDDEN:
            if container.get(forbidden) or (forbidden in _POINTERS and forbidden in container):
                problems.forbidden(f"{at}.{forbidden}", _NOT_FOR_EPHEMERAL)
        for number, mount in enumerate(container.get("volumeMounts", ())):
            for forbidden in ("subPath", "subPathExpr"):
                if mount.get(forbidden):
                    problems.forbidden(f"{at}.volumeMounts[{number}].{forbidden}", _NOT_FOR_EPHEMERAL)


def _common(container: Object, path: str, context: PodContext, problems: Problems) -> None:
    name = container.get("name", "")
    if not name:
        problems.required(f"{path}.name")
    else:
        problems.all_invalid(f"{path}.name", name, text.dns_label(name))
    if not container.get("image"):
        problems.required(f"{path}.image")
    problems.one_of(f"{path}.terminationMessagePolicy", container.get("terminationMessagePolicy"), _MESSAGE_POLICIES)
    if "ports" in container:
        _ports(container["ports"], f"{path}.ports", problems)
    if "env" in container:
        env(container["env"], f"{path}.env", problems)
    if "envFrom" in container:
        env_from(container["envFrom"], f"{path}.envFrom", problems)
    if "volumeMounts" in container:
        volume_mounts(container, f"{path}.volumeMounts", context.volumes, problems)
    if "volumeDevices" in container:
        volume_devices(container, f"{path}.volumeDevices", context.volumes, problems)
    problems.one_of(f"{path}.imagePullPolicy", container.get("imagePullPolicy"), _PULL_POLICIES)
    if container.get("resources"):
        resources.requirements(container["resources"], f"{path}.resources", problems, claims=context.claims)
    if "resizePolicy" in container:
        _resize_policy(container["resizePolicy"], f"{path}.resizePolicy", context, problems)
    if "securityContext" in container:
        at = f"{path}.securityContext"
        security.security_context(container["securityContext"], at, problems, host_users=context.host_users)


def trimmed_image(container: Object, path: str, problems: Problems) -> None:
    """In a Pod, though not in a template, an image's name has no space around it."""
    image = container.get("image", "")
    if image != image.strip():
        problems.invalid(f"{path}.image", image, "must not have leading or trailing whitespace")


def _ports(ports: Sequence[Object], path: str, problems: Problems) -> None:
    names = set()
    for index, port in enumerate(ports):
        at = f"{path}[{index}]"
        name, number = port.get("name", ""), port.get("containerPort", 0)
        if name:
            wrong = text.port_name(name)
            problems.all_invalid(f"{at}.name", name, wrong)
            if not wrong and name in names:
                problems.duplicate(f"{at}.name", name)
            if not wrong:
                names.add(name)
        if number == 0:
            problems.required(f"{at}.containerPort")
        else:
            problems.all_invalid(f"{at}.containerPort", number, text.port_number(number))
        if port.get("hostPort"):
            problems.all_invalid(f"{at}.hostPort", port["hostPort"], text.port_number(port["hostPort"]))
        problems.one_of(f"{at}.protocol", port.get("protocol"), _PROTOCOLS)


def _host_ports(found: Sequence[Object], path: str, problems: Problems) -> None:
    taken = set()
    for index, container in enumerate(found):
        for number, port in enumerate(container.get("ports", ())):
            if port.get("hostPort"):
                key = f"{port.get('protocol', '')}/{port.get('hostIP', '')}/{port['hostPort']}"
                if key in taken:
                    problems.duplicate(f"{path}[{index}].ports[{number}].hostPort", key)
                taken.add(key)


def _resize_policy(policies: Sequence[Object], path: str, context: PodContext, problems: Problems) -> None:
    seen = set()
    for index, policy in enumerate(policies):
        name, restart = policy.get("resourceName", ""), policy.get("restartPolicy", "")
        if name in seen:
            problems.duplicate(f"{path}[{index}]", name)
        seen.add(name)
        problems.one_of(path, name, ("cpu", "memory"))
        problems.one_of(path, restart, _RESIZE_POLICIES)
        if context.restart_policy == "Never" and restart != "NotRequired":
            problems.invalid(path, restart, "must be 'NotRequired' when pod `restartPolicy` is 'Never'")
