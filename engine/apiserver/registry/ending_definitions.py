"""Of a definition that is being deleted no more objects are made, neither by a create nor by an apply of what is not
there, tried or not: they would keep the definition from going (apiextensions-apiserver pkg/apiserver
customresource_handler.go, forbidCreateAdmission; k/k#132467)."""

from __future__ import annotations

from engine.api.errors import ApiError, forbidden, method_not_supported
from engine.api.resources import ResourceInfo
from engine.apiserver.admission import Attributes, Operation

REFUSED_BY_ADMISSION = (1, 34)  # before, POST was refused ahead of it, and an apply not at all
_WHY = "create not allowed while custom resource definition is terminating"


def refuse_post(info: ResourceInfo, release: tuple[int, int]) -> None:
    """Ahead of the request's body, as releases before 1.34 do. Raises ApiError 405."""
    if info.extension is not None and info.extension.terminating and release < REFUSED_BY_ADMISSION:
        error = method_not_supported(info.gvr, "create")
        raise ApiError(error.code, error.reason, _WHY, details=error.details)


def refuse_new(attributes: Attributes, release: tuple[int, int]) -> None:
    """In place of mutating admission. Raises ApiError 403."""
    extension = attributes.resource.extension
    if extension is None or attributes.operation is not Operation.CREATE or not extension.terminating:
        return
    if release >= REFUSED_BY_ADMISSION:
        raise forbidden(attributes.resource.gvr, attributes.name, _WHY)
