"""Defaults of the small kinds of the core group and of a few groups with one default each."""

from __future__ import annotations

import base64

from engine.api.defaults.fields import fill
from engine.api.defaults.pods import round_resource_list
from engine.api.defaults.twins import pod_ranges
from engine.api.types import Object

_NAME_LABEL = "kubernetes.io/metadata.name"
_DEFAULT_SHARES = 30
# What is said of a node's system even where it is not known: strings without omitempty.
_NODE_FACTS = (
    *("machineID", "systemUUID", "bootID", "kernelVersion", "osImage", "containerRuntimeVersion"),
    *("kubeletVersion", "kubeProxyVersion", "operatingSystem", "architecture"),
)


def namespace(obj: Object) -> None:
    metadata = obj.setdefault("metadata", {})
    if metadata.get("name"):  # one with only generateName gets its label once it has a name
        metadata.setdefault("labels", {})[_NAME_LABEL] = metadata["name"]
    fill(obj.setdefault("status", {}), "phase", "Active")


def node(obj: Object) -> None:
    with_spec(obj)
    pod_ranges(obj["spec"])
    status = obj.setdefault("status", {})
    for field in ("capacity", "allocatable"):
        round_resource_list(status.get(field, {}))
    if "allocatable" not in status and status.get("capacity"):
        status["allocatable"] = dict(status["capacity"])
    status.setdefault("daemonEndpoints", {}).setdefault("kubeletEndpoint", {"Port": 0})
    facts = status.setdefault("nodeInfo", {})
    for fact in _NODE_FACTS:
        facts.setdefault(fact, "")


def secret(obj: Object) -> None:
    obj.setdefault("type", "Opaque")
    plain = obj.pop("stringData", None)  # write-only: it becomes data on the way in (conversion.go)
    if plain:
        data = obj.setdefault("data", {})
        for key, text in plain.items():
            data[key] = base64.b64encode(text.encode()).decode()


def event(obj: Object) -> None:
    """Fields without omitempty: they are written whatever they hold."""
    obj.setdefault("involvedObject", {})
    obj.setdefault("source", {})
    for field in ("firstTimestamp", "lastTimestamp", "eventTime"):
        obj.setdefault(field, None)
    if obj.get("series") is not None:
        obj["series"].setdefault("lastObservedTime", None)
    obj.setdefault("reportingComponent", "")
    obj.setdefault("reportingInstance", "")


def new_event(obj: Object) -> None:
    """The same of events.k8s.io."""
    obj.setdefault("regarding", {})
    obj.setdefault("deprecatedSource", {})
    for field in ("deprecatedFirstTimestamp", "deprecatedLastTimestamp", "eventTime"):
        obj.setdefault(field, None)


def limit_range(obj: Object) -> None:
    for item in obj.setdefault("spec", {}).get("limits", ()):
        for field in ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio"):
            round_resource_list(item.get(field, {}))
        if item.get("type") == "Container":
            _container_limits(item)


def _container_limits(item: Object) -> None:
    default = {**item.get("max", {}), **item.get("default", {})}
    request = {**item.get("min", {}), **default, **item.get("defaultRequest", {})}
    if default:
        item["default"] = default
    if request:
        item["defaultRequest"] = request


def resource_quota(obj: Object) -> None:
    round_resource_list(obj.setdefault("spec", {}).get("hard", {}))
    for field in ("hard", "used"):
        round_resource_list(obj.get("status", {}).get(field, {}))


def runtime_class(obj: Object) -> None:
    round_resource_list((obj.get("overhead") or {}).get("podFixed", {}))


def priority_class(obj: Object) -> None:
    obj.setdefault("preemptionPolicy", "PreemptLowerPriority")
    obj.setdefault("value", 0)


def custom_resource_definition(obj: Object) -> None:
    spec = obj.setdefault("spec", {})
    names = spec.setdefault("names", {})
    kind = names.get("kind", "")
    if not names.get("singular"):
        names["singular"] = kind.lower()
    if not names.get("listKind") and kind:
        names["listKind"] = f"{kind}List"
    conversion = spec.setdefault("conversion", {"strategy": "None"})
    service = conversion.get("webhook", {}).get("clientConfig", {}).get("service")
    if service is not None:
        service.setdefault("port", 443)
    versions = spec.get("versions") or ()
    for version in versions:
        version.setdefault("served", False)  # no pointers in Go, which writes them in any case
        version.setdefault("storage", False)
    storage = next((version.get("name", "") for version in versions if version["storage"]), None)
    if storage is not None and not (obj.get("status") or {}).get("storedVersions"):
        obj["status"] = {**(obj.get("status") or {}), "storedVersions": [storage]}


def api_service(obj: Object) -> None:
    service = obj.get("spec", {}).get("service")
    if service is not None:
        service.setdefault("port", 443)


def flow_schema(obj: Object) -> None:
    fill(obj.setdefault("spec", {}), "matchingPrecedence", 1000)


def priority_level(obj: Object) -> None:
    spec = obj.setdefault("spec", {})
    if spec.get("type") == "Exempt":
        exempt = spec.setdefault("exempt", {})
        exempt.setdefault("nominalConcurrencyShares", 0)
        exempt.setdefault("lendablePercent", 0)
    limited = spec.get("limited")
    if limited is not None:
        version = obj.get("apiVersion", "")
        old = version.endswith(("v1beta1", "v1beta2"))
        limited.setdefault("assuredConcurrencyShares" if old else "nominalConcurrencyShares", _DEFAULT_SHARES)
        if not old:
            limited.setdefault("lendablePercent", 0)
        queuing = limited.get("limitResponse", {}).get("queuing")
        if queuing is not None:
            for name, value in {"queues": 64, "handSize": 8, "queueLengthLimit": 50}.items():
                fill(queuing, name, value)


def pod_certificate_request(obj: Object) -> None:
    obj.get("spec", {}).setdefault("maxExpirationSeconds", 86400)


def with_spec(obj: Object) -> None:
    """A kind whose spec is a struct, which Go writes however empty it is."""
    obj.setdefault("spec", {})


def resource_claim(obj: Object) -> None:
    for request in obj.setdefault("spec", {}).setdefault("devices", {}).get("requests", ()):
        for device in (*([request["exactly"]] if "exactly" in request else []), *request.get("firstAvailable", ())):
            fill(device, "allocationMode", "ExactCount")
            if device["allocationMode"] == "ExactCount":
                fill(device, "count", 1)
            _tolerate_equals(device)
    for result in obj.get("status", {}).get("allocation", {}).get("devices", {}).get("results", ()):
        _tolerate_equals(result)


def _tolerate_equals(device: Object) -> None:
    for toleration in device.get("tolerations", ()):
        fill(toleration, "operator", "Equal")


def resource_claim_template(obj: Object) -> None:
    spec = obj.setdefault("spec", {})
    spec.setdefault("metadata", {})
    resource_claim(spec)
