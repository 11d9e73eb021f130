"""Which fields the transformers change: the built-in ones and those of `configurations` and `crds` files.

Source of the behaviour: kustomize api/internal/plugins/builtinconfig and api/internal/accumulator
(loadconfigfromcrds.go).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from engine.api.golang.yaml import YamlError, load
from engine.kubectl.kustomize import builtin_fields as builtin
from engine.kubectl.kustomize import crds
from engine.kubectl.kustomize.builtin_references import REFERENCES
from engine.kubectl.kustomize.errors import BuildError
from engine.kubectl.kustomize.fields import FieldSpec, merged
from engine.kubectl.kustomize.identity import Gvk
from engine.kubectl.kustomize.loader import Loader
from engine.kubectl.kustomize.references import References

_SPECS = (
    "namePrefix", "nameSuffix", "namespace", "labels", "templateLabels", "commonLabels", "commonAnnotations",
    "varReference", "images", "replicas",
)  # fmt: skip


@dataclass(slots=True)
class Configuration:
    specs: dict[str, list[FieldSpec]] = field(default_factory=lambda: {name: [] for name in _SPECS})
    references: References = field(default_factory=list)

    @classmethod
    def built_in(cls) -> Configuration:
        return cls(
            {
                "namePrefix": builtin.NAME,
                "nameSuffix": builtin.NAME,
                "namespace": builtin.NAMESPACE,
                "labels": [],
                "templateLabels": builtin.TEMPLATE_LABELS,
                "commonLabels": builtin.COMMON_LABELS,
                "commonAnnotations": builtin.COMMON_ANNOTATIONS,
                "varReference": builtin.VARIABLES,
                "images": builtin.IMAGES,
                "replicas": builtin.REPLICAS,
            },
            REFERENCES,
        )

    @classmethod
    def read(cls, loader: Loader, files: list[str]) -> Configuration:
        """Of `configurations` files, over the built-in ones."""
        result = cls.built_in()
        for file in files:
            try:
                value = load(loader.read(file))
            except YamlError as error:
                raise BuildError(str(error)) from error
            result = result.merged(cls._of(value if isinstance(value, dict) else {}))
        return result

    @classmethod
    def of_crds(cls, loader: Loader, files: list[str]) -> Configuration:
        made = cls()
        for name, entry in crds.entries(loader, files):
            if name == "nameReference":
                made.references.append(entry)
            else:
                made.specs[name].append(entry)
        return made

    @classmethod
    def _of(cls, value: dict[str, Any]) -> Configuration:
        made = cls()
        for name in _SPECS:
            made.specs[name] = [FieldSpec.read(spec) for spec in value.get(name) or ()]
        for entry in value.get("nameReference") or ():
            gvk = Gvk(entry.get("group") or "", entry.get("version") or "", entry.get("kind") or "")
            made.references.append((gvk, [FieldSpec.read(spec) for spec in entry.get("fieldSpecs") or ()]))
        return made

    def merged(self, other: Configuration) -> Configuration:
        references = [(gvk, list(specs)) for gvk, specs in self.references]
        for gvk, specs in other.references:
            for index, (known, old) in enumerate(references):
                if known == gvk:
                    references[index] = (known, merged(old, specs))
                    break
            else:
                references.append((gvk, specs))
        return Configuration({name: merged(self.specs[name], other.specs[name]) for name in _SPECS}, references)
