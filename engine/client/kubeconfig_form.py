"""A kubeconfig as Go reads and writes it: the fields there are, what does not fit them, and the form it is written in.

Hop 01, between the text of a file and `KubeConfig`. Source: client-go tools/clientcmd/api/v1 (types.go, conversion.go)
and clientcmd/api/latest; the decoder is not strict, so that unknown fields are passed over.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from engine.api.golang.forms import ANY, BOOL, BYTES, STRING, Form, Leaf, Map, Struct, UnmarshalError, check, type_meta
from engine.api.golang.yaml import YamlError, load

_SCHEME = "k8s.io/client-go/tools/clientcmd/api/latest/latest.go:50"
_VERSION, _KIND = "v1", "Config"

_EXTENSIONS = [Struct("NamedExtension", {"name": STRING, "extension": ANY})]
CLUSTER = Struct(
    "Cluster",
    {
        "server": STRING,
        "tls-server-name": STRING,
        "insecure-skip-tls-verify": BOOL,
        "certificate-authority": STRING,
        "certificate-authority-data": BYTES,
        "proxy-url": STRING,
        "disable-compression": BOOL,
        "extensions": _EXTENSIONS,
    },
)
_EXEC = Struct(
    "ExecConfig",
    {
        "command": STRING,
        "args": [STRING],
        "env": [Struct("ExecEnvVar", {"name": STRING, "value": STRING})],
        "apiVersion": STRING,
        "installHint": STRING,
        "provideClusterInfo": BOOL,
        "interactiveMode": Leaf("v1.ExecInteractiveMode", STRING.fits),
    },
)
USER = Struct(
    "AuthInfo",
    {
        "client-certificate": STRING,
        "client-certificate-data": BYTES,
        "client-key": STRING,
        "client-key-data": BYTES,
        "token": STRING,
        "tokenFile": STRING,
        "as": STRING,
        "as-uid": STRING,
        "as-groups": [STRING],
        "as-user-extra": Map([STRING]),
        "username": STRING,
        "password": STRING,
        "auth-provider": Struct("AuthProviderConfig", {"name": STRING, "config": Map(STRING)}),
        "exec": _EXEC,
        "extensions": _EXTENSIONS,
    },
)
CONTEXT = Struct("Context", {"cluster": STRING, "user": STRING, "namespace": STRING, "extensions": _EXTENSIONS})
_CONFIG = Struct(
    _KIND,
    {
        "kind": STRING,
        "apiVersion": STRING,
        "preferences": Struct("Preferences", {"colors": BOOL, "extensions": _EXTENSIONS}),
        "clusters": [Struct("NamedCluster", {"name": STRING, "cluster": CLUSTER})],
        "users": [Struct("NamedAuthInfo", {"name": STRING, "user": USER})],
        "contexts": [Struct("NamedContext", {"name": STRING, "context": CONTEXT})],
        "current-context": STRING,
        "extensions": _EXTENSIONS,
    },
)
_OLD_PLUGINS = tuple(f"client.authentication.k8s.io/{version}" for version in ("v1beta1", "v1alpha1"))
_POINTERS = ("auth-provider", "exec")
# Fields without omitempty, by the name of their struct; all others are left out where they are empty.
_ALWAYS: Mapping[str, tuple[str, ...]] = {
    "Cluster": ("server",),
    "Context": ("cluster", "user"),
    "ExecConfig": ("command", "args", "env", "provideClusterInfo"),
    "ExecEnvVar": ("name", "value"),
    "AuthProviderConfig": ("name", "config"),
    "NamedCluster": ("name", "cluster"),
    "NamedAuthInfo": ("name", "user"),
    "NamedContext": ("name", "context"),
    "NamedExtension": ("name", "extension"),
    _KIND: ("clusters", "users", "contexts", "current-context"),
}
# The lists that become maps by name, in the order of their conversion.
_BY_NAME = {
    "clusters": ("NamedCluster", "*api.Cluster"),
    "users": ("NamedAuthInfo", "*api.AuthInfo"),
    "contexts": ("NamedContext", "*api.Context"),
    "extensions": ("NamedExtension", "runtime.Object"),
}


def decode(text: str) -> dict[str, Any]:
    """The document of a text, in the form in which it is written. Raises ValueError in Go's words."""
    if not text:
        return encoded({})
    try:
        value = load(text)
    except YamlError as error:
        raise UnmarshalError(str(error)) from error
    kind, version = type_meta(value)
    version = _group_version(version)
    if (kind or _KIND, version or _VERSION) != (_KIND, _VERSION):
        raise UnmarshalError(
            f'no kind "{kind or _KIND}" is registered for version "{version or _VERSION}" in scheme "{_SCHEME}"'
        )
    check(value, _CONFIG)
    document = _defaulted(encoded(value or {}))
    _refuse_twice((document.get("preferences") or {}).get("extensions"), "extensions")
    for section in _BY_NAME:
        _refuse_twice(document.get(section), section)
        if document.get(section):
            document[section].sort(key=_name)
    return document


def _group_version(text: str) -> str:
    """As schema.ParseGroupVersion has it. Raises UnmarshalError."""
    if text.count("/") > 1:
        raise UnmarshalError(f"unexpected GroupVersion string: {text}")
    return text.removeprefix("/")


def _name(entry: Mapping[str, Any]) -> str:
    name: str = entry["name"]
    return name


def _defaulted(document: dict[str, Any]) -> dict[str, Any]:
    """Plugins of old versions may ask if they can; those of v1 have to say it (clientcmd/api/v1/defaults.go)."""
    for user in document["users"] or ():
        plugin = user["user"].get("exec")
        if plugin and plugin.get("apiVersion") in _OLD_PLUGINS:
            plugin.setdefault("interactiveMode", "IfAvailable")
    return document


def encoded(value: Mapping[str, Any]) -> dict[str, Any]:
    """A document as it is written: of kind and version, without what is empty, with what is written however empty."""
    return {
        "kind": _KIND,
        "apiVersion": _VERSION,
        **_encoded({**value, "kind": _KIND, "apiVersion": _VERSION}, _CONFIG),
    }


def entry(value: Mapping[str, Any] | None, form: Struct) -> dict[str, Any]:
    """One cluster, user or context as it is written."""
    return _encoded(value or {}, form)


def _encoded(value: Mapping[str, Any], form: Struct) -> dict[str, Any]:
    always = _ALWAYS.get(form.name, ())
    result = {}
    for name, inner in form.fields.items():
        found = _value(value.get(name), inner, pointer=name in _POINTERS)
        if name in always or found not in (None, "", False, [], {}):
            result[name] = None if form is _CONFIG and found == [] else found
    return result


def _value(value: Any, form: Form, *, pointer: bool = False) -> Any:
    match form:
        case Struct():
            return None if value is None and pointer else _encoded(value or {}, form)
        case Map():
            return None if value is None else {key: _value(value[key], form.values) for key in sorted(value)}
        case list():
            return None if value is None else [_value(item, form[0]) for item in value]
        case Leaf():
            return _leaf(value, form)


def _leaf(value: Any, form: Leaf) -> Any:
    if form is BYTES:
        if isinstance(value, list):
            return base64.b64encode(bytes(value)).decode()
        return base64.b64encode(base64.b64decode(value)).decode() if value else ""
    if value is None:
        return {STRING.type: "", BOOL.type: False}.get(form.type)
    return value


def _refuse_twice(entries: Sequence[Mapping[str, Any]] | None, section: str) -> None:
    seen: set[str] = set()
    for one in entries or ():
        if one["name"] in seen:
            source, target = _BY_NAME[section]
            form = _EXTENSIONS[0] if section == "extensions" else _CONFIG.fields[section][0]
            shown = " ".join(_shown(each, form) for each in entries or ())
            raise UnmarshalError(
                f"error converting *[]{source} into *map[string]{target}: "
                f'duplicate name "{one["name"]}" in list: [{shown}]'
            )
        seen.add(one["name"])


def _shown(value: Any, form: Form) -> str:
    """A value as Go's %v writes it; what a pointer leads to is not shown, and where it is differs from run to run."""
    match form:
        case Struct():
            parts = (_field(value.get(name), inner, name) for name, inner in form.fields.items())
            return f"{{{' '.join(parts)}}}"
        case Map():
            return (
                f"map[{' '.join(f'{key}:{_shown(item, form.values)}' for key, item in sorted((value or {}).items()))}]"
            )
        case list():
            return f"[{' '.join(_shown(item, form[0]) for item in value or ())}]"
        case Leaf():
            return _shown_leaf(value, form)


def _field(value: Any, form: Form, name: str) -> str:
    if name in _POINTERS:
        return "<nil>" if value is None else "0xc000000000"
    return _shown(value, form)


def _shown_leaf(value: Any, form: Leaf) -> str:
    if form is ANY:
        return f"{{[{' '.join(str(byte) for byte in orjson.dumps(value, option=orjson.OPT_SORT_KEYS))}] <nil>}}"
    if form is BYTES:
        return f"[{' '.join(str(byte) for byte in base64.b64decode(value or ''))}]"
    if form is BOOL:
        return "true" if value else "false"
    return value or ""
