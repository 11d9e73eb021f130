"""What a kustomization changes, in upstream's order, and transformers that are configured as resources.

Source of the behaviour: kustomize api/internal/target (kusttarget_configplugin.go), api/internal/plugins and
api/internal/builtins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from engine.kubectl.kustomize import content, hashing, ordering, patches, renaming, replacements
from engine.kubectl.kustomize.errors import BuildError
from engine.kubectl.kustomize.fields import FieldSpec
from engine.kubectl.kustomize.kustomization import Kustomization
from engine.kubectl.kustomize.loader import Loader
from engine.kubectl.kustomize.resource import Resource
from engine.kubectl.kustomize.resources import Resources

Apply = Callable[[Resources], Any]
_BUILT_IN = "builtin"


class Step(NamedTuple):
    """One transformer at work. `by` says which, as the metadata of a build tell it."""

    apply: Apply
    by: Mapping[str, str]


def of_kustomization(
    loader: Loader, kustomization: Kustomization, specs: Mapping[str, list[FieldSpec]]
) -> Iterator[Step]:
    """The transformers that the fields of a kustomization stand for. Raises BuildError for one that is none."""

    def step(kind: str, apply: Apply) -> Step:
        return Step(apply, {"apiVersion": _BUILT_IN, "kind": kind})

    if sources := [str(source) for source in kustomization.list("patchesStrategicMerge")]:
        yield step("PatchStrategicMergeTransformer", partial(_merge, patches.strategic(loader, sources)))
    for entry in kustomization.list("patches"):
        yield step("PatchTransformer", patches.Patch(loader, entry).apply)
    if namespace := kustomization.text("namespace"):
        yield step(
            "NamespaceTransformer", partial(renaming.set_namespace, namespace=namespace, specs=specs["namespace"])
        )
    if prefix := kustomization.text("namePrefix"):
        yield step("PrefixTransformer", partial(renaming.add_prefix, prefix=prefix, specs=specs["namePrefix"]))
    if suffix := kustomization.text("nameSuffix"):
        yield step("SuffixTransformer", partial(renaming.add_suffix, suffix=suffix, specs=specs["nameSuffix"]))
    for texts, fields in _labels(kustomization, specs):
        yield step("LabelTransformer", partial(content.add_texts, texts=texts, specs=fields))
    if annotations := kustomization.map("commonAnnotations"):
        yield step(
            "AnnotationsTransformer", partial(content.add_texts, texts=annotations, specs=specs["commonAnnotations"])
        )
    for entry in kustomization.list("patchesJson6902"):
        yield step("PatchJson6902Transformer", patches.Patch(loader, entry).apply)
    for entry in kustomization.list("replicas"):
        yield step("ReplicaCountTransformer", partial(content.set_replicas, entry=entry, specs=specs["replicas"]))
    for entry in kustomization.list("images"):
        yield step("ImageTagTransformer", partial(content.set_images, image=entry, specs=specs["images"]))
    if entries := kustomization.list("replacements"):
        found = replacements.read(loader, entries)
        yield step("ReplacementTransformer", partial(replacements.apply, replacements=found))


def _labels(
    kustomization: Kustomization, specs: Mapping[str, list[FieldSpec]]
) -> Iterator[tuple[dict[str, str], list[FieldSpec]]]:
    for entry in kustomization.list("labels"):
        fields = content.label_fields(entry, specs["commonLabels"], specs["templateLabels"])
        yield dict(entry.get("pairs") or {}), fields
    if common := kustomization.map("commonLabels"):
        yield common, specs["commonLabels"]


def _merge(found: list[Resource], resources: Resources) -> None:
    for patch in found:
        patches.apply_strategic(patch, resources)


# -- transformers of their own


def of_resource(loader: Loader, resource: Resource) -> Step:
    """The transformer that a resource configures. Raises BuildError where there is none."""
    by = {
        "apiVersion": str(resource.obj.get("apiVersion") or ""),
        "kind": resource.kind,
        "name": resource.name,
        "namespace": resource.namespace,
    }
    make = _KINDS.get(resource.kind) if by["apiVersion"] == _BUILT_IN else None
    if make is None:
        raise BuildError(f"external plugins disabled; unable to load external plugin '{resource.kind}'")
    return Step(make(loader, resource.obj), by)


def _fields(config: dict[str, Any]) -> list[FieldSpec]:
    return [FieldSpec.read(spec) for spec in config.get("fieldSpecs") or ()]


def _prefix(loader: Loader, config: dict[str, Any]) -> Apply:
    return partial(renaming.add_prefix, prefix=str(config.get("prefix") or ""), specs=_fields(config))


def _suffix(loader: Loader, config: dict[str, Any]) -> Apply:
    return partial(renaming.add_suffix, suffix=str(config.get("suffix") or ""), specs=_fields(config))


def _namespace(loader: Loader, config: dict[str, Any]) -> Apply:
    subjects = str(config.get("setRoleBindingSubjects") or "defaultOnly")
    if subjects not in ("defaultOnly", "allServiceAccounts", "none"):
        raise BuildError(
            f"invalid value {subjects} for setRoleBindingSubjects: must be one of none, defaultOnly or "
            "allServiceAccounts"
        )
    return partial(
        renaming.set_namespace,
        namespace=str((config.get("metadata") or {}).get("namespace") or ""),
        specs=_fields(config),
        subjects=subjects,
        unset_only=bool(config.get("unsetOnly")),
    )


def _texts(field: str) -> Callable[[Loader, dict[str, Any]], Apply]:
    def make(loader: Loader, config: dict[str, Any]) -> Apply:
        return partial(content.add_texts, texts=dict(config.get(field) or {}), specs=_fields(config))

    return make


def _images(loader: Loader, config: dict[str, Any]) -> Apply:
    return partial(content.set_images, image=dict(config.get("imageTag") or {}), specs=_fields(config))


def _replicas(loader: Loader, config: dict[str, Any]) -> Apply:
    return partial(content.set_replicas, entry=dict(config.get("replica") or {}), specs=_fields(config))


def _patch(loader: Loader, config: dict[str, Any]) -> Apply:
    text = config.get("patch") or config.get("jsonOp")
    entry = {"patch": text, **{name: config.get(name) for name in ("path", "target", "options")}}
    return patches.Patch(loader, entry).apply


def _strategic(loader: Loader, config: dict[str, Any]) -> Apply:
    sources = [*(config.get("paths") or ()), *([config["patches"]] if config.get("patches") else ())]
    if not sources:
        raise BuildError("empty file path and empty patch content")
    return partial(_merge, patches.strategic(loader, [str(source) for source in sources]))


def _replacements(loader: Loader, config: dict[str, Any]) -> Apply:
    return partial(replacements.apply, replacements=replacements.read(loader, list(config.get("replacements") or ())))


def _sort(loader: Loader, config: dict[str, Any]) -> Apply:
    options = config.get("sortOptions") or {"order": "fifo"}

    def sort(resources: Resources) -> None:
        resources.all = ordering.ordered(resources.all, options)

    return sort


def _hashes(loader: Loader, config: dict[str, Any]) -> Apply:
    return hashing.add_hashes


_KINDS: dict[str, Callable[[Loader, dict[str, Any]], Apply]] = {
    "PrefixTransformer": _prefix,
    "SuffixTransformer": _suffix,
    "NamespaceTransformer": _namespace,
    "LabelTransformer": _texts("labels"),
    "AnnotationsTransformer": _texts("annotations"),
    "ImageTagTransformer": _images,
    "ReplicaCountTransformer": _replicas,
    "PatchTransformer": _patch,
    "PatchJson6902Transformer": _patch,
    "PatchStrategicMergeTransformer": _strategic,
    "ReplacementTransformer": _replacements,
    "SortOrderTransformer": _sort,
    "HashTransformer": _hashes,
}
GENERATORS = {"ConfigMapGenerator": "ConfigMap", "SecretGenerator": "Secret"}
