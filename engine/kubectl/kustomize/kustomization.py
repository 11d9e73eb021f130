"""The kustomization file: read, checked and brought to its present form.

Source of the behaviour: kustomize api/types/kustomization.go and api/internal/target (LoadKustFile).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from engine.api.golang.yaml import YamlError, load
from engine.kubectl.kustomize.decoding import decoded
from engine.kubectl.kustomize.errors import BuildError, within
from engine.kubectl.kustomize.loader import NAMES, Loader

COMPONENT = "Component"
_KIND = "Kustomization"
_VERSIONS = {_KIND: "kustomize.config.k8s.io/v1beta1", COMPONENT: "kustomize.config.k8s.io/v1alpha1"}
_FIX = "Run 'kustomize edit fix' to update your Kustomization automatically."
_DEPRECATED = {
    "bases": f"# Warning: 'bases' is deprecated. Please use 'resources' instead. {_FIX}",
    "commonLabels": f"# Warning: 'commonLabels' is deprecated. Please use 'labels' instead. {_FIX}",
    "imageTags": f"# Warning: 'imageTags' is deprecated. Please use 'images' instead. {_FIX}",
    "patchesJson6902": f"# Warning: 'patchesJson6902' is deprecated. Please use 'patches' instead. {_FIX}",
    "patchesStrategicMerge": f"# Warning: 'patchesStrategicMerge' is deprecated. Please use 'patches' instead. {_FIX}",
    "vars": f"# Warning: 'vars' is deprecated. Please use 'replacements' instead. [EXPERIMENTAL] {_FIX}",
}


@dataclass(slots=True)
class Kustomization:
    kind: str
    fields: dict[str, Any]
    file: str
    warnings: list[str] = field(default_factory=list)

    def list(self, name: str) -> list[Any]:
        return list(self.fields.get(name) or ())

    def map(self, name: str) -> dict[str, Any]:
        return dict(self.fields.get(name) or {})

    def text(self, name: str) -> str:
        return str(self.fields.get(name) or "")


def read(loader: Loader) -> Kustomization:
    """The kustomization of a loader's folder. Raises BuildError."""
    name, content = _file(loader)
    try:
        value = load(content)
    except YamlError as error:
        raise BuildError(f"invalid Kustomization: {error}") from error
    fields = _checked(value)
    warnings = [text for name_, text in _DEPRECATED.items() if fields.get(name_) is not None]
    kind = str(fields.get("kind") or _KIND)
    fields["resources"] = [*(fields.get("resources") or ()), *(fields.pop("bases", None) or ())]
    fields["images"] = [*(fields.get("images") or ()), *(fields.pop("imageTags", None) or ())]
    made = Kustomization(kind, fields, name, warnings)
    _enforce(made, loader)
    return made


def _file(loader: Loader) -> tuple[str, bytes]:
    found: list[tuple[str, bytes]] = []
    for name in NAMES:
        try:
            found.append((name, loader.read(name)))
        except BuildError:
            continue
    if not found:
        names = f"'{NAMES[0]}', '{NAMES[1]}' or '{NAMES[2]}'"
        raise BuildError(f"unable to find one of {names} in directory '{loader.root}'")
    if len(found) > 1:
        raise BuildError(f"Found multiple kustomization files under: {loader.root}\n")
    return found[0]


def _checked(value: Any) -> dict[str, Any]:
    if value is None:
        raise BuildError("kustomization.yaml is empty")
    with within("invalid Kustomization"):
        fields: dict[str, Any] = decoded(value, "types.Kustomization")
    return fields


def _enforce(made: Kustomization, loader: Loader) -> None:
    problems = []
    if made.kind not in _VERSIONS:
        problems.append(f"kind should be {_KIND} or {COMPONENT}")
    wanted = _VERSIONS.get(made.kind, _VERSIONS[_KIND])
    if made.text("apiVersion") not in ("", wanted):
        problems.append(f"apiVersion for {made.kind} should be {wanted}")
    if problems:
        lines = "\n".join(problems)
        raise BuildError(f"Failed to read kustomization file under {loader.root}:\n{lines}")
