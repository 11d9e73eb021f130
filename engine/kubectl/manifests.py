"""Manifests: files, folders, URLs and standard input, split into documents and decoded (hop 01).

Source of the behaviour: cli-runtime pkg/resource/visitor.go and apimachinery pkg/util/yaml/decoder.go, error texts
included. A document that cannot be read ends its file; the documents before it count.
"""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from engine.api.golang import url
from engine.api.golang.text import quoted
from engine.kubectl import yaml
from engine.kubectl.errors import CommandError, of

EXTENSIONS = (".json", ".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class Document:
    """One object of a manifest and where it stands. `source` is the file's name, or STDIN."""

    value: Any
    source: str
    text: str = ""  # of one that was JSON

    @property
    def shown(self) -> str:
        """The document as JSON, as error texts show it."""
        if self.text:
            return self.text
        return json.dumps(self.value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Source:
    name: str
    read: Callable[[], str]
    remote: bool = False  # `name` is the URL of a text that has to be fetched before it can be read


def sources(names: Sequence[str], *, recursive: bool, stdin: Callable[[], str]) -> Iterator[Source]:
    """The texts that `-f` names, in order. Raises what is wrong with any of them before the first is read."""
    found: list[Source] = []
    errors: list[Exception] = []
    for name in names:
        if name == "-":
            if any(source.name == "STDIN" for source in found):
                errors.append(CommandError("standard input cannot be used for multiple arguments"))
            found.append(Source("STDIN", stdin))
        elif name.startswith(("http://", "https://")):
            try:
                url.parse(name)
            except ValueError as error:
                errors.append(CommandError(f"the URL passed to filename {quoted(name)} is not valid: {error}"))
                continue
            found.append(Source(name, partial(_read, Path(name)), remote=True))
        else:
            try:
                found += _path(name, recursive=recursive)
            except CommandError as error:
                errors.append(error)
    if errors:
        raise of(errors)
    yield from found


def _path(name: str, *, recursive: bool) -> Iterator[Source]:
    for path in _matches(name):
        if not path.is_dir() or path.is_symlink():  # a link to a folder is read as a file, and cannot be
            yield Source(name if path == Path(name) else str(path), partial(_read, path))
            continue
        found = list(_folder(path, recursive=recursive))
        if not found:
            raise CommandError(f"error reading [{name}]: recognized file extensions are [{' '.join(EXTENSIONS)}]")
        for file in found:
            yield Source(str(file), partial(_read, file))


def _matches(name: str) -> list[Path]:
    """The file of a name, or those of a pattern. Raises CommandError where there is none."""
    given = Path(name)
    try:
        os.stat(name)  # of no name there is none, which a Path takes for the folder that one is in
    except FileNotFoundError:
        if _broken_pattern(name):
            raise CommandError(f"pattern {quoted(name)} is not valid: syntax error in pattern") from None
    except OSError as error:
        if error.errno == errno.ELOOP:
            why = f"stat {name}: {(error.strerror or '').lower()}"
            raise CommandError(f"the path {quoted(name)} cannot be accessed: {why}") from None
    else:
        return [given]
    if not (found := _glob(name)):
        raise CommandError(f"the path {quoted(name)} does not exist")
    return found


def _broken_pattern(pattern: str) -> bool:
    """Whether a bracket of a pattern holds nothing or does not end (Go's path/filepath, Match)."""
    rest = re.sub(r"\\.", "x", pattern)
    while (start := rest.find("[")) >= 0:
        end = rest.find("]", start + 1 + rest.startswith("^", start + 1))
        if end < 0 or rest[start + 1 : end] in ("", "^"):
            return True
        rest = rest[end + 1 :]
    return pattern.endswith("\\") and not pattern.endswith("\\\\")


def _glob(name: str) -> list[Path]:
    if not any(char in name for char in "*?["):
        return []
    pattern = Path(name)
    root = Path(pattern.anchor) if pattern.is_absolute() else Path()
    relative = str(pattern.relative_to(pattern.anchor)) if pattern.is_absolute() else name
    return sorted(root.glob(relative))


def _folder(path: Path, *, recursive: bool) -> Iterator[Path]:
    for entry in sorted(path.iterdir()):
        if entry.is_dir():
            if recursive:
                yield from _folder(entry, recursive=True)
        elif entry.suffix in EXTENSIONS:
            yield entry


def _read(path: Path) -> str:
    """What is no UTF-8 becomes U+FFFD, as in Go's encoding/json."""
    try:
        return path.read_bytes().decode("utf-8-sig", "replace")
    except IsADirectoryError as error:
        raise CommandError(f"error parsing {path}: read {path}: is a directory") from error
    except OSError as error:
        raise CommandError(f"open {path}: {(error.strerror or str(error)).lower()}") from error


def documents(source: Source, *, with_column: bool = False) -> Iterator[Document]:
    """The objects of one text. Raises CommandError where one cannot be read.

    `with_column` adds the place within the whole file to the words of kubectl, which counts lines within the document.
    """
    text = source.read()
    if text.lstrip()[:1] == "{":
        position = 0
        for document, end in _json_documents(text, source.name):
            yield document
            position = end
        text, skipped = text[position:], text.count("\n", 0, position)
    else:
        skipped = 0
    for first_line, chunk in _chunks(text, source.name):
        try:
            value = yaml.load(chunk)
        except yaml.YamlError as error:
            message = f"error parsing {source.name}: error converting YAML to JSON: {error}"
            if with_column and error.line:
                message += f" ({source.name}:{skipped + first_line + error.line - 1}:{error.column})"
            raise CommandError(message) from error
        if value is not None:
            yield Document(value, source.name)


def _json_documents(text: str, name: str) -> Iterator[tuple[Document, int]]:
    """JSON values, each with where it ends; ends before what may be YAML. Raises CommandError for one that is cut."""
    decoder, position = json.JSONDecoder(), 0
    while stripped := text[position:].lstrip():
        start = len(text) - len(stripped)
        if stripped[0] not in "{[":
            return
        try:
            value, position = decoder.raw_decode(text, start)
        except json.JSONDecodeError as error:
            if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
                raise CommandError(f"error parsing {name}: unexpected EOF") from None
            return
        if value is not None:
            yield Document(value, name, text[start:position]), position


def _chunks(text: str, name: str) -> Iterator[tuple[int, str]]:
    """The documents of a YAML stream, each with the number of its first line."""
    buffer: list[str] = []
    first = 1
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        if line.startswith("---"):
            rest = line[3:].strip()
            if rest and not rest.startswith("#"):
                raise CommandError(f"error parsing {name}: invalid Yaml document separator: {rest}")
            if buffer:
                yield first, "".join(buffer)
                buffer = []
                first = number + 1
                continue
        if not buffer:
            first = number
        buffer.append(line)
    if buffer:
        yield first, "".join(buffer)
