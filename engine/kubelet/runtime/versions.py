"""Which version a simulated server says that it is: what the image's tag says, filled up to a whole version."""

from __future__ import annotations

import re

# The newest that the tag of a line stood for, and what `latest` stands for.
_LINES = {
    "nginx": {"": "1.27.5", "1.25": "1.25.5", "1.26": "1.26.3", "1.27": "1.27.5", "1.28": "1.28.0", "1.29": "1.29.3"},
    "redis": {"": "8.2.1", "6": "6.2.19", "7": "7.4.5", "7.2": "7.2.10", "7.4": "7.4.5", "8": "8.2.1", "8.2": "8.2.1"},
    "postgres": {"": "18.0", "14": "14.19", "15": "15.14", "16": "16.10", "17": "17.6", "18": "18.0"},
    "mysql": {"": "9.4.0", "8": "8.4.6", "8.0": "8.0.43", "8.4": "8.4.6", "9": "9.4.0"},
    "mariadb": {"": "12.0.2", "10": "10.11.14", "11": "11.8.3", "12": "12.0.2"},
}

# Images whose tags are versions of their own.
_OWN_TAGS = ("/nginx-slim", "/echoserver")


def version_of(software: str, image: str) -> str:
    """The version of what an image's full reference names."""
    lines = _LINES[software]
    repository, _, tag = image.partition("@")[0].rpartition(":")
    own = repository.endswith(_OWN_TAGS)
    match = re.match(r"\d+(\.\d+)*", tag) if repository and not own else None
    if match is None:
        return lines[""]
    return lines.get(match[0], match[0])
