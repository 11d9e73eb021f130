"""The containers of a Pod or of a Pod template in words.

Source of the behaviour: kubectl pkg/describe (describeContainers and what it calls).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from urllib.parse import quote

from engine.api.golang.text import quoted
from engine.api.quantity import Quantity
from engine.api.tables.formats import host_port
from engine.api.types import Object
from engine.kubectl.describe.writer import NONE, Page, true_false, yes_no

_SOURCES = ("fieldRef", "resourceFieldRef", "secretKeyRef", "configMapKeyRef")
_MEASURED = ("cpu", "memory", "ephemeral-storage")  # what a variable may tell of a container's resources


def write(
    page: Page,
    title: str,
    containers: Sequence[Object],
    *,
    statuses: Sequence[Object] | None = None,
    pod: Object | None = None,
    space: str = "",
) -> None:
    """All containers of one sort. `statuses` and `pod` are None for a template."""
    page.line(f"{space}{title}:{'' if containers else ' ' + NONE}")
    by_name = {status["name"]: status for status in statuses or ()}
    for container in containers:
        status = by_name.get(container["name"])
        _basics(page, container, status, space)
        _words(page, "Command", container.get("command"))
        _words(page, "Args", container.get("args"))
        if status is not None:
            _status(page, status)
        resources(page, container.get("resources") or {})
        _probes(page, container)
        if container.get("envFrom"):
            _environment_from(page, container)
        _environment(page, container, pod)
        _mounts(page, container)


def _basics(page: Page, container: Object, status: Object | None, space: str) -> None:
    page.line(f"{' ' if space else ''}{container['name']}:", 1)
    if status is not None:
        page.field("Container ID", status.get("containerID", ""), 2)
    page.field("Image", container.get("image", ""), 2)
    if status is not None:
        page.field("Image ID", status.get("imageID", ""), 2)
    ports = container.get("ports") or ()
    plural = "s" if len(ports) > 1 else ""
    page.field(f"Port{plural}", ", ".join(_port(port, "containerPort") for port in ports) or NONE, 2)
    page.field(f"Host Port{plural}", ", ".join(_port(port, "hostPort") for port in ports) or NONE, 2)
    if profile := (container.get("securityContext") or {}).get("seccompProfile"):
        page.field("SeccompProfile", profile.get("type", ""), 2)
        if profile.get("type") == "Localhost":
            page.field("LocalhostProfile", profile.get("localhostProfile", ""), 3)


def _port(port: Object, key: str) -> str:
    text = f"{port.get(key, 0)}/{port.get('protocol', '')}"
    return f"{text} ({port['name']})" if port.get("name") else text


def _words(page: Page, title: str, words: Sequence[str] | None) -> None:
    if not words:
        return
    page.line(f"{title}:", 2)
    for word in words:
        for part in word.split("\n"):
            page.line(part, 3)


def _status(page: Page, status: Object) -> None:
    _state(page, "State", status.get("state") or {})
    if (last := status.get("lastState") or {}).get("terminated") is not None:
        _state(page, "Last State", last)
    page.field("Ready", yes_no(status.get("ready")), 2)
    page.field("Restart Count", status.get("restartCount", 0), 2)


def _state(page: Page, title: str, state: Object) -> None:
    if (running := state.get("running")) is not None:
        page.field(title, "Running", 2)
        page.field("Started", page.date(running.get("startedAt")), 3)
    elif (terminated := state.get("terminated")) is not None:
        page.field(title, "Terminated", 2)
        for name, key in (("Reason", "reason"), ("Message", "message")):
            if terminated.get(key):
                page.field(name, terminated[key], 3)
        page.field("Exit Code", terminated.get("exitCode", 0), 3)
        if terminated.get("signal"):
            page.field("Signal", terminated["signal"], 3)
        page.field("Started", page.date(terminated.get("startedAt")), 3)
        page.field("Finished", page.date(terminated.get("finishedAt")), 3)
    else:
        page.field(title, "Waiting", 2)
        if reason := (state.get("waiting") or {}).get("reason"):
            page.field("Reason", reason, 3)


def resources(page: Page, required: Mapping[str, Mapping[str, str]], level: int = 2) -> None:
    for title, key in (("Limits", "limits"), ("Requests", "requests")):
        amounts = required.get(key)
        if not amounts:
            continue
        page.line(f"{title}:", level)
        for name in sorted(amounts):
            page.field(name, amounts[name], level + 1)


def _probes(page: Page, container: Object) -> None:
    for title, key in (("Liveness", "livenessProbe"), ("Readiness", "readinessProbe"), ("Startup", "startupProbe")):
        if (probe := container.get(key)) is not None:
            page.field(title, probe_text(probe), 2)


def probe_text(probe: Object) -> str:
    """`http-get http://:80/ delay=0s timeout=1s period=10s successThreshold=1 failureThreshold=3`."""
    numbers = (
        f"delay={probe.get('initialDelaySeconds', 0)}s timeout={probe.get('timeoutSeconds', 0)}s "
        f"period={probe.get('periodSeconds', 0)}s successThreshold={probe.get('successThreshold', 0)} "
        f"failureThreshold={probe.get('failureThreshold', 0)}"
    )
    if (action := probe.get("exec")) is not None:
        return f"exec [{' '.join(action.get('command') or ())}] {numbers}"
    if (action := probe.get("httpGet")) is not None:
        return f"http-get {_url(action)} {numbers}"
    if (action := probe.get("tcpSocket")) is not None:
        return f"tcp-socket {action.get('host', '')}:{action.get('port', '')} {numbers}"
    if (action := probe.get("grpc")) is not None:
        return f"grpc <pod>:{action.get('port', 0)} {action.get('service', '')} {numbers}"
    return f"unknown {numbers}"


def _url(action: Object) -> str:
    """As net/url writes what it is put together from."""
    scheme, path = str(action.get("scheme", "")).lower(), str(action.get("path", ""))
    where = quote(host_port(str(action.get("host", "")), action.get("port", "")), safe="!$&'()*+,;=:[]<>\"")
    slash = "" if path[:1] in ("", "/") else "/"
    return f"{scheme}{':' if scheme else ''}//{where}{slash}{quote(path, safe='$&+,/:;=@')}"


def _environment_from(page: Page, container: Object) -> None:
    page.line("Environment Variables from:", 2)
    for source in container["envFrom"]:
        kind, reference = "ConfigMap", source.get("configMapRef")
        if reference is None:
            kind, reference = "Secret" if "secretRef" in source else "", source.get("secretRef") or {}
        prefix = f" with prefix '{source['prefix']}'" if source.get("prefix") else ""
        page.line(f"{reference.get('name', '')}\t{kind}{prefix}\tOptional: {true_false(reference.get('optional'))}", 3)


def _environment(page: Page, container: Object, pod: Object | None) -> None:
    variables = container.get("env") or ()
    page.line(f"Environment:{'' if variables else chr(9) + NONE}", 2)
    for variable in variables:
        name = variable["name"]
        source = variable.get("valueFrom")
        if source is None:
            for index, part in enumerate(str(variable.get("value", "")).split("\n")):
                page.line(f"\t{part}" if index else f"{name}:\t{part}", 3)
        elif any(source.get(key) is not None for key in _SOURCES):  # others are passed over
            page.line(f"{name}:\t{_value_from(source, container, pod)}", 3)


def _value_from(source: Object, container: Object, pod: Object | None) -> str:
    if (field := source.get("fieldRef")) is not None:
        path = field.get("fieldPath", "")
        return f"{_field_of(pod, path)} ({field.get('apiVersion', '')}:{path})"
    if (resource := source.get("resourceFieldRef")) is not None:
        name = str(resource.get("resource", ""))
        amount = _amount(container, name, str(resource.get("divisor") or "0"))
        if amount == "0" and name in ("limits.cpu", "limits.memory"):
            amount = "node allocatable"
        return f"{amount} ({name})"
    if (key := source.get("secretKeyRef")) is not None:
        where = f"<set to the key '{key.get('key', '')}' in secret '{key.get('name', '')}'>"
        return f"{where}\tOptional: {true_false(key.get('optional'))}"
    key = source.get("configMapKeyRef") or {}
    where = f"<set to the key '{key.get('key', '')}' of config map '{key.get('name', '')}'>"
    return f"{where}\tOptional: {true_false(key.get('optional'))}"


def _amount(container: Object, name: str, divisor: str) -> str:
    """A limit or request in whole divisors, rounded up (pkg/util/resource ExtractContainerResourceValue)."""
    kind, _, what = name.partition(".")
    if kind not in ("limits", "requests") or not (what in _MEASURED or what.startswith("hugepages-")):
        return ""  # there is no such resource of a container
    amount = Quantity.parse(((container.get("resources") or {}).get(kind) or {}).get(what, "0"))
    unit = Quantity.parse(divisor if divisor != "0" else "1")
    scale = 1000 if what == "cpu" else 1
    return str(ceil(ceil(float(amount) * scale) / (ceil(float(unit) * scale) or 1)))


def _field_of(pod: Object | None, path: str) -> str:
    """A field of the Pod; "" for a template, and for all that kubectl's scheme, which has no conversion of its own
    for the field labels of Pods, does not know."""
    if pod is None or path not in ("metadata.name", "metadata.namespace"):
        return ""
    return str(pod["metadata"].get(path.removeprefix("metadata."), ""))


def _mounts(page: Page, container: Object) -> None:
    mounts = sorted(container.get("volumeMounts") or (), key=lambda mount: str(mount["mountPath"]))
    page.line(f"Mounts:{'' if mounts else chr(9) + NONE}", 2)
    for mount in mounts:
        flags = "ro" if mount.get("readOnly") else "rw"
        if mount.get("subPath"):
            flags += f",path={quoted(mount['subPath'])}"
        page.line(f"{mount['mountPath']} from {mount['name']} ({flags})", 3)
    if devices := container.get("volumeDevices"):
        page.line(f"Devices:{'' if mounts else chr(9) + NONE}", 2)
        for device in sorted(devices, key=lambda device: str(device["devicePath"])):
            page.line(f"{device['devicePath']} from {device['name']}", 3)
