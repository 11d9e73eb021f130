"""The documents in the files of a folder (apiserver pkg/admission/plugin/manifest loader.go)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

EXTENSIONS = (".yaml", ".yml", ".json")
_SEPARATOR = re.compile(rb"^---[ \t\r]*$", re.MULTILINE)

Signature = tuple[tuple[str, int, int, int], ...]


class ManifestError(Exception):
    """What stands in a folder is no admission that a server would start with."""


class Document(NamedTuple):
    file: Path
    text: bytes


class Contents(NamedTuple):
    """`hash` tells the contents of a folder from others; "" of one without any."""

    documents: tuple[Document, ...]
    hash: str


def signature(folder: Path) -> Signature:
    """Changes with each file of the folder, without one being read; () for a folder that is not there."""
    try:
        return tuple(sorted(_signatures(folder)))
    except OSError:
        return ()


def _signatures(folder: Path) -> Iterator[tuple[str, int, int, int]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if _is_read(entry.name):
                stat = entry.stat()
                yield entry.name, stat.st_ino, stat.st_size, stat.st_mtime_ns


def read_folder(folder: Path) -> Contents:
    """Of its files in the order of their names; folders within it are not looked into. Raises ManifestError."""
    documents, digest = list[Document](), sha256()
    try:
        names = sorted(entry.name for entry in os.scandir(folder) if _is_read(entry.name) and not entry.is_dir())
    except OSError as error:
        raise ManifestError(f'failed to read manifest directory "{folder}": {_told(folder, error)}') from error
    found = False
    for name in names:
        file = folder / name
        try:
            data = file.read_bytes()
        except OSError as error:
            raise ManifestError(f'failed to read file "{file}": {_told(file, error)}') from error
        if data:
            found = True
            digest.update(data + b"\0")
            documents += [Document(file, text) for each in _SEPARATOR.split(data) if (text := each.strip())]
    return Contents(tuple(documents), f"sha256:{digest.hexdigest()}" if found else "")


def _is_read(name: str) -> bool:
    return os.path.splitext(name)[1].lower() in EXTENSIONS


def _told(path: Path, error: OSError) -> str:
    return f"open {path}: {(error.strerror or str(error)).lower()}"
