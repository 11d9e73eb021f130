"""What the documents of a folder say: webhooks, or policies with their bindings, as if they had been posted.

Source: pkg/admission/plugin/{webhook,policy}/manifest/loader with their parts of the same names in apiserver, and there
pkg/admission/plugin/manifest/validation.go. They are decoded strictly, defaulted and checked, and stand for themselves:
nothing in the API is referred to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from engine.api.decoding import Unfit, unmarshalled
from engine.api.defaults import apply_defaults
from engine.api.errors import joined
from engine.api.golang.forms import UnmarshalError, type_meta
from engine.api.golang.yaml import YamlError, load
from engine.api.resource_table import ADMISSION
from engine.api.resources import ResourceRegistry
from engine.api.schema import Definitions
from engine.api.static_names import SUFFIX
from engine.api.types import GVK, Object
from engine.api.validation import validate_create
from engine.api.yaml_text import CONVERTING, twice_in_yaml, unmarshal_errors
from engine.apiserver.admission.manifests.files import Document, ManifestError, read_folder

_POLICIES = {f"{kind}AdmissionPolicy": f"{kind}AdmissionPolicyBinding" for kind in ("Mutating", "Validating")}
_WEBHOOKS = {f"{kind}AdmissionWebhook": f"{kind}WebhookConfiguration" for kind in ("Mutating", "Validating")}
PLUGINS = (*_POLICIES, *_WEBHOOKS)
_VERSION = f"{ADMISSION}/v1"


class Loaded(NamedTuple):
    """By name: configurations of webhooks, or policies with their bindings. `hash` is that of the files."""

    hooks: tuple[Object, ...] = ()
    bindings: tuple[Object, ...] = ()
    hash: str = ""


class Loader:
    """Reads what a plugin may find in its folder."""

    def __init__(self, plugin: str, definitions: Definitions, resources: ResourceRegistry) -> None:
        self._kinds = (plugin, _POLICIES[plugin]) if plugin in _POLICIES else (_WEBHOOKS[plugin],)
        self._of_policies = plugin in _POLICIES
        self._definitions = definitions
        self._resources = resources

    def load(self, folder: Path) -> Loaded:
        """Raises ManifestError."""
        contents = read_folder(folder)
        found: dict[str, dict[str, tuple[Object, Path]]] = {kind: {} for kind in self._kinds}
        for document in contents.documents:
            try:
                for obj in self._objects(_value(document)):
                    self._take(obj, document.file, found[obj["kind"]])
            except ManifestError as error:
                raise ManifestError(f"error loading {document.file}: {error}") from error
        hooks, *bindings = ([found[kind][name][0] for name in sorted(found[kind])] for kind in self._kinds)
        for binding in bindings[0] if bindings else ():
            policy = binding["spec"]["policyName"]
            if policy not in found[self._kinds[0]]:
                named = f'binding "{binding["metadata"]["name"]}" references policy "{policy}"'
                raise ManifestError(f"{named} which does not exist in the manifest directory")
        return Loaded(tuple(hooks), tuple(bindings[0]) if bindings else (), contents.hash)

    def _objects(self, value: Any, *, within: str = "") -> Iterator[Object]:
        """Those of a document, which may be a list of several: decoded, defaulted and valid. Raises ManifestError."""
        try:
            kind, version = type_meta(value)
        except UnmarshalError as error:
            raise ManifestError(str(error)) from error
        for field, said in (("Kind", kind), ("apiVersion", version)):
            if not said:
                raise ManifestError(f"Object '{field}' is missing in '{orjson.dumps(value).decode()}'")
        if (kind, version) == ("List", "v1") and not (self._of_policies and within):
            for item in value.get("items") or ():
                yield from self._objects(item, within=" in List")
        elif version == _VERSION and kind in self._kinds:
            yield self._valid(self._decoded(GVK(ADMISSION, "v1", kind), value))
        elif version == _VERSION and kind.removesuffix("List") in self._kinds:
            for item in self._decoded(GVK(ADMISSION, "v1", kind), value).get("items") or ():
                yield self._valid({**item, "apiVersion": version, "kind": kind.removesuffix("List")})
        else:
            raise ManifestError(self._unsupported(kind, version, within))

    def _unsupported(self, kind: str, version: str, within: str) -> str:
        group, _, short = version.rpartition("/")
        known = self._definitions.kind(GVK(group, short, kind)) is not None and group == ADMISSION
        if not known and (kind, version) != ("List", "v1"):
            return f'no kind "{kind}" is registered for version "{version}"'
        if self._of_policies:
            return f"unsupported resource type {version if group else f'/{version}'}, Kind={kind}{within}"
        return f"unsupported resource type *{short}.{kind}"

    def _decoded(self, gvk: GVK, value: Any) -> Object:
        schema = self._definitions.kind(gvk)
        assert schema is not None, "what has manifests has these kinds in its API"
        try:
            decoded = unmarshalled(self._definitions, schema, value, gvk=gvk)
        except Unfit as error:
            raise ManifestError(str(error)) from error
        if decoded.unknown:
            raise ManifestError(f"strict decoding error: {', '.join(decoded.unknown)}")
        return decoded.object

    def _valid(self, obj: Object) -> Object:
        info = self._resources.by_kind(GVK(ADMISSION, "v1", obj["kind"]))
        assert info is not None, "and these resources"
        apply_defaults(info, obj)
        name = (obj.get("metadata") or {}).get("name", "")
        if causes := validate_create(info, obj, static=True):
            raise ManifestError(f'{obj["kind"]} "{name}": {joined(causes)}')
        return obj

    def _take(self, obj: Object, file: Path, taken: dict[str, tuple[Object, Path]]) -> None:
        """Raises ManifestError where a name or what it refers to does not belong into a file."""
        name = obj["metadata"].get("name", "")
        if not name:
            raise ManifestError(f'resource in file "{file}" must have a name')
        if not name.endswith(SUFFIX):
            raise ManifestError(f'"{name}" in file "{file}" must have a name ending with "{SUFFIX}"')
        if name in taken:
            raise ManifestError(
                f'duplicate name "{name}" found in file "{file}" (previously seen in "{taken[name][1]}")'
            )
        _CHECKS[obj["kind"]](obj, name, file)
        taken[name] = obj, file


def _value(document: Document) -> Any:
    """The JSON value of a document. Raises ManifestError."""
    try:
        value = load(document.text)
    except YamlError as error:
        raise ManifestError(f"{CONVERTING}{error}") from error
    if twice := twice_in_yaml(document.text):
        raise ManifestError(f"strict decoding error: {unmarshal_errors(twice)}")
    return value


def _check_webhooks(obj: Object, name: str, file: Path) -> None:
    for webhook in obj.get("webhooks") or ():
        config, told = webhook["clientConfig"], f'webhook "{webhook["name"]}" in "{name}" (file "{file}"): clientConfig'
        if config.get("service") is not None:
            raise ManifestError(f"{told}.service is not supported for static manifests; use clientConfig.url instead")


def _check_policy(obj: Object, name: str, file: Path) -> None:
    if obj["spec"].get("paramKind") is not None:
        raise ManifestError(f'{obj["kind"]} "{name}": spec.paramKind is not supported for static manifests')


def _check_binding(obj: Object, name: str, file: Path) -> None:
    policy = obj["spec"]["policyName"]
    if not policy.endswith(SUFFIX):
        raise ManifestError(f'binding "{name}": spec.policyName "{policy}" must end with "{SUFFIX}"')
    if obj["spec"].get("paramRef") is not None:
        raise ManifestError(f'binding "{name}": spec.paramRef is not supported for static manifests')


_CHECKS: dict[str, Callable[[Object, str, Path], None]] = {
    **dict.fromkeys(_WEBHOOKS.values(), _check_webhooks),
    **dict.fromkeys(_POLICIES, _check_policy),
    **dict.fromkeys(_POLICIES.values(), _check_binding),
}
