"""`config set` and `config unset`: one value of a kubeconfig, by its path.

Source of the behaviour: kubectl pkg/cmd/config/set.go, unset.go and navigation_step_parser.go.
"""

from __future__ import annotations

import base64
import binascii
from typing import Any

from engine.api.golang.boolean import parse_bool
from engine.client.kubeconfig import SECTIONS
from engine.kubectl.command import Command
from engine.kubectl.errors import CommandError, MisusedError
from engine.kubectl.flags import Flag, Type
from engine.kubectl.session import Session
from engine.kubectl.verbs.config_files import File, config_of, file_of

_TEXT, _BYTES, _BOOL, _LIST, _STRUCT = "text", "bytes", "bool", "list", "struct"
# The fields of an entry as clientcmd's internal types name them, and what they hold.
_FIELDS: dict[str, dict[str, str]] = {
    "clusters": {
        "server": _TEXT,
        "tls-server-name": _TEXT,
        "insecure-skip-tls-verify": _BOOL,
        "certificate-authority": _TEXT,
        "certificate-authority-data": _BYTES,
        "proxy-url": _TEXT,
        "disable-compression": _BOOL,
        "extensions": _STRUCT,
    },
    "contexts": {"cluster": _TEXT, "user": _TEXT, "namespace": _TEXT, "extensions": _STRUCT},
    "users": {
        "client-certificate": _TEXT,
        "client-certificate-data": _BYTES,
        "client-key": _TEXT,
        "client-key-data": _BYTES,
        "token": _TEXT,
        "tokenFile": _TEXT,
        "act-as": _TEXT,
        "act-as-uid": _TEXT,
        "act-as-groups": _LIST,
        "act-as-user-extra": _STRUCT,
        "username": _TEXT,
        "password": _TEXT,
        "auth-provider": _STRUCT,
        "exec": _STRUCT,
        "extensions": _STRUCT,
    },
}
_COLORS = "preferences.colors"
_UNKEPT = ("kind", "apiVersion")  # what a file says of them whatever they are set to
_ALWAYS: dict[str, tuple[str, ...]] = {"clusters": ("server",), "contexts": ("cluster", "user"), "users": ()}


async def set_property(session: Session) -> None:
    path, given = _arguments(session, 2)
    if not given:
        raise CommandError("you cannot use set to unset a property")
    if not path:
        raise CommandError("you must specify a property")
    if path == "current-context":
        _set_current(session, given)
    elif path == _COLORS:
        _set_preferences(session, {"colors": _value(session, _BOOL, given)})
    elif path not in _UNKEPT:
        _set(session, path, given)
    session.out(f'Property "{path}" set.')


async def unset_property(session: Session) -> None:
    (path,) = _arguments(session, 1)
    if not path:
        raise CommandError("you must specify a property")
    if path == "current-context":
        _set_current(session, "")
    elif path in ("preferences", _COLORS):
        _set_preferences(session, {})
    elif path not in _UNKEPT:
        _unset(session, path)
    session.out(f'Property "{path}" unset.')


def _arguments(session: Session, count: int) -> list[str]:
    if len(session.arguments) != count:
        raise MisusedError(f"Unexpected args: [{' '.join(session.arguments)}]")
    return session.arguments


def _set_current(session: Session, name: str) -> None:
    config_of(session).set_current(name)


def _set_preferences(session: Session, changes: dict[str, Any]) -> None:
    """Of the first file, which makes it where it is not there."""
    file = File(config_of(session).files[0])
    kept = {key: value for key, value in (file.document.get("preferences") or {}).items() if key != "colors"}
    file.document["preferences"] = {**kept, **changes}
    file.save()


def _set(session: Session, path: str, given: str) -> None:
    config, section = config_of(session), _section(path)
    name, rest = _steps(section, path)
    if not rest:
        known: dict[str, Any] = getattr(config, section)
        raise CommandError(f"can't set a map to a value: map[{' '.join(sorted(known))}]")
    if rest == ["extensions"]:
        raise CommandError("can't set a map to a value: map[]")
    value = _value(session, _kind(section, path, rest), given)
    file = file_of(config, section, name)
    entry = file.entry(section, name)
    for always in _ALWAYS[section]:
        entry.setdefault(always, "")
    entry[rest[0].removeprefix("act-")] = value
    file.save()


def _value(session: Session, kind: str, given: str) -> Any:
    """What a property is set to, by what its field holds. Raises CommandError."""
    if kind == _BOOL:
        try:
            return parse_bool(given)
        except ValueError as error:
            raise CommandError(str(error)) from None
    if kind == _LIST:
        raise CommandError("unrecognized slice type. string")
    if kind == _BYTES:
        return _bytes(given, raw=session.flags.on("set-raw-bytes"))
    return given


def _bytes(given: str, *, raw: bool) -> str:
    """Base64 for the file, of text in base64 or, with --set-raw-bytes, of the bytes themselves."""
    if raw:
        return base64.b64encode(given.encode()).decode()
    try:
        return base64.b64encode(base64.b64decode(given, validate=True)).decode()
    except binascii.Error as error:
        alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        at = next((i for i, char in enumerate(given) if char not in alphabet), len(given) // 4 * 4)
        raise CommandError(f"error decoding input value: illegal base64 data at input byte {at}") from error


def _unset(session: Session, path: str) -> None:
    config, section = config_of(session), _section(path)
    known: dict[str, Any] = getattr(config, section)
    if path == section:
        for name in list(known):
            _remove(session, section, name)
        return
    name, rest = _steps(section, path)
    if not rest:
        _remove(session, section, name)
        return
    if len(rest) > 1:
        _kind(section, path, rest)
    if name not in known:
        raise CommandError(f"current map key `{name}` is invalid")
    file = file_of(config, section, name)
    entry, field = file.entry(section, name), rest[0].removeprefix("act-")
    entry.pop(field, None)
    if field in _ALWAYS[section]:
        entry[field] = ""
    file.save()


def _remove(session: Session, section: str, name: str) -> None:
    file = file_of(config_of(session), section, name)
    file.remove(section, name)
    file.save()


def _section(path: str) -> str:
    section = path.partition(".")[0]
    if section not in SECTIONS:
        raise CommandError(f"unable to parse {path} after [] at api.Config")
    return section


def _steps(section: str, path: str) -> tuple[str, list[str]]:
    """An entry's name, which may hold dots and ends before the first field there is, and what follows it."""
    parts = path.split(".")[1:]
    end = next((i for i in range(1, len(parts)) if parts[i] in _FIELDS[section]), len(parts))
    return ".".join(parts[:end]), parts[end:]


def _kind(section: str, path: str, rest: list[str]) -> str:
    kind = _FIELDS[section][rest[0]]
    if len(rest) > 1 or kind == _STRUCT:
        raise CommandError(f"unable to parse one or more field values of {path}")
    return kind


PROPERTIES = (
    Command(
        name="set",
        short="Set an individual value in a kubeconfig file",
        usage="PROPERTY_NAME PROPERTY_VALUE",
        run=set_property,
        flags=(Flag("set-raw-bytes", Type.BOOL, help="Take the value of a field of bytes as it is, not as base64."),),
    ),
    Command(
        name="unset",
        short="Unset an individual value in a kubeconfig file",
        usage="PROPERTY_NAME",
        run=unset_property,
    ),
)
