"""YAML in requests, as JSON (engine.api.yaml_text has how it is read)."""

from __future__ import annotations

from typing import Any

import orjson
import yaml

from engine.api.errors import bad_request
from engine.api.yaml_text import CONVERTING, go_yaml_error, plain_yaml, twice_in_yaml, unmarshal_errors

__all__ = ["CONVERTING", "read_yaml", "twice_in_yaml", "unmarshal_errors"]

_TOO_DEEP = "exceeded max depth"  # in the words of Go's encoding/json, whose limit is 10000


def read_yaml(text: bytes, *, what: str = "") -> Any:
    """The JSON value of a YAML document; `what` is said before it of one that is broken. Raises ApiError 400."""
    try:
        return plain_yaml(text)
    except RecursionError:
        raise bad_request(f"{what}{CONVERTING}yaml: {_TOO_DEEP}") from None
    except yaml.YAMLError as error:
        raise bad_request(f"{what}{CONVERTING}{go_yaml_error(error)}") from None
    except (orjson.JSONEncodeError, ValueError) as error:
        raise bad_request(f"{what}{CONVERTING}yaml: {error}") from None
