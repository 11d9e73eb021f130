"""Pods and Pod templates on create (pkg/apis/core/validation, ValidatePodSpec and its callers)."""

from __future__ import annotations

from engine.api.errors import Cause
from engine.api.types import Object
from engine.api.validation import placement, pod_annotations, text
from engine.api.validation.containers import PodContext, containers, trimmed_image
from engine.api.validation.environment import file_volumes
from engine.api.validation.go_values import internal
from engine.api.validation.labels import annotation_map, label_map
from engine.api.validation.pod_resources import pod_resources
from engine.api.validation.problems import NO_FIELD, Problems
from engine.api.validation.resources import partial_pages, requirements
from engine.api.validation.security import pod_security_context
from engine.api.validation.volumes import VolumeOwner, volumes
from engine.api.validation.windows import host_process, operating_system

_RESTART = ("Always", "OnFailure", "Never")
_DNS = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_PREEMPTION = ("PreemptLowerPriority", "Never")
_MAX_INT32 = 2**31 - 1
_HOSTNAME_LENGTH = 64
_NAMESERVERS, _SEARCHES, _SEARCH_LENGTH = 3, 32, 2048
_NOT_WITH_USER_NAMESPACE = "when `hostUsers` is false"


def pod(obj: Object, problems: Problems) -> None:
    """A new Pod."""
    metadata, spec = obj.get("metadata", {}), obj.get("spec", {})
    pod_as_such(obj, problems)
    if spec.get("ephemeralContainers"):
        problems.forbidden("spec.ephemeralContainers", "cannot be set on create")
    if spec.get("nodeName") and spec.get("schedulingGates"):
        problems.forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared")
    pod_annotations.matching_fields(metadata.get("annotations", {}), spec, "spec", problems)


def pod_as_such(obj: Object, problems: Problems) -> None:
    """What holds for a Pod at any time, but not for a template (validatePodMetadataAndSpec)."""
    metadata, spec = obj.get("metadata", {}), obj.get("spec", {})
    annotations = metadata.get("annotations", {})
    pod_annotations.known_annotations(annotations, spec, "metadata.annotations", problems)
    owner = VolumeOwner(metadata.get("name", ""), is_pod=True, is_static=pod_annotations.MIRROR in annotations)
    pod_spec(spec, "spec", problems, owner=owner)
    if not spec.get("serviceAccountName"):
        _no_tokens(spec, problems)
    for field in ("containers", "initContainers"):
        for index, container in enumerate(spec.get(field, ())):
            trimmed_image(container, f"spec.{field}[{index}]", problems)


def pod_as_before(new: Object, old: Object, problems: Problems) -> None:
    """As `pod_as_such`, but what the Pod was let through with by an older release is not held against it."""
    found, before = Problems(), Problems()
    pod_as_such(new, found)
    if found:
        pod_as_such(old, before)
    problems.extend(_new_ones(found, before))


def _no_tokens(spec: Object, problems: Problems) -> None:
    for index, volume in enumerate(spec.get("volumes", ())):
        for number, source in enumerate(volume.get("projected", {}).get("sources", ())):
            if "serviceAccountToken" in source:
                path = f"spec.volumes[{index}].projected.sources[{number}].serviceAccountToken"
                problems.forbidden(path, "must not be specified when serviceAccountName is not set")


def pod_template(template: Object, path: str, problems: Problems) -> None:
    """The template in a workload's spec."""
    metadata, spec = template.get("metadata", {}), template.get("spec", {})
    annotations = metadata.get("annotations", {})
    label_map(metadata.get("labels"), f"{path}.labels", problems)
    annotation_map(annotations, f"{path}.annotations", problems)
    pod_annotations.known_annotations(annotations, spec, f"{path}.annotations", problems)
    pod_spec(spec, f"{path}.spec", problems)
    pod_annotations.matching_fields(annotations, spec, f"{path}.spec", problems)
    if spec.get("ephemeralContainers"):
        problems.forbidden(f"{path}.spec.ephemeralContainers", "ephemeral containers not allowed in pod template")


def template_as_before(old: Object, path: str, problems: Problems) -> None:
    """Takes back what the template was let through with by an older release, as for Pods (`pod_as_before`)."""
    template: Object = old
    for field in path.split("."):
        template = template.get(field) or {}
    before = Problems()
    pod_template(template, path, before)
    problems[:] = _new_ones(problems, before)


def _new_ones(found: Problems, before: Problems) -> list[Cause]:
    """Where huge pages once did not come whole, no others need to (AllowIndivisibleHugePagesValues)."""
    partial = any(partial_pages(cause) for cause in before)
    return [cause for cause in found if cause not in before and not (partial and partial_pages(cause))]


def pod_spec(spec: Object, path: str, problems: Problems, *, owner: VolumeOwner | None = None) -> None:
    """In upstream's order (ValidatePodSpec)."""
    owner = owner or VolumeOwner()
    if "terminationGracePeriodSeconds" not in spec:
        problems.required(f"{path}.terminationGracePeriodSeconds")
    known_volumes = volumes(spec.get("volumes", ()), f"{path}.volumes", problems, owner=owner)
    claims = _resource_claims(spec, f"{path}.resourceClaims", problems, owner=owner)
    context = PodContext(
        volumes=known_volumes,
        claims=claims,
        grace_period=spec.get("terminationGracePeriodSeconds"),
        restart_policy=spec.get("restartPolicy", ""),
        host_users=spec.get("hostUsers", True),
        operating_system=spec.get("os", {}).get("name", ""),
    )
    containers(spec, path, context, problems)
    if "resources" in spec:
        pod_resources(spec, f"{path}.resources", problems, claims=claims)
    if spec.get("hostNetwork"):
        _host_network_ports(spec, path, problems, is_pod=owner.is_pod)
    problems.one_of(f"{path}.restartPolicy", spec.get("restartPolicy"), _RESTART)
    problems.one_of(f"{path}.dnsPolicy", spec.get("dnsPolicy"), _DNS)
    label_map(spec.get("nodeSelector"), f"{path}.nodeSelector", problems)
    if "securityContext" in spec:
        pod_security_context(spec["securityContext"], spec, f"{path}.securityContext", problems)
    if "affinity" in spec:
        placement.affinity(spec["affinity"], f"{path}.affinity", problems)
    _dns_config(spec, f"{path}.dnsConfig", problems)
    _gates(spec, path, problems)
    constraints = spec.get("topologySpreadConstraints", ())
    placement.spread_constraints(constraints, f"{path}.topologySpreadConstraints", problems)
    host_process(spec, path, problems)
    _user_namespace(spec, path, problems)
    if "hostnameOverride" in spec:
        _hostname_override(spec, f"{path}.hostnameOverride", problems)
    _identity(spec, path, problems)
    _classes(spec, path, problems)
    if "os" in spec:
        operating_system(spec, path, problems)
    file_volumes(spec, path, problems)


def _identity(spec: Object, path: str, problems: Problems) -> None:
    for field in ("serviceAccountName", "nodeName"):
        if spec.get(field):
            problems.all_invalid(f"{path}.{field}", spec[field], text.dns_subdomain(spec[field]))
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline <= _MAX_INT32:
        problems.invalid(f"{path}.activeDeadlineSeconds", deadline, text.range_text(1, _MAX_INT32))
    for field in ("hostname", "subdomain"):
        if spec.get(field):
            problems.all_invalid(f"{path}.{field}", spec[field], text.dns_label(spec[field]))
    placement.tolerations(spec.get("tolerations", ()), f"{path}.tolerations", problems)
    _host_aliases(spec, path, problems)


def _hostname_override(spec: Object, path: str, problems: Problems) -> None:
    """KEP-4762."""
    name = spec["hostnameOverride"]
    for field in ("setHostnameAsFQDN", "hostNetwork"):
        if spec.get(field):
            problems.forbidden(path, f"may not be specified when {field} is true")
    if len(name) > _HOSTNAME_LENGTH:
        problems.too_long(path, _HOSTNAME_LENGTH)
    problems.all_invalid(path, name, text.dns_subdomain(name))


def _classes(spec: Object, path: str, problems: Problems) -> None:
    if name := spec.get("priorityClassName"):
        problems.all_invalid(f"{path}.priorityClassName", name, text.dns_subdomain(name))
    if "runtimeClassName" in spec:
        name = spec["runtimeClassName"]
        problems.all_invalid(f"{path}.runtimeClassName", name, text.dns_subdomain(name))
    if "preemptionPolicy" in spec:
        problems.one_of(f"{path}.preemptionPolicy", spec["preemptionPolicy"], _PREEMPTION)
    if "overhead" in spec:
        requirements({"limits": spec["overhead"]}, f"{path}.overhead", problems)


def _resource_claims(spec: Object, path: str, problems: Problems, *, owner: VolumeOwner) -> frozenset[str]:
    names: set[str] = set()
    for index, claim in enumerate(spec.get("resourceClaims", ())):
        if owner.is_static:
            problems.forbidden(NO_FIELD, "static pods do not support resource claims")
            names.add(claim.get("name", ""))
            continue
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
            problems.invalid(at, internal("PodResourceClaim", claim), detail)
        elif not sources:
            detail = "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
            problems.invalid(at, internal("PodResourceClaim", claim), detail)
        for field in sources:
            problems.all_invalid(f"{at}.{field}", claim[field], text.dns_subdomain(claim[field]))
    return frozenset(names - {""})


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
            return
        if not servers:
            detail = "must provide at least one DNS nameserver when `dnsPolicy` is None"
            problems.required(f"{path}.nameservers", detail)
            return
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
        for kind in ("initContainers", "containers", "ephemeralContainers"):
            for index, container in enumerate(spec.get(kind, ())):
                if container.get("volumeDevices"):
                    problems.forbidden(f"{path}.{kind}[{index}].volumeDevices", _NOT_WITH_USER_NAMESPACE)


def _host_aliases(spec: Object, path: str, problems: Problems) -> None:
    for index, alias in enumerate(spec.get("hostAliases", ())):
        at, address = f"{path}.hostAliases[{index}]", alias.get("ip", "")
        problems.all_invalid(f"{at}.ip", address, text.ip_address(address))
        for number, name in enumerate(alias.get("hostnames", ())):
            problems.all_invalid(f"{at}.hostnames[{number}]", name, text.dns_subdomain(name))
