"""One kustomization of a build: what it reads, makes and changes, before names are mended.

Source of the behaviour: kustomize api/internal/target (kusttarget.go, kusttarget_configplugin.go).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from engine.kubectl import yaml
from engine.kubectl.kustomize import content, generators, manifests, patches, renaming, replacements, variables
from engine.kubectl.kustomize.configuration import Configuration
from engine.kubectl.kustomize.errors import BuildError, MalformedYamlError, quoted, within
from engine.kubectl.kustomize.kustomization import COMPONENT, Kustomization, read
from engine.kubectl.kustomize.loader import Loader
from engine.kubectl.kustomize.resources import Resources
from engine.kubectl.kustomize.variables import Variable


@dataclass(slots=True)
class Accumulated:
    """What kustomizations have come to so far."""

    resources: Resources = field(default_factory=Resources)
    configuration: Configuration = field(default_factory=Configuration)
    variables: list[Variable] = field(default_factory=list)

    def take(self, other: Accumulated) -> None:
        self.resources.extend(other.resources)
        self.configuration = self.configuration.merged(other.configuration)
        self.variables = variables.added(self.variables, other.variables, Resources())


class Target:
    def __init__(self, loader: Loader, kustomization: Kustomization, *, warn: Callable[[str], None]) -> None:
        self._loader = loader
        self._kustomization = kustomization
        self._warn = warn
        for text in kustomization.warnings:
            warn(text)

    def accumulate(self, made: Accumulated | None = None) -> Accumulated:
        """All of this kustomization; a component works on what its user has already."""
        made = made or Accumulated()
        kustomization = self._kustomization
        with within("accumulating resources"):
            for path in kustomization.list("resources"):
                self._resource(made, str(path))
        configuration = Configuration.read(self._loader, kustomization.list("configurations"))
        made.configuration = made.configuration.merged(configuration)
        self._generate(made)
        with within("accumulating components"):
            for path in kustomization.list("components"):
                made = self._component(made, str(path))
        self._transform(made)
        found = [Variable.read(value) for value in kustomization.list("vars")]
        with within(f"merging vars [{' '.join(variable.given for variable in found)}]"):
            made.variables = variables.added(made.variables, found, made.resources)
        return made

    # -- what is read

    def _resource(self, made: Accumulated, path: str) -> None:
        """A file, or a folder with a kustomization."""
        try:
            self._file(made, path)
        except BuildError as error:
            try:
                loader = self._loader.open(path)
            except BuildError as folder_error:
                if isinstance(error, MalformedYamlError):
                    raise error from None
                raise BuildError(f"accumulation err='{error}': {folder_error}") from None
            with within(f"accumulation err='{error}'"):
                self._directory(made, loader)

    def _file(self, made: Accumulated, path: str) -> None:
        with within(f"accumulating resources from '{path}'"):
            text = self._loader.read(path).decode("utf-8", "replace")
            found = manifests.resources(text, file=path)
        with within(f"merging resources from '{path}'"):
            made.resources.extend(found)

    def _directory(self, made: Accumulated, loader: Loader) -> None:
        with within(f"couldn't make target for path '{loader.root}'"):
            kustomization = read(loader)
        if kustomization.kind == COMPONENT:
            raise BuildError(f"expected kind != 'Component' for path '{loader.root}'")
        with within(f"recursed accumulation of path '{loader.root}'"):
            below = Target(loader, kustomization, warn=self._warn).accumulate()
        with within(f"recursed merging from path '{loader.root}'"):
            made.take(below)

    def _component(self, made: Accumulated, path: str) -> Accumulated:
        try:
            loader = self._loader.open(path)
        except BuildError as error:
            raise BuildError(f"loader.New {quoted(str(error))}") from error
        try:
            with within(f"couldn't make target for path '{loader.root}'"):
                kustomization = read(loader)
            if kustomization.kind != COMPONENT:
                raise BuildError(f"expected kind 'Component' for path '{loader.root}' but got '{kustomization.kind}'")
            with within(f"recursed accumulation of path '{loader.root}'"):
                return Target(loader, kustomization, warn=self._warn).accumulate(made)
        except BuildError as error:
            raise BuildError(f"accumulateDirectory: {quoted(str(error))}") from error

    # -- what is made

    def _generate(self, made: Accumulated) -> None:
        kustomization = self._kustomization
        general = kustomization.map("generatorOptions")
        for kind, name in (("ConfigMap", "configMapGenerator"), ("Secret", "secretGenerator")):
            for entry in kustomization.list(name):
                resource = generators.generate(self._loader, kind, entry, general)
                with within("merging from generator"):
                    made.resources.absorb(resource)
        for chart in kustomization.list("helmCharts"):
            raise BuildError(
                "trouble configuring builtin HelmChartInflationGenerator with config: "
                f"`\n{yaml.dump(chart)}`: must specify --enable-helm"
            )

    # -- what is changed

    def _transform(self, made: Accumulated) -> None:
        """In upstream's order. Patches are all read before the first is applied."""
        kustomization, specs, resources = self._kustomization, made.configuration.specs, made.resources
        sources = [str(source) for source in kustomization.list("patchesStrategicMerge")]
        steps: list[Callable[[], Any]] = [
            partial(patches.apply_strategic, patch, resources) for patch in patches.strategic(self._loader, sources)
        ]
        steps += [partial(patch.apply, resources) for patch in self._patches("patches")]
        if namespace := kustomization.text("namespace"):
            steps.append(lambda: renaming.set_namespace(resources, namespace, specs["namespace"]))
        steps.append(lambda: renaming.add_prefix(resources, kustomization.text("namePrefix"), specs["namePrefix"]))
        steps.append(lambda: renaming.add_suffix(resources, kustomization.text("nameSuffix"), specs["nameSuffix"]))
        steps += self._labels(made)
        annotations = kustomization.map("commonAnnotations")
        steps.append(lambda: content.add_texts(resources, annotations, specs["commonAnnotations"]))
        steps += [partial(patch.apply, resources) for patch in self._patches("patchesJson6902")]
        for name, put in (("replicas", content.set_replicas), ("images", content.set_images)):
            steps += [partial(put, resources, entry, specs[name]) for entry in kustomization.list(name)]
        if entries := kustomization.list("replacements"):
            found = replacements.read(self._loader, entries)
            steps.append(lambda: replacements.apply(resources, found))
        for step in steps:
            step()
            resources.drop_empty()

    def _patches(self, field: str) -> list[patches.Patch]:
        return [patches.Patch(self._loader, entry) for entry in self._kustomization.list(field)]

    def _labels(self, made: Accumulated) -> list[Callable[[], Any]]:
        specs, resources = made.configuration.specs, made.resources
        steps: list[Callable[[], Any]] = []
        for entry in self._kustomization.list("labels"):
            fields = content.label_fields(entry, specs["commonLabels"], specs["templateLabels"])
            pairs = dict(entry.get("pairs") or {})
            steps.append(partial(content.add_texts, resources, pairs, fields))
        common = self._kustomization.map("commonLabels")
        steps.append(lambda: content.add_texts(resources, common, specs["commonLabels"]))
        return steps
