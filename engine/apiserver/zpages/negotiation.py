"""In which form a z-page is wanted: text, unless an object of config.k8s.io is asked for by all of its names.

Source: apiserver pkg/server/statusz/negotiate and pkg/server/flagz/negotiate, pkg/endpoints/handlers/negotiation.
"""

from __future__ import annotations

from typing import NamedTuple

from engine.api.errors import not_acceptable
from engine.api.wire import JSON, PROTOBUF, YAML
from engine.apiserver.registry.accept import accepted_clauses

GROUP = "config.k8s.io"
TEXT = "text/plain"
DEPRECATED = frozenset(("v1alpha1",))
_VERSIONS = frozenset(("v1beta1", *DEPRECATED))
_STRUCTURED = (JSON, YAML)
_OFFERED = (JSON, YAML, PROTOBUF, TEXT)
_REFUSED = frozenset(("stream", "sv"))  # parameters that no z-page knows
_CONVERTING = frozenset(("as", "g", "v"))


class Form(NamedTuple):
    """`version` is "" for text."""

    media_type: str
    version: str = ""


def negotiated(accept: str, kind: str) -> Form:
    """Raises ApiError 406."""
    if not accept.strip():
        return Form(TEXT)
    for media_type, parameters in accepted_clauses(accept):
        if any(parameters.get(each) for each in _REFUSED):
            continue
        if not _CONVERTING & parameters.keys():
            if _takes(media_type, TEXT):
                return Form(TEXT)
            continue
        asked, version = (parameters.get("g", ""), parameters.get("as", "")), parameters.get("v", "")
        if asked != (GROUP, kind) or version not in _VERSIONS:
            continue
        for offered in _STRUCTURED:
            if _takes(media_type, offered):
                return Form(offered, version)
    raise not_acceptable(_OFFERED)


def _takes(clause: str, offered: str) -> bool:
    main, _, sub = clause.partition("/")
    of, _, name = offered.partition("/")
    return main in ("*", of) and sub in ("*", name)
