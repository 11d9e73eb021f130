"""The resources that a `target` selects: regular expressions on type and name, selectors on labels and annotations.

Source of the behaviour: kustomize api/types/selector.go and api/resmap (Select).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from engine.api.errors import ApiError
from engine.api.selectors import LabelSelector
from engine.kubectl.kustomize.errors import BuildError
from engine.kubectl.kustomize.identity import Gvk, Id
from engine.kubectl.kustomize.resource import Resource


@dataclass(frozen=True, slots=True)
class Selector:
    id: Id
    labels: str = ""
    annotations: str = ""

    @classmethod
    def read(cls, value: dict[str, Any]) -> Selector:
        def text(field: str) -> str:
            return str(value.get(field) or "")

        gvk = Gvk(text("group"), text("version"), text("kind"))
        return cls(Id(gvk, text("name"), text("namespace")), text("labelSelector"), text("annotationSelector"))

    def select(self, resources: Iterable[Resource]) -> list[Resource]:
        return [resource for resource in resources if self._selects(resource)]

    def _selects(self, resource: Resource) -> bool:
        known = (resource.original_id, resource.id)
        return (
            any(_fits(self.id.namespace, id_.effective_namespace) for id_ in known)
            and any(_fits(self.id.name, id_.name) for id_ in known)
            and self.fits_type(resource.gvk)
            and self.fits_texts(resource)
        )

    def fits_type(self, gvk: Gvk) -> bool:
        mine = self.id.gvk
        return _fits(mine.group, gvk.group) and _fits(mine.version, gvk.version) and _fits(mine.kind, gvk.kind)

    def fits_id(self, id_: Id) -> bool:
        return (
            self.fits_type(id_.gvk)
            and _fits(self.id.name, id_.name)
            and _fits(self.id.namespace, id_.effective_namespace)
        )

    def fits_texts(self, resource: Resource) -> bool:
        return _matches(self.labels, resource.texts("labels")) and _matches(
            self.annotations, resource.texts("annotations")
        )


def _fits(pattern: str, text: str) -> bool:
    if not pattern:
        return True
    try:
        return re.fullmatch(pattern, text) is not None
    except re.error as error:
        raise BuildError(f"error parsing regexp: {error.msg}: `^(?:{pattern})$`") from error


def _matches(selector: str, texts: dict[str, str]) -> bool:
    try:
        return not selector or LabelSelector.parse(selector).matches(texts)
    except (ApiError, ValueError) as error:
        raise BuildError(str(error)) from error
