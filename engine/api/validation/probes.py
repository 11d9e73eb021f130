"""Probes and lifecycle hooks (core validation, validateProbe, validateHandler)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from engine.api.types import Object
from engine.api.validation import text
from engine.api.validation.problems import NOT_NEGATIVE, Problems

_NUMBERS = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")
_SCHEMES = ("HTTP", "HTTPS")
_WINDOWS_SIGNALS = ("SIGKILL", "SIGTERM")
_LINUX_SIGNALS = tuple(
    f"SIG{name}"
    for name in (
        *("ABRT", "ALRM", "BUS", "CHLD", "CLD", "CONT", "FPE", "HUP", "ILL", "INT", "IO", "IOT", "KILL", "PIPE"),
        *("POLL", "PROF", "PWR", "QUIT", "RTMAX"),
        *(f"RTMAX-{number}" for number in (1, 10, 11, 12, 13, 14, 2, 3, 4, 5, 6, 7, 8, 9)),
        "RTMIN",
        *(f"RTMIN+{number}" for number in (1, 10, 11, 12, 13, 14, 15, 2, 3, 4, 5, 6, 7, 8, 9)),
        *("SEGV", "STKFLT", "STOP", "SYS", "TERM", "TRAP", "TSTP", "TTIN", "TTOU", "URG", "USR1", "USR2", "VTALRM"),
        *("WINCH", "XCPU", "XFSZ"),
    )
)
PROBES = ("livenessProbe", "readinessProbe", "startupProbe")


def probes(container: Object, path: str, problems: Problems) -> None:
    for name in PROBES:
        probe = container.get(name)
        if probe is not None:
            _probe(probe, f"{path}.{name}", problems)
            if name == "readinessProbe":
                if "terminationGracePeriodSeconds" in probe:
                    problems.invalid(
                        f"{path}.{name}.terminationGracePeriodSeconds",
                        probe["terminationGracePeriodSeconds"],
                        "must not be set for readinessProbes",
                    )
            elif probe.get("successThreshold") != 1:
                problems.invalid(f"{path}.{name}.successThreshold", probe.get("successThreshold", 0), "must be 1")


def _probe(probe: Object, path: str, problems: Problems) -> None:
    _handler(probe, path, problems, grace_period=None)
    for field in _NUMBERS:
        value = probe.get(field, 0)
        if value < 0:
            problems.invalid(f"{path}.{field}", value, NOT_NEGATIVE)
    grace = probe.get("terminationGracePeriodSeconds")
    if grace is not None and grace <= 0:
        problems.invalid(f"{path}.terminationGracePeriodSeconds", grace, "must be greater than 0")


def lifecycle(hooks: Object, path: str, problems: Problems, *, grace_period: int | None) -> None:
    for name in ("postStart", "preStop"):
        if name in hooks:
            _handler(hooks[name], f"{path}.{name}", problems, grace_period=grace_period)


def stop_signal(signal: str, path: str, problems: Problems, *, operating_system: str) -> None:
    """Which there are depends on the operating system, which therefore must be known (KEP-4960)."""
    if not operating_system:
        problems.forbidden(path, "may not be set for containers with empty `spec.os.name`")
    elif operating_system == "windows" and signal not in _WINDOWS_SIGNALS:
        problems.not_supported(path, signal, _WINDOWS_SIGNALS)
    elif operating_system == "linux" and signal not in _LINUX_SIGNALS:
        problems.not_supported(path, signal, _LINUX_SIGNALS)


def _handler(handler: Object, path: str, problems: Problems, *, grace_period: int | None) -> None:
    count = 0
    for field, rule in _HANDLERS.items():
        if field not in handler:
            continue
        count += 1
        if count > 1:
            problems.forbidden(f"{path}.{field}", "may not specify more than 1 handler type")
        else:
            rule(handler[field], f"{path}.{field}", problems, grace_period)
    if count == 0:
        problems.required(path, "must specify a handler type")


def _exec(action: Object, path: str, problems: Problems, grace_period: int | None) -> None:
    if not action.get("command"):
        problems.required(f"{path}.command")


def _http_get(action: Object, path: str, problems: Problems, grace_period: int | None) -> None:
    if not action.get("path"):
        problems.required(f"{path}.path")
    port(action.get("port", 0), f"{path}.port", problems)
    if action.get("scheme") not in _SCHEMES:
        problems.not_supported(f"{path}.scheme", action.get("scheme", ""), _SCHEMES)
    for header in action.get("httpHeaders", ()):
        name = header.get("name", "")
        problems.all_invalid(f"{path}.httpHeaders", name, text.http_header(name))


def _port_action(action: Object, path: str, problems: Problems, grace_period: int | None) -> None:
    port(action.get("port", 0), f"{path}.port", problems)


def _sleep(action: Object, path: str, problems: Problems, grace_period: int | None) -> None:
    seconds = action.get("seconds", 0)
    if grace_period is not None and not 0 <= seconds <= grace_period:
        detail = f"must be non-negative and less than terminationGracePeriodSeconds ({grace_period})"
        problems.invalid(path, seconds, detail)


_HANDLERS: Mapping[str, Callable[[Object, str, Problems, int | None], None]] = {
    "exec": _exec,
    "httpGet": _http_get,
    "tcpSocket": _port_action,
    "grpc": _port_action,
    "sleep": _sleep,
}


def port(value: Any, path: str, problems: Problems) -> None:
    """A number or a port's name."""
    if isinstance(value, int):
        problems.all_invalid(path, value, text.port_number(value))
    else:
        problems.all_invalid(path, value, text.port_name(value))
