"""Aggregated APIs (kube-aggregator pkg/apis/apiregistration/validation)."""

from __future__ import annotations

import base64

from engine.api.types import Object
from engine.api.validation import text
from engine.api.validation.problems import Problems


def api_service(obj: Object, problems: Problems) -> None:
    spec, name = obj.get("spec", {}), obj.get("metadata", {}).get("name", "")
    group, version = spec.get("group", ""), spec.get("version", "")
    if name != f"{version}.{group}":
        problems.invalid("metadata.name", name, f'must be `spec.version+"."+spec.group`: "{version}.{group}"')
    if group:
        problems.all_invalid("spec.group", group, text.dns_subdomain(group))
    elif version != "v1":
        problems.required("spec.group", "only v1 may have an empty group and it better be legacy kube")
    problems.all_invalid("spec.version", version, text.dns_1035_label(version))
    for field, limit in (("groupPriorityMinimum", 20000), ("versionPriority", 1000)):
        value = spec.get(field, 0)
        if not 0 < value <= limit:
            problems.invalid(f"spec.{field}", value, f"must be positive and less than {limit}")
    if spec.get("service") is None:
        _local(spec, problems)
    else:
        _remote(spec, spec["service"], problems)


def _local(spec: Object, problems: Problems) -> None:
    """Of an API that this server serves itself."""
    if spec.get("caBundle"):
        size = len(base64.b64decode(spec["caBundle"]))
        problems.invalid("spec.caBundle", f"{size} bytes", "local APIServices may not have a caBundle")
    if spec.get("insecureSkipTLSVerify"):
        detail = "local APIServices may not have insecureSkipTLSVerify"
        problems.invalid("spec.insecureSkipTLSVerify", True, detail)


def _remote(spec: Object, service: Object, problems: Problems) -> None:
    problems.required_fields(service, "spec.service", "namespace", "name")
    port = service.get("port", 443)
    if wrong := text.port_number(port):
        problems.invalid("spec.service.port", port, f"port is not valid: {','.join(wrong)}")
    if spec.get("insecureSkipTLSVerify") and spec.get("caBundle"):
        problems.invalid("spec.insecureSkipTLSVerify", True, "may not be true if caBundle is present")
