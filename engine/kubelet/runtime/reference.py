"""Image references: the familiar short form and the full name that a registry knows (distribution/reference)."""

from __future__ import annotations

import re
from typing import NamedTuple

_TAG = re.compile(r"[\w][\w.-]{0,127}")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_DOMAIN = r"(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*)(?::\d+)?"
_PATH = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*"
_NAME = re.compile(f"(?:{_DOMAIN}/)?{_PATH}")


class InvalidReferenceError(ValueError):
    """The text is no image reference."""


class Reference(NamedTuple):
    domain: str
    path: str
    tag: str  # "" where only a digest is given
    digest: str

    @property
    def repository(self) -> str:
        """As a registry names it: `docker.io/library/nginx`."""
        return f"{self.domain}/{self.path}"

    @property
    def full(self) -> str:
        return f"{self.repository}@{self.digest}" if self.digest else f"{self.repository}:{self.tag}"

    @property
    def familiar(self) -> str:
        """The repository without Docker Hub's defaults: `nginx`, `bitnami/redis`, `registry.k8s.io/pause`."""
        if self.domain == "docker.io":
            return self.path.removeprefix("library/")
        return self.repository


def parse_reference(image: str) -> Reference:
    """The full reference of an image's name; tag `latest` where neither tag nor digest is given.

    Raises InvalidReferenceError with the text of distribution/reference.
    """
    rest, _, digest = image.partition("@")
    name, tag = rest, ""
    head, colon, last = rest.rpartition(":")
    tagged = bool(colon) and "/" not in last
    if tagged:
        name, tag = head, last
    bad_digest, bad_tag = digest and not _DIGEST.fullmatch(digest), tagged and not _TAG.fullmatch(tag)
    if not _NAME.fullmatch(name) or bad_digest or bad_tag:
        if name != name.lower() and _NAME.fullmatch(name.lower()):
            remote = name if "/" in name else f"library/{name}"
            raise InvalidReferenceError(f"invalid reference format: repository name ({remote}) must be lowercase")
        raise InvalidReferenceError("invalid reference format")
    domain, slash, path = name.partition("/")
    if not slash or ("." not in domain and ":" not in domain and domain != "localhost"):
        domain, path = "docker.io", name
    if domain == "docker.io" and "/" not in path:
        path = f"library/{path}"
    return Reference(domain, path, tag or ("" if digest else "latest"), digest)
