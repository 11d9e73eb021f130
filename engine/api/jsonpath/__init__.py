"""JSONPath as kubectl's `-o jsonpath`, `--sort-by` and `wait`, and the columns of custom resources, understand it.

Source of the behaviour: client-go util/jsonpath (parser.go, jsonpath.go), texts of errors and oddities included.
"""

from __future__ import annotations

from engine.api.jsonpath.evaluation import JsonPath
from engine.api.jsonpath.nodes import JsonPathError

__all__ = ["JsonPath", "JsonPathError"]
