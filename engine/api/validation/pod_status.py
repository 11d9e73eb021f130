"""What the status of a Pod may say (core validation, ValidatePodStatusUpdate)."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api import errors
from engine.api.quantity import Quantity
from engine.api.types import Object
from engine.api.validation import pod_annotations, text
from engine.api.validation.pod_annotations import annotation_updates
from engine.api.validation.problems import Problems
from engine.api.validation.resources import native

_SYSTEM_CONDITIONS = ("PodScheduled", "Ready", "Initialized")
_HEALTH_MESSAGE_LENGTH, _IMAGE_REFERENCE_LENGTH = 1024, 256
_HEALTH = ("Healthy", "Unhealthy", "Unknown")
_MAX_ID, _MAX_USER = 2**31 - 1, 2**32 - 1
_STATUSES = ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")
_FAMILIES = "may specify no more than one IP for each IP family"
_BOUND = "may not be set on pods that are already bound to a node"
_NO_CONTAINER = "must match the name of an entry in spec.initContainers.name or spec.containers.name"
_NO_RESOURCE = (
    "must match the extended resource name of an entry in spec.initContainers.resources.requests or "
    "spec.containers.resources.requests"
)
_CLAIM = (
    "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or "
    "'claim:<claimName>' if request is empty"
)


def pod_status_update(new: Object, old: Object, problems: Problems) -> None:
    _pod_status_update(new, old, problems, largest_user=_MAX_USER)


def old_pod_status_update(new: Object, old: Object, problems: Problems) -> None:
    """Of releases before 1.37, whose users are no larger than those that a Pod may ask for."""
    _pod_status_update(new, old, problems, largest_user=_MAX_ID)


def _pod_status_update(new: Object, old: Object, problems: Problems, *, largest_user: int) -> None:
    annotations = new["metadata"].get("annotations", {})
    annotation_updates(annotations, old["metadata"].get("annotations", {}), problems)
    spec, status, before = new.get("spec", {}), new.get("status", {}), old.get("status", {})
    pod_annotations.known_annotations(annotations, spec, "metadata.annotations", problems)
    for index, condition in enumerate(status.get("conditions", ())):
        kind, at = condition.get("type", ""), f"status.conditions[{index}]"
        _generation(condition, at, problems)
        if kind not in _SYSTEM_CONDITIONS:
            problems.all_invalid(f"{at}.Type", kind, text.qualified_name(kind))
    nominated = status.get("nominatedNodeName", "")
    if nominated and nominated != before.get("nominatedNodeName"):
        problems.all_invalid("status.nominatedNodeName", nominated, text.dns_subdomain(nominated))
        if old.get("spec", {}).get("nodeName"):
            problems.forbidden("status.nominatedNodeName", _BOUND)
    _generation(status, "status", problems)
    if status.get("qosClass", "") != before.get("qosClass", ""):
        problems.immutable("status.qosClass", status.get("qosClass", ""), before.get("qosClass", ""))
    _transitions(status, before, old.get("spec", {}), problems)
    _claims(status.get("resourceClaimStatuses", ()), spec, problems)
    if (claim := status.get("extendedResourceClaimStatus")) is not None:
        _extended_claim(claim, spec, problems)
    _node_claims(status, spec, problems)
    _pod_addresses(status.get("podIPs", ()), _addresses(before.get("podIPs", ())), problems)
    _host_addresses(status, _addresses(before.get("hostIPs", ())), problems)
    for field in _STATUSES:
        _users(status.get(field, ()), f"status.{field}", spec, problems, largest_user=largest_user)
    _allocated(status, spec, problems)
    for field in _STATUSES:
        _images(status.get(field, ()), f"status.{field}", problems)


def _generation(holder: Object, path: str, problems: Problems) -> None:
    if holder.get("observedGeneration", 0) < 0:
        detail = "must be a non-negative integer"
        problems.invalid(f"{path}.observedGeneration", holder["observedGeneration"], detail)


def _transitions(status: Object, before: Object, spec: Object, problems: Problems) -> None:
    """A container that will not be restarted does not leave the terminated state."""
    of_pod, all_restart = spec.get("restartPolicy", "Always"), _all_could_restart(spec)
    for field, containers in zip(_STATUSES, ("containers", "initContainers", "ephemeralContainers"), strict=True):
        known = {each.get("name"): each for each in spec.get(containers, ())}
        current = {each.get("name"): each for each in status.get(field, ())}
        for index, old in enumerate(before.get(field, ())):
            ended, new = old.get("state", {}).get("terminated"), current.get(old.get("name"))
            if ended is None or new is None or "terminated" in new.get("state", {}):
                continue
            ephemeral = field.startswith("ephemeral")
            restarts = not ephemeral and _restarts(known.get(old.get("name")), of_pod, ended.get("exitCode", 0))
            if not restarts and (ephemeral or not all_restart):
                detail = "may not be transitioned to non-terminated state"
                problems.forbidden(f"status.{field}[{index}].state", detail)


def _restarts(container: Object | None, of_pod: str, code: int) -> bool:
    """Whether a container that ended with this code starts again (pkg/api/v1/pod, ContainerShouldRestart)."""
    if container is None:
        return False
    policy = container.get("restartPolicy")
    if policy is not None and _restart_rule(container, code):
        return True
    policy = policy or of_pod
    return policy == "Always" or (policy == "OnFailure" and code != 0)


def _all_could_restart(spec: Object) -> bool:
    """Whether a container's end may start all of them anew (KEP-5532, AllContainersCouldRestart)."""
    return any(
        rule.get("action") == "RestartAllContainers"
        for field in ("initContainers", "containers")
        for container in spec.get(field, ())
        for rule in container.get("restartPolicyRules", ())
    )


def _restart_rule(container: Object, code: int) -> bool:
    for rule in container.get("restartPolicyRules", ()):
        codes = rule.get("exitCodes", {})
        if (code in codes.get("values", ())) == (codes.get("operator") == "In"):
            return True
    return False


def _claims(statuses: Sequence[Object], spec: Object, problems: Problems) -> None:
    known = {claim.get("name") for claim in spec.get("resourceClaims", ())}
    seen = set()
    for index, status in enumerate(statuses):
        path, name = f"status.resourceClaimStatuses[{index}].name", status.get("name", "")
        if name not in known:
            problems.invalid(path, name, "must match the name of an entry in `spec.resourceClaims`")
        if name in seen:
            problems.duplicate(path, name)
        seen.add(name)
        if "resourceClaimName" in status:
            claim = status["resourceClaimName"]
            at = f"status.resourceClaimStatuses[{index}].resourceClaimName"
            problems.all_invalid(at, claim, text.dns_subdomain(claim))


def _extended_claim(status: Object, spec: Object, problems: Problems) -> None:
    """Which requests of a claim stand for which extended resources of the containers (KEP-5004)."""
    path, mappings = "status.extendedResourceClaimStatus", status.get("requestMappings", ())
    containers = {each.get("name"): each for each in (*spec.get("initContainers", ()), *spec.get("containers", ()))}
    if not mappings:
        problems.required(f"{path}.requestMappings", "at least one request mapping is required")
    seen = []
    for index, mapping in enumerate(mappings):
        at = f"{path}.requestMappings[{index}]"
        key = {field: mapping.get(field, "") for field in ("containerName", "resourceName", "requestName")}
        container = containers.get(key["containerName"])
        if container is None:
            problems.invalid(f"{at}.containerName", key["containerName"], _NO_CONTAINER)
        elif key["resourceName"] not in container.get("resources", {}).get("requests", {}):
            problems.invalid(f"{at}.resourceName", key["resourceName"], _NO_RESOURCE)
        problems.all_invalid(f"{path}.requestName", key["requestName"], text.dns_label(key["requestName"]))
        if key in seen:
            for field, value in key.items():
                problems.duplicate(f"{at}.{field}", value)
        seen.append(key)
    if name := status.get("resourceClaimName", ""):
        problems.all_invalid(f"{path}.resourceClaimName", name, text.dns_subdomain(name))
    else:
        problems.required(f"{path}.resourceClaimName")


def _node_claims(status: Object, spec: Object, problems: Problems) -> None:
    """What claims take of a node's own resources (KEP-5517, validateNodeAllocatableResourceClaimStatus)."""
    for index, entry in enumerate(status.get("nodeAllocatableResourceClaimStatuses", ())):
        path, name = f"status.nodeAllocatableResourceClaimStatuses[{index}]", entry.get("resourceClaimName", "")
        if not name:
            problems.required(f"{path}.resourceClaimName", "must not be empty")
        known = (*spec.get("resourceClaims", ()), *status.get("resourceClaimStatuses", ()))
        if not any(claim.get("resourceClaimName") == name for claim in known):
            problems.invalid(f"{path}.resourceClaimName", name, "no mapping found in pod reference")
        for field in ("containers", "resources"):
            if not entry.get(field):
                problems.required(f"{path}.{field}", "must not be empty")
        for resource, amount in entry.get("resources", {}).items():
            at = f"{path}.resources[{resource}]"
            if not native(resource):
                problems.invalid(at, resource, "must be a node allocatable resource name")
            if Quantity.parse(amount) < Quantity():
                problems.invalid(at, amount, "must be non-negative")


def _addresses(entries: Sequence[Object]) -> list[str]:
    return [entry.get("ip", "") for entry in entries]


def _valid_addresses(addresses: Sequence[str], known: Sequence[str], path: str, problems: Problems) -> None:
    """What has been there before may stay, however it is written (IsValidIPForLegacyField)."""
    for index, address in enumerate(addresses):
        if address not in known:
            problems.all_invalid(f"{path}[{index}]", address, text.ip_address(address))


def _pod_addresses(entries: Sequence[Object], known: Sequence[str], problems: Problems) -> None:
    path, addresses = "status.podIPs", _addresses(entries)
    _valid_addresses(addresses, known, path, problems)
    _families(addresses, path, problems)


def _families(addresses: Sequence[str], path: str, problems: Problems) -> None:
    """Of several, there is one of each family."""
    if len(addresses) < 2:
        return
    unknown = next((index for index, address in enumerate(addresses) if not text.is_ip_address(address)), None)
    if unknown is not None:
        detail = f"failed to check for dual stack with error:invalid IP[{unknown}]: <nil>"
        problems.append(errors.field_internal(path, detail))
    if unknown is not None or len(addresses) > 2 or not dual_stack(addresses):
        problems.invalid(path, [{"IP": address} for address in addresses], _FAMILIES)


def _host_addresses(status: Object, known: Sequence[str], problems: Problems) -> None:
    path, addresses = "status.hostIPs", _addresses(status.get("hostIPs", ()))
    if not addresses:
        return
    if addresses[0] != status.get("hostIP", ""):
        problems.invalid(f"{path}[0].ip", addresses[0], "must be equal to `hostIP`")
    _valid_addresses(addresses, known, path, problems)
    _families(addresses, path, problems)


def dual_stack(addresses: Sequence[str]) -> bool:
    """Whether there are addresses of each family."""
    return {text.address_family(address) for address in addresses} == {4, 6}


def _users(statuses: Sequence[Object], path: str, spec: Object, problems: Problems, *, largest_user: int) -> None:
    windows = spec.get("os", {}).get("name") == "windows"
    for index, status in enumerate(statuses):
        linux, at = status.get("user", {}).get("linux"), f"{path}[{index}].user.linux"
        if linux is None:
            continue
        if windows:
            problems.forbidden(at, "cannot be set for a windows pod")
            continue
        groups = linux.get("supplementalGroups", ())
        identifiers = [(f"{at}.uid", linux.get("uid", 0), largest_user), (f"{at}.gid", linux.get("gid", 0), _MAX_ID)]
        identifiers += [(f"{at}.supplementalGroups[{number}]", group, _MAX_ID) for number, group in enumerate(groups)]
        for where, value, largest in identifiers:
            if not 0 <= value <= largest:
                problems.invalid(where, value, text.range_text(0, largest))


def _images(statuses: Sequence[Object], path: str, problems: Problems) -> None:
    """Which images the mounted image volumes are of (KEP-5365)."""
    for index, status in enumerate(statuses):
        for number, mount in enumerate(status.get("volumeMounts", ())):
            image = mount.get("volumeStatus", {}).get("image")
            if image is None:
                continue
            at = f"{path}[{index}].volumeMounts[{number}].volumeStatus.imageVolumeStatus.imageRef"
            if not image.get("imageRef"):
                problems.required(at, "imageRef must not be empty")
            elif len(image["imageRef"].encode()) > _IMAGE_REFERENCE_LENGTH:
                problems.too_long(at, _IMAGE_REFERENCE_LENGTH)


def _allocated(status: Object, spec: Object, problems: Problems) -> None:
    """The health of devices is told for what a container has asked for."""
    for field, containers in (("containerStatuses", "containers"), ("initContainerStatuses", "initContainers")):
        known = {each.get("name"): each for each in spec.get(containers, ())}
        for index, entry in enumerate(status.get(field, ())):
            for number, resource in enumerate(entry.get("allocatedResourcesStatus", ())):
                path = f"status.{field}[{index}].allocatedResourcesStatus[{number}]"
                _allocated_resource(resource, known.get(entry.get("name")), path, problems)
    for index, entry in enumerate(status.get("ephemeralContainerStatuses", ())):
        if entry.get("allocatedResourcesStatus"):
            path = f"status.ephemeralContainerStatuses[{index}].allocatedResourcesStatus"
            problems.forbidden(path, "must not be specified in container status")


def _allocated_resource(resource: Object, container: Object | None, path: str, problems: Problems) -> None:
    name = resource.get("name", "")
    if container is not None:
        resources = container.get("resources", {})
        if name.startswith("claim:"):
            keys = (
                f"claim:{claim.get('name', '')}" + (f"/{claim['request']}" if claim.get("request") else "")
                for claim in resources.get("claims", ())
            )
            if name not in keys:
                problems.invalid(f"{path}.name", name, _CLAIM)
        elif name not in resources.get("requests", {}):
            problems.invalid(f"{path}.name", name, "must match one of the container's resource requests")
    seen = set()
    for index, device in enumerate(resource.get("resources", ())):
        health, identifier = device.get("health", ""), device.get("resourceID", "")
        if health not in _HEALTH:
            problems.not_supported(f"{path}.resources[{index}].health", health, _HEALTH)
        message = device.get("message")
        if message is not None and not message:
            problems.required(f"{path}.resources[{index}].message", "must be non-empty if specified")
        elif message is not None and len(message.encode()) > _HEALTH_MESSAGE_LENGTH:
            problems.too_long(f"{path}.resources[{index}].message", _HEALTH_MESSAGE_LENGTH)
        if identifier in seen:
            problems.duplicate(f"{path}.resources[{index}].resourceID", identifier)
        seen.add(identifier)
