"""`/openapi/v2` as a protocol buffer, the only form in which client-go reads it (gnostic openapiv2/OpenAPIv2.proto).

kubectl asks for it when OpenAPI v3 knows nothing of a group and version, as for a kind that does not exist.
"""

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

# What clients ask for it by: the name of today and the one before.
MEDIA_TYPES = frozenset(
    {
        "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
        "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
    }
)


def document(spec: Mapping[str, Any]) -> bytes:
    """The whole of a Swagger 2.0 document."""
    return message(_DOCUMENT, spec)


# -- the messages


_schema = of(lambda: _SCHEMA)


def _type_item(number: int, value: str | list[str]) -> bytes:
    return delimited_field(number, texts(1, [value] if isinstance(value, str) else value))


def _items_item(number: int, value: Mapping[str, Any]) -> bytes:
    return delimited_field(number, _schema(1, value))


_SCHEMA: Fields = {
    "$ref": (1, text),
    "format": (2, text),
    "title": (3, text),
    "description": (4, text),
    "default": (5, any_value),
    "maximum": (7, double),
    "minimum": (9, double),
    "maxLength": (11, integer),
    "minLength": (12, integer),
    "pattern": (13, text),
    "maxItems": (14, integer),
    "minItems": (15, integer),
    "uniqueItems": (16, flag),
    "maxProperties": (17, integer),
    "minProperties": (18, integer),
    "required": (19, texts),
    "enum": (20, any_values),
    "additionalProperties": (21, one_of(lambda value: (2, flag) if isinstance(value, bool) else (1, _schema))),
    "type": (22, _type_item),
    "items": (23, _items_item),
    "allOf": (24, each(_schema)),
    "properties": (25, named(_schema)),
    **extended(31),
}

_BODY_PARAMETER: Fields = {
    "description": (1, text),
    "name": (2, text),
    "in": (3, text),
    "required": (4, flag),
    "schema": (5, _schema),
    **extended(6),
}
_QUERY_PARAMETER: Fields = {
    "required": (1, flag),
    "in": (2, text),
    "description": (3, text),
    "name": (4, text),
    "type": (6, text),
    "format": (7, text),
    "uniqueItems": (20, flag),
    **extended(23),
}
_PATH_PARAMETER: Fields = {
    "required": (1, flag),
    "in": (2, text),
    "description": (3, text),
    "name": (4, text),
    "type": (5, text),
    "format": (6, text),
    "uniqueItems": (19, flag),
    **extended(22),
}
_REFERENCE: Fields = {"$ref": (1, text), "description": (2, text)}


def _plain_parameter(value: Mapping[str, Any]) -> tuple[int, Writer]:
    if value["in"] == "path":
        return 4, of(lambda: _PATH_PARAMETER)
    return 3, of(lambda: _QUERY_PARAMETER)


_parameter = one_of(
    lambda value: (1, of(lambda: _BODY_PARAMETER)) if value["in"] == "body" else (2, one_of(_plain_parameter))
)
_parameters = each(one_of(lambda value: (2, of(lambda: _REFERENCE)) if "$ref" in value else (1, _parameter)))

_RESPONSE: Fields = {
    "description": (1, text),
    "schema": (2, one_of(lambda _: (1, _schema))),
    **extended(5),
}
_response = one_of(lambda value: (2, of(lambda: _REFERENCE)) if "$ref" in value else (1, of(lambda: _RESPONSE)))

_OPERATION: Fields = {
    "tags": (1, texts),
    "summary": (2, text),
    "description": (3, text),
    "operationId": (5, text),
    "produces": (6, texts),
    "consumes": (7, texts),
    "parameters": (8, _parameters),
    "responses": (9, named(_response)),
    "schemes": (10, texts),
    "deprecated": (11, flag),
    **extended(13),
}
_operation = of(lambda: _OPERATION)

_PATH_ITEM: Fields = {
    "get": (2, _operation),
    "put": (3, _operation),
    "post": (4, _operation),
    "delete": (5, _operation),
    "options": (6, _operation),
    "head": (7, _operation),
    "patch": (8, _operation),
    "parameters": (9, _parameters),
    **extended(10),
}
_API_KEY: Fields = {"type": (1, text), "name": (2, text), "in": (3, text), "description": (4, text)}


def _string_array(number: int, values: list[str]) -> bytes:
    return delimited_field(number, texts(1, values))


_DOCUMENT: Fields = {
    "swagger": (1, text),
    "info": (2, of(lambda: {"title": (1, text), "version": (2, text), "description": (3, text)})),
    "paths": (8, named(of(lambda: _PATH_ITEM), entry=2)),
    "definitions": (9, named(_schema)),
    "parameters": (10, named(_parameter)),
    "security": (12, each(named(_string_array))),
    "securityDefinitions": (13, named(one_of(lambda _: (2, of(lambda: _API_KEY))))),
    **extended(16),
}
