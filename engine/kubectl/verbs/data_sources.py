"""The data of ConfigMaps and Secrets that are made from flags: literals, files, folders and environment files.

Source of the behaviour: kubectl pkg/cmd/create (create_configmap.go) and pkg/util (hash, env_file.go).
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from pathlib import Path

from engine.api.validation.text import config_key, env_file_key
from engine.kubectl.errors import CommandError
from engine.kubectl.session import Session


def literals(session: Session, kind: str, name: str) -> dict[str, bytes]:
    """The data of --from-literal, --from-file and --from-env-file. Raises CommandError."""
    data = _Data(kind, name)
    if session.flags.many("from-env-file") and any(map(session.flags.many, ("from-file", "from-literal"))):
        raise CommandError("from-env-file cannot be combined with from-file or from-literal")
    for source in session.flags.many("from-file"):
        key, equals, path = source.partition("=")
        _check_source(key, equals, path)
        for file in _files(path if equals else source):
            data.put(key if equals else file.name, _content(file))
    for source in session.flags.many("from-literal"):
        key, equals, value = source.partition("=")
        if not equals or not key:
            raise CommandError(f"invalid literal source {source}, expected key=value")
        data.put(key, value.encode())
    for source in session.flags.many("from-env-file"):
        for key, value in _variables(session, source, "secret" if kind == "Secret" else "config"):
            data.put(key, value.encode())
    return data.values


def _check_source(key: str, equals: str, path: str) -> None:
    if not equals:
        return
    if "=" in path:
        raise CommandError("key names or file paths cannot contain '='")
    if not key:
        raise CommandError(f"key name for file path {path} missing")
    if not path:
        raise CommandError(f"file path for key name {key} missing")
    if Path(path).is_dir():
        raise CommandError("cannot give a key name for a directory path")


def _variables(session: Session, path: str, what: str) -> Iterator[tuple[str, str]]:
    """The lines of an environment file; one without a value takes it from the environment."""
    if Path(path).is_dir():
        raise CommandError(f"env {what} file cannot be a directory")
    lines = _content(Path(path)).removeprefix(codecs.BOM_UTF8).splitlines()
    for number, raw in enumerate(lines, 1):
        try:
            line = raw.decode().lstrip()
        except UnicodeDecodeError as error:
            shown = " ".join(str(byte) for byte in raw)
            raise CommandError(f"env file {path} contains invalid utf8 bytes at line {number}: [{shown}]") from error
        if not line or line.startswith("#"):
            continue
        key, equals, value = line.partition("=")
        if problems := env_file_key(key):
            raise CommandError(f'"{key}" is not a valid key name: {";".join(problems)}')
        yield key, value if equals else session.environ(key)


class _Data:
    """What becomes the data of one object: each key once, and good as one."""

    def __init__(self, kind: str, name: str) -> None:
        self.values: dict[str, bytes] = {}
        self._kind = kind
        self._name = name

    def put(self, key: str, value: bytes) -> None:
        secret = self._kind == "Secret"
        if problems := config_key(key):
            words = "not valid key name for a Secret " if secret else "not a valid key name for a ConfigMap: "
            raise CommandError(f'"{key}" is {words}{(";" if secret else ",").join(problems)}')
        if key in self.values:
            if secret:
                raise CommandError(f"cannot add key {key}, another key by that name already exists")
            where = f'Data for ConfigMap "{self._name}"'
            raise CommandError(f'cannot add key "{key}", another key by that name already exists in {where}')
        self.values[key] = value


def _files(name: str) -> list[Path]:
    """A file, or those of a folder that are no links."""
    path = Path(name)
    if not path.exists():
        raise CommandError(f"error reading {name}: no such file or directory")
    return sorted(p for p in path.iterdir() if p.is_file() and not p.is_symlink()) if path.is_dir() else [path]


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise CommandError(f"error reading {path}: {(error.strerror or '').lower()}") from error
