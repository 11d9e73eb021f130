"""What a webhook answers, read as client-go reads an answer into the kind of object that was sent.

Source: client-go rest/request.go (Result.Into, Result.Error), apimachinery serializer/json and serializer/recognizer,
apiserver pkg/util/webhook client.go, whose scheme knows the reviews of both versions and the types of no version.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from engine.api.errors import ApiError, generic_server_response
from engine.api.golang.forms import Struct, UnmarshalError, check, type_meta
from engine.api.golang.json import syntax_error
from engine.api.golang.yaml import YamlError, load
from engine.api.types import GVK, Object

_SCHEME = "pkg/util/webhook/client.go:69"
_VERSIONS = ("v1", "v1beta1")
_STATUS = GVK("", "v1", "Status")
_MESSAGE = 2048  # of an answer that failed no more is shown


def answered(
    data: bytes,
    *,
    code: int,
    content_type: str,
    wanted: GVK,
    form: Struct,
    versions: Sequence[str] = _VERSIONS,
    scheme: str = _SCHEME,
) -> Object:
    """The object of a kind and form that an answer is, for a scheme that knows these versions. Raises
    UnmarshalError."""
    if not data:
        raise UnmarshalError(f"0-length response with status code: {code} and content type: {content_type}")
    found = _value(data)
    gvk = _kind(found, wanted)
    if gvk != _STATUS and (gvk.group, gvk.kind) != (wanted.group, wanted.kind):
        raise _unregistered(gvk, scheme)
    if gvk.version not in versions:
        raise _unregistered(gvk, scheme)
    if gvk != _STATUS:
        check(found, form)
    if gvk != wanted:
        into = f"{wanted.version}.{wanted.kind}"
        raise UnmarshalError(f"converting ({gvk.version}.{gvk.kind}) to ({into}): unknown conversion")
    return found if isinstance(found, dict) else {}  # null is an answer in which nothing is said


def failure(data: bytes, *, code: int, content_type: str) -> ApiError:
    """Of an answer that failed: the Status that it is, or else what client-go makes of the code and a text."""
    status = _status(data)
    if status.get("status") == "Failure":
        return ApiError(status.get("code") or 0, status.get("reason") or "", status.get("message") or "")
    is_text = content_type.startswith("text/")
    return generic_server_response(code, data[:_MESSAGE].decode(errors="replace").strip() if is_text else "unknown")


def _status(data: bytes) -> Object:
    try:
        found = _value(data)
        return found if isinstance(found, dict) and _kind(found, _STATUS) == _STATUS else {}
    except UnmarshalError:
        return {}


def _value(data: bytes) -> Any:
    """What does not begin as an object of JSON is taken for YAML."""
    if not data.lstrip().startswith(b"{"):
        try:
            return load(data)
        except YamlError as error:
            raise UnmarshalError(str(error)) from None
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        why = syntax_error(data) or str(error)
        raise UnmarshalError(f"couldn't get version/kind; json parse error: {why}") from None


def _kind(value: Any, default: GVK) -> GVK:
    """The kind that an answer says it is; what it leaves out is that which is looked for."""
    kind, api_version = type_meta(value)
    if api_version.count("/") > 1:
        raise UnmarshalError(f"unexpected GroupVersion string: {api_version}")
    group, _, version = api_version.rpartition("/")
    if not version and group in ("", default.group):
        group, version = default.group, default.version
    return GVK(group, version, kind or default.kind)


def _unregistered(gvk: GVK, scheme: str) -> UnmarshalError:
    return UnmarshalError(f'no kind "{gvk.kind}" is registered for version "{gvk.api_version}" in scheme "{scheme}"')
