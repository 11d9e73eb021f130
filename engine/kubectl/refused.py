"""`-v=4` and more: the Status that a server answered with, told before it is said what went wrong.

Source of the behaviour: kubectl pkg/cmd/util/helpers.go (StandardErrorMessage), apimachinery pkg/api/errors
(DebugError).
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from engine.api.errors import ApiError
from engine.kubectl.errors import Aggregate

LEVEL = 4
PLACE = "helpers.go:247"


def statuses(error: Exception) -> Iterator[str]:
    """A line of each refusal that is told in the standard words, which one of an invalid object alone is not."""
    told = error.errors if isinstance(error, Aggregate) else [error]
    for each in told:
        if isinstance(each, ApiError) and (each.reason != "Invalid" or each is not error):
            yield f"server response object: {json.dumps(each.status, indent=2, ensure_ascii=False)}"
