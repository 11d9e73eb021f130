"""The kinds that kubectl has Go types for. Commands that look into an object decode it as its type, and so refuse a
custom resource, and a definition of one too (kubectl pkg/scheme, cli-runtime pkg/resource Builder.WithScheme)."""

from __future__ import annotations

from typing import Final

from engine.api.decoding import type_error
from engine.api.schema import load_definitions
from engine.api.types import GVK, Object
from engine.kubectl.errors import CommandError

SCHEME: Final = "pkg/scheme/scheme.go:28"
CLIENT_SCHEME: Final = "k8s.io/client-go/kubernetes/scheme/register.go:84"
_NOT_OF_KUBECTL = frozenset(("apiextensions.k8s.io", "apiregistration.k8s.io"))


class UnregisteredError(CommandError):
    """kubectl has no type of this kind. `of_list` says that it was a list that could not be decoded."""

    def __init__(self, gvk: GVK, *, scheme: str, of_list: bool) -> None:
        kind = f"{gvk.kind}List" if of_list else gvk.kind
        super().__init__(f'no kind "{kind}" is registered for version "{gvk.api_version}" in scheme "{scheme}"')
        self.of_list = of_list


def is_registered(gvk: GVK) -> bool:
    return gvk.group not in _NOT_OF_KUBECTL and load_definitions().kind(gvk) is not None


def check_registered(gvk: GVK, *, scheme: str = SCHEME, of_list: bool = False) -> None:
    """Raises UnregisteredError."""
    if not is_registered(gvk):
        raise UnregisteredError(gvk, scheme=scheme, of_list=of_list)


def check_typed(gvk: GVK, value: Object) -> None:
    """Whether a value becomes the struct of its kind. Raises CommandError in the decoder's words."""
    check_registered(gvk)
    definitions = load_definitions()
    schema = definitions.kind(gvk)
    if schema is not None and (problem := type_error(definitions, schema, value)):
        raise CommandError(problem)
