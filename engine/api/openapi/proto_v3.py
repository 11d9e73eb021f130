"""`/openapi/v3/...` as a protocol buffer, beside the JSON as in kube-openapi (gnostic openapiv3/OpenAPIv3.proto)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.api.openapi.gnostic import (
    Fields,
    Writer,
    any_value,
    any_values,
    delimited_field,
    double,
    each,
    extended,
    flag,
    integer,
    message,
    named,
    of,
    one_of,
    text,
    texts,
)

# What it is called in a Content-Type, and the names that clients ask for it by: that of today and the one before.
MEDIA_TYPE = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"
MEDIA_TYPES = frozenset({MEDIA_TYPE, "application/com.github.proto-openapi.spec.v3@v1.0+protobuf"})


def document_v3(spec: Mapping[str, Any]) -> bytes:
    """The whole of an OpenAPI 3.0 document."""
    return message(_DOCUMENT, spec)


_REFERENCE: Fields = {"$ref": (1, text)}


def _or_reference(write: Writer) -> Writer:
    """A message that holds the thing itself, or a reference to one."""
    reference = of(lambda: _REFERENCE)
    return one_of(lambda value: (2, reference) if "$ref" in value else (1, write))


_schema = _or_reference(of(lambda: _SCHEMA))
_schemas = named(_schema)


def _items(number: int, value: Mapping[str, Any]) -> bytes:
    return delimited_field(number, _schema(1, value))


def _default(number: int, value: Any) -> bytes:
    """Of objects and lists there is no more than that they are there."""
    if isinstance(value, bool):
        return delimited_field(number, flag(2, value))
    if isinstance(value, str):
        return delimited_field(number, text(3, value))
    return delimited_field(number, double(1, value) if isinstance(value, int | float) else b"")


_SCHEMA: Fields = {
    "nullable": (1, flag),
    "readOnly": (3, flag),
    "writeOnly": (4, flag),
    "externalDocs": (6, of(lambda: _EXTERNAL_DOCS)),
    "example": (7, any_value),
    "deprecated": (8, flag),
    "title": (9, text),
    "multipleOf": (10, double),
    "maximum": (11, double),
    "exclusiveMaximum": (12, flag),
    "minimum": (13, double),
    "exclusiveMinimum": (14, flag),
    "maxLength": (15, integer),
    "minLength": (16, integer),
    "pattern": (17, text),
    "maxItems": (18, integer),
    "minItems": (19, integer),
    "uniqueItems": (20, flag),
    "maxProperties": (21, integer),
    "minProperties": (22, integer),
    "required": (23, texts),
    "enum": (24, any_values),
    "type": (25, text),
    "allOf": (26, each(_schema)),
    "oneOf": (27, each(_schema)),
    "anyOf": (28, each(_schema)),
    "not": (29, of(lambda: _SCHEMA)),
    "items": (30, _items),
    "properties": (31, _schemas),
    "additionalProperties": (32, one_of(lambda value: (2, flag) if isinstance(value, bool) else (1, _schema))),
    "default": (33, _default),
    "description": (34, text),
    "format": (35, text),
    **extended(36),
}
_EXTERNAL_DOCS: Fields = {"description": (1, text), "url": (2, text), **extended(3)}
_MEDIA_TYPE: Fields = {"schema": (1, _schema), "example": (2, any_value), **extended(5)}
_content = named(of(lambda: _MEDIA_TYPE))
_PARAMETER: Fields = {
    "name": (1, text),
    "in": (2, text),
    "description": (3, text),
    "required": (4, flag),
    "deprecated": (5, flag),
    "allowEmptyValue": (6, flag),
    "style": (7, text),
    "explode": (8, flag),
    "allowReserved": (9, flag),
    "schema": (10, _schema),
    "example": (11, any_value),
    "content": (13, _content),
    **extended(14),
}
_parameters = each(_or_reference(of(lambda: _PARAMETER)))
_REQUEST_BODY: Fields = {"description": (1, text), "content": (2, _content), "required": (3, flag), **extended(4)}
_RESPONSE: Fields = {"description": (1, text), "content": (3, _content), **extended(5)}
_response = _or_reference(of(lambda: _RESPONSE))


def _responses(number: int, values: Mapping[str, Any]) -> bytes:
    """By their codes, and what stands for all others."""
    coded = {code: value for code, value in values.items() if code != "default"}
    default = _response(1, values["default"]) if "default" in values else b""
    pairs = (delimited_field(2, text(1, code) + _response(2, value)) for code, value in coded.items())
    return delimited_field(number, default + b"".join(pairs))


def _security(number: int, values: list[Mapping[str, Any]]) -> bytes:
    return b"".join(named(_scopes)(number, requirement) for requirement in values)


def _scopes(number: int, values: list[str]) -> bytes:
    return delimited_field(number, texts(1, values))


_OPERATION: Fields = {
    "tags": (1, texts),
    "summary": (2, text),
    "description": (3, text),
    "externalDocs": (4, of(lambda: _EXTERNAL_DOCS)),
    "operationId": (5, text),
    "parameters": (6, _parameters),
    "requestBody": (7, _or_reference(of(lambda: _REQUEST_BODY))),
    "responses": (8, _responses),
    "deprecated": (10, flag),
    "security": (11, _security),
    **extended(13),
}
_operation = of(lambda: _OPERATION)
_PATH_ITEM: Fields = {
    "$ref": (1, text),
    "summary": (2, text),
    "description": (3, text),
    "get": (4, _operation),
    "put": (5, _operation),
    "post": (6, _operation),
    "delete": (7, _operation),
    "options": (8, _operation),
    "head": (9, _operation),
    "patch": (10, _operation),
    "trace": (11, _operation),
    "parameters": (13, _parameters),
    **extended(14),
}
_SECURITY_SCHEME: Fields = {
    "type": (1, text),
    "description": (2, text),
    "name": (3, text),
    "in": (4, text),
    "scheme": (5, text),
    "bearerFormat": (6, text),
    "openIdConnectUrl": (8, text),
    **extended(9),
}
_COMPONENTS: Fields = {
    "schemas": (1, _schemas),
    "securitySchemes": (7, named(_or_reference(of(lambda: _SECURITY_SCHEME)))),
    **extended(10),
}
_DOCUMENT: Fields = {
    "openapi": (1, text),
    "info": (2, of(lambda: {"title": (1, text), "description": (2, text), "version": (6, text), **extended(7)})),
    "paths": (4, named(of(lambda: _PATH_ITEM))),
    "components": (5, of(lambda: _COMPONENTS)),
    "security": (6, _security),
    **extended(9),
}
