"""What a file configures of the admission plugins (`--admission-control-config-file`).

Source: apiserver pkg/admission/config.go and pkg/apis/apiserver. Each plugin reads its own part, from the file itself
or from one beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import yaml

from engine.api.pod_security import Configuration
from engine.api.pod_security import configuration as pod_security
from engine.api.types import Object
from engine.api.validation import placement
from engine.api.validation.problems import Problems
from engine.apiserver.admission import quota_cover
from engine.apiserver.admission.hook_files import HookFiles, HookFilesError, hook_files
from engine.apiserver.admission.image_policy_settings import ImagePolicy, ImagePolicyError, image_policy
from engine.apiserver.admission.manifests.loading import PLUGINS
from engine.apiserver.admission.optional import events

_API_VERSIONS = ("apiserver.config.k8s.io/v1", "apiserver.k8s.io/v1alpha1")
_TOLERATIONS = "podtolerationrestriction.admission.k8s.io/v1alpha1"


class AdmissionConfigurationError(Exception):
    """The file is none that a server would start with."""


class AdmissionConfiguration(NamedTuple):
    pod_security: Configuration = Configuration()
    event_limits: tuple[Object, ...] = ()
    limited_resources: tuple[Object, ...] = ()
    node_selectors: Mapping[str, str] = MappingProxyType({})
    tolerations: tuple[Object, ...] = ()
    permissible_tolerations: tuple[Object, ...] = ()
    hooks: Mapping[str, HookFiles] = MappingProxyType({})  # of webhooks and policies, by their plugins
    image_policy: ImagePolicy | None = None


def load_configuration(
    file: Path | None, *, enabled: tuple[str, ...] = (), release: tuple[int, int] = (99, 0)
) -> AdmissionConfiguration:
    """Raises AdmissionConfigurationError, also for a plugin of `enabled` that has to be configured and is not."""
    parts = _parts(file) if file is not None else {}
    standards = _checked(parts, "PodSecurity", dict.fromkeys(pod_security.API_VERSIONS, pod_security.KIND))
    _fields(standards)
    _without_problems("PodSecurity", pod_security.problems_of(standards))
    limits = _checked(parts, "EventRateLimit", {events.API_VERSION: events.KIND})
    if limits or "EventRateLimit" in enabled:
        _without_problems("EventRateLimit", events.limit_problems(limits))
    quotas = _checked(parts, "ResourceQuota", quota_cover.KINDS)
    _without_problems("ResourceQuota", quota_cover.limited_problems(quotas))
    tolerations = _checked(parts, "PodTolerationRestriction", {_TOLERATIONS: "Configuration"})
    _check_tolerations(tolerations)
    return AdmissionConfiguration(
        pod_security.configuration_of(standards),
        tuple(limits.get("limits") or ()),
        tuple(quotas.get("limitedResources") or ()),
        _object(parts, "PodNodeSelector").get("podNodeSelectorPluginConfig") or {},
        tuple(tolerations.get("default") or ()),
        tuple(tolerations.get("whitelist") or ()),
        {name: _hook_files(name, parts[name], release) for name in PLUGINS if name in parts},
        _image_policy(parts, asked="ImagePolicyWebhook" in enabled),
    )


def _parts(file: Path) -> dict[str, Any]:
    """The first part that each plugin has."""
    found = _read(file)
    if found.get("kind") != "AdmissionConfiguration" or found.get("apiVersion") not in _API_VERSIONS:
        told = f"{found.get('apiVersion', '')}, Kind={found.get('kind', '')}"
        raise AdmissionConfigurationError(f"{file}: unable to recognize {told}; it is {_API_VERSIONS[0]}, "
                                          "Kind=AdmissionConfiguration")  # fmt: skip
    parts: dict[str, Any] = {}
    for position, plugin in enumerate(found.get("plugins") or ()):
        if not isinstance(plugin, dict):
            raise AdmissionConfigurationError(f"{file}: plugins[{position}] is no object")
        if plugin.get("configuration") is not None:
            parts.setdefault(plugin.get("name", ""), plugin["configuration"])
        elif plugin.get("path"):
            parts.setdefault(plugin.get("name", ""), _read(file.parent / plugin["path"]))
    return parts


def _read(file: Path) -> Object:
    try:
        found = yaml.safe_load(file.read_bytes())
    except OSError as error:
        text = f'unable to read admission control configuration from "{file}" [open {file}: {error.strerror}]'
        raise AdmissionConfigurationError(text) from error
    except yaml.YAMLError as error:
        raise AdmissionConfigurationError(f"{file}: {error}") from error
    if not isinstance(found, dict):
        raise AdmissionConfigurationError(f"{file}: there is no configuration")
    return found


def _checked(parts: Mapping[str, Any], plugin: str, kinds: Mapping[str, str]) -> Object:
    """The part of a plugin, of the kind that it reads in a version."""
    part = _object(parts, plugin)
    if part and part.get("kind", "") != kinds.get(part.get("apiVersion", "")):
        told = f'no kind "{part.get("kind", "")}" is registered for version "{part.get("apiVersion", "")}"'
        raise _failed(plugin, told)
    return part


def _object(parts: Mapping[str, Any], plugin: str) -> Object:
    part: Object = parts.get(plugin) or {}
    if not isinstance(part, dict):
        raise _failed(plugin, f"{part!r} is no object")
    return part


def _hook_files(plugin: str, part: Any, release: tuple[int, int]) -> HookFiles:
    try:
        return hook_files(plugin, part, release)
    except HookFilesError as error:
        raise _failed(plugin, str(error)) from error


def _image_policy(parts: Mapping[str, Any], *, asked: bool) -> ImagePolicy | None:
    """Of a plugin that is on: what is said of another is not read."""
    plugin = "ImagePolicyWebhook"
    if not asked:
        return None
    if plugin not in parts:
        raise _failed(plugin, "no config specified")
    try:
        return image_policy(_object(parts, plugin))
    except ImagePolicyError as error:
        raise _failed(plugin, str(error)) from error


def _check_tolerations(configuration: Object) -> None:
    problems = Problems()
    for field in ("default", "whitelist"):
        placement.tolerations(configuration.get(field) or (), f"podtolerationrestriction.{field}", problems)
    if problems:
        raise _failed("PodTolerationRestriction", f"invalid config: [{' '.join(map(str, problems))}]")


def _fields(standards: Object) -> None:
    """Fields that there are not are refused, as a typing error would let everything through."""
    known = {"apiVersion", "kind", *pod_security.FIELDS}
    unknown = [name for name in standards if name not in known]
    for part, names in pod_security.FIELDS.items():
        unknown += [f"{part}.{name}" for name in standards.get(part) or () if name not in names]
    if unknown:
        told = ", ".join(f'unknown field "{name}"' for name in sorted(unknown))
        raise _failed("PodSecurity", f"strict decoding error: {told}")


def _without_problems(plugin: str, problems: Problems) -> None:
    if problems:
        texts = [str(each) for each in problems]
        raise _failed(plugin, texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]")


def _failed(plugin: str, why: str) -> AdmissionConfigurationError:
    return AdmissionConfigurationError(f'couldn\'t init admission plugin "{plugin}": {why}')
