"""The `extenders` of a configuration (kube-scheduler/config/v1 Extender, validateExtenders)."""

from __future__ import annotations

import base64
import binascii

from engine.api.errors import Cause, field_invalid
from engine.api.golang.duration import parse_duration
from engine.api.label_syntax import label_key_errors
from engine.api.types import Object
from engine.scheduler.configuration.configuration import ExtenderConfiguration
from engine.scheduler.configuration.fields import (
    BOOL,
    DURATION,
    INT64,
    STRING,
    ConfigurationError,
    Struct,
)
from engine.scheduler.resource import is_extended

_TLS = (
    "insecure", "serverName", "certFile", "keyFile", "caFile", "certData", "keyData", "caData",
)  # fmt: skip
_MANAGED = Struct("ExtenderManagedResource", {"name": STRING, "ignoredByScheduler": BOOL})
EXTENDER = Struct(
    "Extender",
    {
        **dict.fromkeys(("urlPrefix", "filterVerb", "preemptVerb", "prioritizeVerb", "bindVerb"), STRING),
        "weight": INT64,
        "enableHTTPS": BOOL,
        "tlsConfig": Struct("ExtenderTLSConfig", {**dict.fromkeys(_TLS, STRING), "insecure": BOOL}),
        "httpTimeout": DURATION,
        "nodeCacheCapable": BOOL,
        "managedResources": [_MANAGED],
        "ignorable": BOOL,
    },
)
DEFAULT_TIMEOUT = 5.0


def extender_problems(extenders: list[Object]) -> list[Cause]:
    causes: list[Cause] = []
    managed: set[str] = set()
    for i, extender in enumerate(extenders):
        path = f"extenders[{i}]"
        weight = extender.get("weight") or 0
        if extender.get("prioritizeVerb") and weight <= 0:
            causes.append(field_invalid(f"{path}.weight", weight, "must have a positive weight applied to it"))
        for j, resource in enumerate(extender.get("managedResources") or ()):
            at, name = f"{path}.managedResources[{j}].name", resource.get("name", "")
            problems = label_key_errors(name)
            causes += [field_invalid(at, name, problem) for problem in problems]
            if not problems and not is_extended(name):
                causes.append(field_invalid(at, name, "is an invalid extended resource name"))
            if name in managed:
                causes.append(field_invalid(at, name, "duplicate extender managed resource name"))
            managed.add(name)
    binders = sum(bool(extender.get("bindVerb")) for extender in extenders)
    if binders > 1:
        found = f"found {binders} extenders implementing bind"
        causes.append(field_invalid("extenders", found, "only one extender can implement bind"))
    return causes


def read_extender(value: Object) -> ExtenderConfiguration:
    tls = value.get("tlsConfig") or {}
    managed = value.get("managedResources") or []
    return ExtenderConfiguration(
        url_prefix=value.get("urlPrefix") or "",
        filter_verb=value.get("filterVerb") or "",
        preempt_verb=value.get("preemptVerb") or "",
        prioritize_verb=value.get("prioritizeVerb") or "",
        bind_verb=value.get("bindVerb") or "",
        weight=value.get("weight") or 0,
        timeout=parse_duration(value.get("httpTimeout") or "0") or DEFAULT_TIMEOUT,
        node_cache_capable=bool(value.get("nodeCacheCapable")),
        ignorable=bool(value.get("ignorable")),
        managed_resources=frozenset(resource.get("name", "") for resource in managed),
        ignored_resources=frozenset(r.get("name", "") for r in managed if r.get("ignoredByScheduler")),
        enable_https=bool(value.get("enableHTTPS")),
        insecure=bool(tls.get("insecure")),
        server_name=tls.get("serverName") or "",
        certificate_authority=_pem(tls, "ca"),
        client_certificate=_pem(tls, "cert"),
        client_key=_pem(tls, "key"),
    )


def _pem(tls: Object, name: str) -> str:
    """PEM text from `nameData` (base64, as JSON has bytes), else the path that `nameFile` names."""
    data = tls.get(f"{name}Data")
    if not data:
        return tls.get(f"{name}File") or ""
    try:
        return base64.b64decode(data, validate=True).decode("ascii")
    except (binascii.Error, UnicodeDecodeError) as error:
        raise ConfigurationError(f"extenders: tlsConfig.{name}Data: {error}") from error
