"""The data of ConfigMaps and Secrets that are made from flags: literals, files, folders and environment files.

Source of the behaviour: kubectl pkg/cmd/create (create_configmap.go) and pkg/util (hash, env_file.go).
"""

from __future__ import annotations

from pathlib import Path

from engine.kubectl.errors import CommandError
from engine.kubectl.session import Session


def literals(session: Session) -> dict[str, bytes]:
    """The data of --from-literal, --from-file and --from-env-file."""
    data: dict[str, bytes] = {}
    for source in session.flags.many("from-literal"):
        key, equals, value = source.partition("=")
        if not equals or not key:
            raise CommandError(f"invalid literal source {source}, expected key=value")
        _put(data, key, value.strip("'\"").encode())
    if session.flags.many("from-env-file") and (data or session.flags.many("from-file")):
        raise CommandError("from-env-file cannot be combined with from-file or from-literal")
    for source in session.flags.many("from-file"):
        key, equals, path = source.partition("=")
        _check_source(key, equals, path)
        for file in _files(path if equals else source):
            _put(data, key if equals else file.name, _content(file))
    for source in session.flags.many("from-env-file"):
        for line in _content(Path(source)).decode().splitlines():
            if line.strip() and not line.lstrip().startswith("#"):
                key, equals, value = line.strip().partition("=")
                _put(data, key, (value if equals else session.environ(key)).encode())
    return data


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


def _put(data: dict[str, bytes], key: str, value: bytes) -> None:
    if key in data:
        raise CommandError(f'cannot add key "{key}", another key by that name already exists in Data')
    data[key] = value


def _files(name: str) -> list[Path]:
    path = Path(name)
    if not path.exists():
        raise CommandError(f"error reading {name}: no such file or directory")
    return sorted(p for p in path.iterdir() if p.is_file()) if path.is_dir() else [path]


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise CommandError(f"error reading {path}: {(error.strerror or '').lower()}") from error
