"""A body that its decoder cannot read, YAML or protobuf; of JSON `registry.body_syntax` says what is wrong.

Source: apiserver pkg/endpoints/handlers/create.go (transformDecodeError).
"""

from __future__ import annotations

from engine.api.errors import ApiError
from engine.api.types import GVK


class BrokenBody(ApiError):
    """400, in the decoder's words. `gvk` is what the body says that it is, None where it does not come so far."""

    def __init__(self, why: str, gvk: GVK | None = None) -> None:
        super().__init__(400, "BadRequest", why)
        self.gvk = gvk
