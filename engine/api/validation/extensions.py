"""Aggregated APIs (kube-aggregator pkg/apis/apiregistration/validation)."""

from __future__ import annotations

from engine.api.types import Object
from engine.api.validation import text
from engine.api.validation.problems import Problems


def api_service(obj: Object, problems: Problems) -> None:
    spec, name = obj.get("spec", {}), obj.get("metadata", {}).get("name", "")
    group, version = spec.get("group", ""), spec.get("version", "")
    if name != f"{version}.{group}":
        problems.invalid("metadata.name", name, f'must be `spec.version+"."+spec.group`: "{version}.{group}"')
    if version:
        problems.all_invalid("spec.version", version, text.dns_1035_label(version))
    else:
        problems.required("spec.version")
    for field, limit in (("groupPriorityMinimum", 20000), ("versionPriority", 1000)):
        value = spec.get(field, 0)
        if not 0 < value <= limit:
            problems.invalid(f"spec.{field}", value, f"must be positive and less than {limit}")
    service = spec.get("service")
    if service is None:
        if spec.get("caBundle"):
            problems.invalid(
                "spec.caBundle", f"{len(spec['caBundle'])} bytes", "local APIServices may not have a caBundle"
            )
        return
    for field in ("namespace", "name"):
        if not service.get(field):
            problems.required(f"spec.service.{field}")
    if spec.get("insecureSkipTLSVerify") and spec.get("caBundle"):
        problems.invalid("spec.insecureSkipTLSVerify", True, "may not be true if caBundle is present")
