"""What kubectl takes for the name of an image (distribution/reference: a host, a path, a tag, a digest)."""

from __future__ import annotations

import re

_PART = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_IMAGE = re.compile(
    rf"(?:(?:[a-zA-Z0-9][-a-zA-Z0-9.]*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?/)?{_PART}(?:/{_PART})*"
    r"(?::\w[\w.-]{0,127})?(?:@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?"
)


def is_image_name(text: str) -> bool:
    return _IMAGE.fullmatch(text) is not None
