"""One kustomization of a build: what it reads, makes and changes, before names are mended.

Source of the behaviour: kustomize api/internal/target (kusttarget.go, kusttarget_configplugin.go).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from engine.api.golang.json import written
from engine.api.golang.text import quoted
from engine.kubectl import yaml
from engine.kubectl.kustomize import generators, manifests, origins, transforming, variables
from engine.kubectl.kustomize.configuration import Configuration
from engine.kubectl.kustomize.errors import BuildError, MalformedYamlError, within
from engine.kubectl.kustomize.kustomization import COMPONENT, Kustomization, read
from engine.kubectl.kustomize.loader import Loader
from engine.kubectl.kustomize.resource import Resource, copied
from engine.kubectl.kustomize.resources import Resources
from engine.kubectl.kustomize.variables import Variable

VALIDATED = "validated-by"


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
    """`place` is the way to its folder from that of the build."""

    def __init__(
        self, loader: Loader, kustomization: Kustomization, *, place: str = "", warn: Callable[[str], None]
    ) -> None:
        self._place = place
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
        crds = Configuration.of_crds(self._loader, kustomization.list("crds"))
        made.configuration = made.configuration.merged(crds)
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
                self._directory(made, loader, self._below(path))

    def _file(self, made: Accumulated, path: str) -> None:
        with within(f"accumulating resources from '{path}'"):
            text = self._loader.read(path).decode("utf-8", "replace")
            found = manifests.resources(text, file=path)
        for resource in found:
            resource.origin = origins.read_from(os.path.normpath(os.path.join(self._place, path)))
        with within(f"merging resources from '{path}'"):
            made.resources.extend(found)

    def _directory(self, made: Accumulated, loader: Loader, place: str) -> None:
        with within(f"couldn't make target for path '{loader.root}'"):
            kustomization = read(loader)
        if kustomization.kind == COMPONENT:
            raise BuildError(f"expected kind != 'Component' for path '{loader.root}'")
        with within(f"recursed accumulation of path '{loader.root}'"):
            below = Target(loader, kustomization, place=place, warn=self._warn).accumulate()
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
                place = self._below(path)
                return Target(loader, kustomization, place=place, warn=self._warn).accumulate(made)
        except BuildError as error:
            raise BuildError(f"accumulateDirectory: {quoted(str(error))}") from error

    def _below(self, path: str) -> str:
        return os.path.normpath(os.path.join(self._place, path))

    # -- what is made

    def _generate(self, made: Accumulated) -> None:
        kustomization = self._kustomization
        general = kustomization.map("generatorOptions")
        for kind, name in (("ConfigMap", "configMapGenerator"), ("Secret", "secretGenerator")):
            for entry in kustomization.list(name):
                by = {"apiVersion": "builtin", "kind": f"{kind}Generator"}
                self._absorb(made, generators.generate(self._loader, kind, entry, general), by)
        for chart in kustomization.list("helmCharts"):
            raise BuildError(
                "trouble configuring builtin HelmChartInflationGenerator with config: "
                f"`\n{yaml.dump(chart)}`: must specify --enable-helm"
            )

        for plugin in self._plugins("generators"):
            kind = transforming.GENERATORS.get(plugin.kind, "")
            by = {"apiVersion": str(plugin.obj.get("apiVersion") or ""), "kind": plugin.kind, "name": plugin.name}
            if by["apiVersion"] != "builtin" or not kind:
                raise BuildError(f"external plugins disabled; unable to load external plugin '{plugin.kind}'")
            entry = {**plugin.obj, "name": plugin.name, "namespace": plugin.namespace}
            self._absorb(made, generators.generate(self._loader, kind, entry, {}), by)

    def _absorb(self, made: Accumulated, resource: Resource, by: Mapping[str, str]) -> None:
        resource.origin = self._origin(by)
        with within("merging from generator"):
            made.resources.absorb(resource)

    # -- what is changed

    def _transform(self, made: Accumulated) -> None:
        """The transformers of the fields, then those that are resources of their own. All are read before one works."""
        kustomization, loader = self._kustomization, self._loader
        steps = [*transforming.of_kustomization(loader, kustomization, made.configuration.specs)]
        steps += [transforming.of_resource(loader, plugin) for plugin in self._plugins("transformers")]
        for step in steps:
            step.apply(made.resources)
            made.resources.drop_empty()
            origins.note_change(made.resources, self._origin(step.by))
        for plugin in self._plugins("validators"):
            self._validate(made.resources, transforming.of_resource(loader, plugin))

    def _validate(self, resources: Resources, step: transforming.Step) -> None:
        """Validators change nothing but a label that says so."""
        before = [copied(resource.obj) for resource in resources]
        step.apply(resources)
        for old, resource in zip(before, resources, strict=True):
            texts = resource.texts("labels")
            if texts.pop(VALIDATED, None) is not None:
                resource.put_texts("labels", texts)
            if old != resource.obj:
                raise BuildError(
                    "validator shouldn't modify the resource map: nodes unequal: \n"
                    f" -- {written(old)},\n -- {written(resource.obj)}\n"
                )

    def _plugins(self, field: str) -> list[Resource]:
        """The resources that a list of files, folders and inline texts stands for."""
        found = Accumulated()
        for entry in self._kustomization.list(field):
            try:
                inline = manifests.resources(entry)
            except BuildError:
                inline = []
            if inline:
                found.resources.extend(inline)
            else:
                self._resource(found, entry)
        return list(found.resources)

    def _origin(self, by: Mapping[str, str]) -> str:
        return origins.configured(os.path.join(self._place, self._kustomization.file), by)
