"""Pods and Pod templates on create (pkg/apis/core/validation, ValidatePodSpec and its callers)."""

from __future__ import annotations

from engine.api.types import Object
from engine.api.validation import placement, text
from engine.api.validation.containers import PodContext, containers, trimmed_image
from engine.api.validation.labels import annotation_map, label_map
from engine.api.validation.problems import Problems
from engine.api.validation.resources import pod_resource_name, quantity, requirements
from engine.api.validation.security import pod_security_context
from engine.api.validation.volumes import volumes

_RESTART = ("Always", "OnFailure", "Never")
_DNS = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_PREEMPTION = ("PreemptLowerPriority", "Never")
_MAX_INT32 = 2**31 - 1
_NAMESERVERS, _SEARCHES, _SEARCH_LENGTH = 3, 32, 2048
_NOT_WITH_USER_NAMESPACE = "when `pod.Spec.HostUsers` is false"


def pod(obj: Object, problems: Problems) -> None:
    """The spec of a new Pod."""
    pod_spec_of_pod(obj, problems)
    spec = obj.get("spec", {})
    if spec.get("ephemeralContainers"):
        problems.forbidden("spec.ephemeralContainers", "cannot be set on create")
    if spec.get("nodeName") and spec.get("schedulingGates"):
        problems.forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared")


def pod_spec_of_pod(obj: Object, problems: Problems) -> None:
    spec = obj.get("spec", {})
    pod_spec(spec, "spec", problems, is_pod=True)
    if not spec.get("serviceAccountName"):
        _no_tokens(spec, problems)
    for field in ("containers", "initContainers"):
        for index, container in enumerate(spec.get(field, ())):
            trimmed_image(container, f"spec.{field}[{index}]", problems)


def _no_tokens(spec: Object, problems: Problems) -> None:
    for index, volume in enumerate(spec.get("volumes", ())):
        for number, source in enumerate(volume.get("projected", {}).get("sources", ())):
            if "serviceAccountToken" in source:
                path = f"spec.volumes[{index}].projected.sources[{number}].serviceAccountToken"
                problems.forbidden(path, "must not be specified when serviceAccountName is not set")


def pod_template(template: Object, path: str, problems: Problems) -> None:
    """The template in a workload's spec."""
    metadata, spec = template.get("metadata", {}), template.get("spec", {})
    label_map(metadata.get("labels"), f"{path}.labels", problems)
    annotation_map(metadata.get("annotations"), f"{path}.annotations", problems)
    pod_spec(spec, f"{path}.spec", problems)
    if spec.get("ephemeralContainers"):
        problems.forbidden(f"{path}.spec.ephemeralContainers", "ephemeral containers not allowed in pod template")


def pod_spec(spec: Object, path: str, problems: Problems, *, is_pod: bool = False) -> None:
    if "terminationGracePeriodSeconds" not in spec:
        problems.required(f"{path}.terminationGracePeriodSeconds")
    claims = _resource_claims(spec, f"{path}.resourceClaims", problems)
    context = PodContext(
        volumes=volumes(spec.get("volumes", ()), f"{path}.volumes", problems),
        claims=claims,
        grace_period=spec.get("terminationGracePeriodSeconds"),
        restart_policy=spec.get("restartPolicy", ""),
    )
    containers(spec, path, context, problems)
    if spec.get("resources"):
        requirements(spec["resources"], f"{path}.resources", problems, name_rule=pod_resource_name)
    if spec.get("hostNetwork"):
        _host_network_ports(spec, path, problems, is_pod=is_pod)
    problems.one_of(f"{path}.restartPolicy", spec.get("restartPolicy"), _RESTART)
    problems.one_of(f"{path}.dnsPolicy", spec.get("dnsPolicy"), _DNS)
    label_map(spec.get("nodeSelector"), f"{path}.nodeSelector", problems)
    if "securityContext" in spec:
        pod_security_context(spec["securityContext"], spec, f"{path}.securityContext", problems)
    if "affinity" in spec:
        placement.affinity(spec["affinity"], f"{path}.affinity", problems)
    _dns_config(spec, f"{path}.dnsConfig", problems)
    _gates(spec, path, problems)
    if "topologySpreadConstraints" in spec:
        constraints = spec["topologySpreadConstraints"]
        placement.spread_constraints(constraints, f"{path}.topologySpreadConstraints", problems)
    _user_namespace(spec, path, problems)
    _names(spec, path, problems)
    _numbers(spec, path, problems)
    if "tolerations" in spec:
        placement.tolerations(spec["tolerations"], f"{path}.tolerations", problems)
    _host_aliases(spec, path, problems)


def _resource_claims(spec: Object, path: str, problems: Problems) -> frozenset[str]:
    names: set[str] = set()
    for index, claim in enumerate(spec.get("resourceClaims", ())):
        at, name = f"{path}[{index}]", claim.get("name", "")
        if not name:
            problems.required(f"{at}.name")
        elif name in names:
            problems.duplicate(f"{at}.name", name)
        else:
            problems.all_invalid(f"{at}.name", name, text.dns_label(name))
        names.add(name)
        sources = [field for field in ("resourceClaimName", "resourceClaimTemplateName") if field in claim]
        if len(sources) > 1:
            detail = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
            problems.invalid(at, claim, detail)
        elif not sources:
            problems.invalid(at, claim, "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`")
        for field in sources:
            problems.all_invalid(f"{at}.{field}", claim[field], text.dns_subdomain(claim[field]))
    return frozenset(names)


def _host_network_ports(spec: Object, path: str, problems: Problems, *, is_pod: bool) -> None:
    for index, container in enumerate(spec.get("containers", ())):
        for number, port in enumerate(container.get("ports", ())):
            host = port.get("hostPort", 0)
            if (is_pod or host) and host != port.get("containerPort", 0):
                at = f"{path}.containers[{index}].ports[{number}].hostPort"
                problems.invalid(at, host, "must match `containerPort` when `hostNetwork` is true")


def _dns_config(spec: Object, path: str, problems: Problems) -> None:
    config = spec.get("dnsConfig")
    servers = (config or {}).get("nameservers", ())
    if spec.get("dnsPolicy") == "None":
        if config is None:
            problems.required(path, "must provide `dnsConfig` when `dnsPolicy` is None")
        elif not servers:
            detail = "must provide at least one DNS nameserver when `dnsPolicy` is None"
            problems.required(f"{path}.nameservers", detail)
    if not config:
        return
    if len(servers) > _NAMESERVERS:
        problems.invalid(f"{path}.nameservers", servers, f"must not have more than {_NAMESERVERS} nameservers")
    for index, server in enumerate(servers):
        problems.all_invalid(f"{path}.nameservers[{index}]", server, text.ip_address(server))
    _searches(config.get("searches", ()), f"{path}.searches", problems)
    for index, option in enumerate(config.get("options", ())):
        if not option.get("name"):
            problems.required(f"{path}.options[{index}]", "must not be empty")


def _searches(searches: list[str], path: str, problems: Problems) -> None:
    if len(searches) > _SEARCHES:
        problems.invalid(path, searches, f"must not have more than {_SEARCHES} search paths")
    if len(" ".join(searches)) > _SEARCH_LENGTH:
        detail = f"must not have more than {_SEARCH_LENGTH} characters (including spaces) in the search list"
        problems.invalid(path, searches, detail)
    for index, search in enumerate(searches):
        if search != ".":
            plain = search.removesuffix(".")
            problems.all_invalid(f"{path}[{index}]", plain, text.dns_subdomain_with_underscore(plain))


def _gates(spec: Object, path: str, problems: Problems) -> None:
    for index, gate in enumerate(spec.get("readinessGates", ())):
        condition = gate.get("conditionType", "")
        at = f"{path}.readinessGates[{index}].conditionType"
        problems.all_invalid(at, condition, text.qualified_name(condition))
    seen = set()
    for index, gate in enumerate(spec.get("schedulingGates", ())):
        at, name = f"{path}.schedulingGates[{index}]", gate.get("name", "")
        problems.all_invalid(at, name, text.qualified_name(name))
        if name in seen:
            problems.duplicate(at, name)
        seen.add(name)


def _user_namespace(spec: Object, path: str, problems: Problems) -> None:
    if spec.get("hostUsers") is False:
        # The capitals are upstream's.
        for field, shown in (("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC")):
            if spec.get(field):
                problems.forbidden(f"{path}.{shown}", _NOT_WITH_USER_NAMESPACE)


def _names(spec: Object, path: str, problems: Problems) -> None:
    for field in ("serviceAccountName", "nodeName", "priorityClassName", "runtimeClassName"):
        if spec.get(field):
            problems.all_invalid(f"{path}.{field}", spec[field], text.dns_subdomain(spec[field]))
    for field in ("hostname", "subdomain"):
        if spec.get(field):
            problems.all_invalid(f"{path}.{field}", spec[field], text.dns_label(spec[field]))
    if "preemptionPolicy" in spec:
        problems.one_of(f"{path}.preemptionPolicy", spec["preemptionPolicy"], _PREEMPTION)
    if "os" in spec:
        problems.one_of(f"{path}.os.name", spec["os"].get("name"), ("linux", "windows"))


def _numbers(spec: Object, path: str, problems: Problems) -> None:
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline <= _MAX_INT32:
        problems.invalid(f"{path}.activeDeadlineSeconds", deadline, text.range_text(1, _MAX_INT32))
    for name, amount in spec.get("overhead", {}).items():
        quantity(name, amount, f"{path}.overhead[{name}]", problems)


def _host_aliases(spec: Object, path: str, problems: Problems) -> None:
    for index, alias in enumerate(spec.get("hostAliases", ())):
        at, address = f"{path}.hostAliases[{index}]", alias.get("ip", "")
        problems.all_invalid(f"{at}.ip", address, text.ip_address(address))
        for number, name in enumerate(alias.get("hostnames", ())):
            problems.all_invalid(f"{at}.hostnames[{number}]", name, text.dns_subdomain(name))
