"""`create ingress` and `create poddisruptionbudget`: what their flags say.

Source of the behaviour: kubectl pkg/cmd/create/create_ingress.go and create_pdb.go.
"""

from __future__ import annotations

import re
from typing import Any

from engine.api.errors import ApiError
from engine.api.selectors import LabelSelector
from engine.api.types import Object
from engine.kubectl.errors import CommandError
from engine.kubectl.session import Session

RULE = re.compile(r"(?P<host>[\w*\-.]*)/(?P<path>[^=]*)=(?P<service>[\w\-]+):(?P<port>[\w\-]+[^,]*)(?P<more>.*)")
NOTHING = (
    "not enough information provided: every ingress has to either specify a default-backend (which catches all "
    "traffic) or a list of rules (which catch specific paths)"
)


def ingress(session: Session, name: str) -> Object:
    flags = session.flags
    texts, default = flags.many("rule"), flags.text("default-backend")
    if not texts and not default:
        raise CommandError(NOTHING)
    matches: list[re.Match[str]] = []
    for text in texts:
        match = RULE.fullmatch(text)
        if match is None:
            raise CommandError(
                f"rule {text} is invalid and should be in format host/path=svcname:svcport[,tls[=secret]]"
            )
        matches.append(match)
    annotations = [text.partition("=") for text in flags.many("annotation")]
    for key, equals, _ in annotations:
        if not equals:
            raise CommandError(f"annotation {key} is invalid and should be in format key=[value]")
    if default and default.count(":") != 1:
        raise CommandError("default-backend should be in format servicename:serviceport")
    spec: Object = {}
    if flags.text("class"):
        spec["ingressClassName"] = flags.text("class")
    if default:
        spec["defaultBackend"] = _backend(*default.split(":"))
    spec |= _rules(matches)
    metadata: dict[str, Any] = {"name": name} if name else {}
    if annotations:
        metadata["annotations"] = {key: value for key, _, value in annotations}
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": metadata,
        "spec": spec,
        "status": {"loadBalancer": {}},
    }


def _backend(service: str, port: str) -> Object:
    """What is empty or 0 is left out, as Go leaves it out."""
    number = int(port) if re.fullmatch(r"[+-]?\d+", port, re.ASCII) else None
    shown = {"name": port} if number is None else {"number": number}
    return {"service": {"name": service, "port": {key: value for key, value in shown.items() if value}}}


def _rules(matches: list[re.Match[str]]) -> Object:
    hosts: dict[str, list[Object]] = {}
    secrets: dict[str, list[str]] = {}
    secured: set[str] = set()
    for match in matches:
        path = "/" + match["path"]
        kind = "Prefix" if path.endswith("*") else "Exact"
        port, _, _ = match["port"].partition(":")  # there may be more of them, which nobody looks at
        entry = {"path": path.removesuffix("*"), "pathType": kind, "backend": _backend(match["service"], port)}
        hosts.setdefault(match["host"], []).append(entry)
        host, secret = match["host"], _secret(match["more"])
        if secret is not None and host not in secured:
            secured.add(host)
            _secure(secrets, secret, host)
    found: Object = {}
    if hosts:
        found["rules"] = [{**({"host": h} if h else {}), "http": {"paths": paths}} for h, paths in hosts.items()]
    if secrets:
        found["tls"] = [
            {**({"hosts": names} if names else {}), **({"secretName": secret} if secret else {})}
            for secret, names in secrets.items()
        ]
    return found


def _secure(secrets: dict[str, list[str]], secret: str, host: str) -> None:
    """Each host has one secret, that of its first rule; what has neither is left out (buildTLSRules)."""
    if secret in secrets:
        secrets[secret].append(host)
    elif host or secret:
        secrets[secret] = [host] if host else []


def _secret(more: str) -> str | None:
    """The secret of a rule with TLS, "" for one that names none. One word makes it so, whatever it is; upstream looks
    at no more than that."""
    _, *words = more.split(",")
    return [*words[0].split("="), ""][1] if len(words) == 1 else None


def disruption_budget(session: Session, name: str) -> Object:
    flags = session.flags
    low, high, selector = flags.text("min-available"), flags.text("max-unavailable"), flags.text("selector")
    if not selector:
        raise CommandError("a selector must be specified")
    if not low and not high:
        raise CommandError("one of min-available or max-unavailable must be specified")
    if low and high:
        raise CommandError("min-available and max-unavailable cannot be both specified")
    key, value = ("minAvailable", low) if low else ("maxUnavailable", high)
    if not re.fullmatch(r"\d+%?", value):
        raise CommandError(f"invalid format specified for {'min-available' if low else 'max-unavailable'}")
    spec: Object = {"selector": _selector(selector), key: int(value) if value.isdigit() else value}
    numbers = ("currentHealthy", "desiredHealthy", "disruptionsAllowed", "expectedPods")
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name},
        "spec": spec,
        "status": dict.fromkeys(numbers, 0),
    }


def _selector(text: str) -> Object:
    """A label selector as an object. Raises ApiError."""
    try:
        LabelSelector.parse(text)
    except ApiError as error:
        raise CommandError(f'couldn\'t parse the selector string "{text}": {error.message}') from error
    labels: dict[str, str] = {}
    expressions: list[Object] = []
    for part in re.split(r",(?![^(]*\))", text):
        if match := re.fullmatch(r"\s*(\S+)\s+(in|notin)\s+\(([^)]*)\)\s*", part):
            operator = {"in": "In", "notin": "NotIn"}[match[2]]
            values = [value.strip() for value in match[3].split(",")]
            expressions.append({"key": match[1], "operator": operator, "values": values})
        elif "!=" in part:  # metav1.ParseToLabelSelector knows none of these
            raise CommandError('"!=" is not a valid label selector operator')
        elif "=" in part:
            key, _, value = part.partition("=")
            labels[key.strip()] = value.lstrip("=").strip()
        else:
            key = part.strip()
            operator = "DoesNotExist" if key.startswith("!") else "Exists"
            expressions.append({"key": key.lstrip("!"), "operator": operator})
    found: Object = {"matchLabels": labels} if labels else {}
    return {**found, "matchExpressions": expressions} if expressions else found
