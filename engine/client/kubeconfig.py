"""Kubeconfig files: read, merge, choose a context, write (hop 01).

Source of the behaviour: client-go tools/clientcmd/loader.go. The files that KUBECONFIG names are merged, the first to
set a value or to name an entry wins; without KUBECONFIG it is `~/.kube/config`. A file that does not exist counts as
empty, unless it was asked for by name (`--kubeconfig`). How a connection is made of it is in `client_config`.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.api.golang.yaml_writer import dump
from engine.client.client_config import ClientConfig
from engine.client.connection import Connection, KubeConfigError, LoadError, Overrides
from engine.client.kubeconfig_form import decode, encoded

SECTIONS = ("clusters", "contexts", "users")
# What an entry of a section holds its value under.
KEYS = {"clusters": "cluster", "contexts": "context", "users": "user"}
# Fields that name a file, which may be relative to the kubeconfig that they are in.
_PATHS = {"clusters": ("certificate-authority",), "users": ("client-certificate", "client-key", "tokenFile")}


@dataclass(slots=True)
class KubeConfig:
    """The merged configuration. Every named entry remembers its file, for relative paths and edits."""

    current_context: str = ""
    clusters: dict[str, dict[str, Any]] = field(default_factory=dict)
    contexts: dict[str, dict[str, Any]] = field(default_factory=dict)
    users: dict[str, dict[str, Any]] = field(default_factory=dict)
    preferences: dict[str, Any] = field(default_factory=dict)
    extensions: dict[str, Any] = field(default_factory=dict)
    origins: dict[tuple[str, str], Path] = field(default_factory=dict)
    files: tuple[Path, ...] = ()
    loaded: list[Path] = field(default_factory=list)  # those of the files that are there

    @classmethod
    def load(cls, path: str | Path = "", *, environment: Mapping[str, str] | None = None) -> KubeConfig:
        """Read the named file, or those of KUBECONFIG, or `~/.kube/config`. Raises KubeConfigError."""
        environment = os.environ if environment is None else environment
        if path:
            file = Path(path)
            if not file.exists():
                raise KubeConfigError(f"stat {path}: no such file or directory")
            return cls.merge([file])
        return cls.merge(default_files(environment))

    @classmethod
    def merge(cls, files: Sequence[Path]) -> KubeConfig:
        """Merge files in order: the first to set a value wins. Raises KubeConfigError for all that cannot be read."""
        config = cls(files=tuple(files))
        problems: list[str] = []
        for file in files:
            try:
                value = read_document(file)
            except KubeConfigError as error:
                problems += error.problems
                continue
            if value is not None:
                config.loaded.append(file)
                config._add(value, file)
        if problems:
            raise LoadError(*problems)
        return config

    def _add(self, value: Mapping[str, Any], file: Path) -> None:
        self.current_context = self.current_context or value["current-context"]
        for name, extension in _named(value.get("extensions"), "extension"):
            self.extensions.setdefault(name, extension)
        self.preferences = {**(value.get("preferences") or {}), **self.preferences}
        for section in SECTIONS:
            known: dict[str, dict[str, Any]] = getattr(self, section)
            for name, entry in _named(value.get(section), KEYS[section]):
                if name not in known:
                    known[name] = entry
                    self.origins[section, name] = file

    def client_config(self, overrides: Overrides) -> ClientConfig:
        """With what the command line sets."""
        return ClientConfig(
            contexts=self.contexts,
            clusters=self._resolved("clusters"),
            users=self._resolved("users"),
            current_context=self.current_context,
            overrides=overrides,
        )

    def _resolved(self, section: str) -> dict[str, dict[str, Any]]:
        """With the files that entries name made absolute."""
        entries: dict[str, dict[str, Any]] = getattr(self, section)
        folders = {name: self.origins.get((section, name), Path("config")).parent.absolute() for name in entries}
        return {name: _resolved(entry, section, folders[name]) for name, entry in entries.items()}

    def connection(self, overrides: Overrides | None = None) -> Connection:
        """How to reach the server of the chosen context. Raises KubeConfigError."""
        return self.client_config(overrides or Overrides()).connection()

    # -- writing

    def document(self) -> dict[str, Any]:
        """The configuration as one kubeconfig document, entries by name."""
        document: dict[str, Any] = {"preferences": self.preferences, "current-context": self.current_context}
        for section, key in (*KEYS.items(), ("extensions", "extension")):
            entries: dict[str, Any] = getattr(self, section)
            document[section] = [{"name": name, key: entries[name]} for name in sorted(entries)] or None
        return encoded(document)

    @property
    def default_file(self) -> Path:
        """Where new entries go: the first file that there is."""
        return next((file for file in self.files if file.exists()), self.files[0])

    def use_context(self, name: str) -> Path:
        """Make `name` the current context, in the file that says which is current; returns that file."""
        if name not in self.contexts:
            raise KubeConfigError(f'no context exists with the name: "{name}"')
        return self.set_current(name)

    def set_current(self, name: str) -> Path:
        """The same, of a name that need not be there (clientcmd's writeCurrentContext)."""
        values = {file: read_document(file) for file in self.files}
        file = next((f for f, value in values.items() if value and value["current-context"]), self.default_file)
        document = values[file] or encoded({})
        if document["current-context"] != name:
            write(file, {**document, "current-context": name})
        self.current_context = name
        return file


def default_files(environment: Mapping[str, str]) -> list[Path]:
    """The files of KUBECONFIG in order, or `~/.kube/config`."""
    if listed := environment.get("KUBECONFIG", ""):
        return [Path(item) for item in dict.fromkeys(listed.split(os.pathsep)) if item]
    home = environment.get("HOME", "")
    return [(Path(home) if home else Path.home()) / ".kube" / "config"]


def document_for(
    *, name: str, server: str, ca: bytes, certificate: bytes, key: bytes, user: str = "kubernetes-admin"
) -> dict[str, Any]:
    """The kubeconfig of one cluster and one user with a client certificate, the way kubeadm lays it out."""
    context = f"{user}@{name}"
    return {
        "apiVersion": "v1",
        "clusters": [{"cluster": {"certificate-authority-data": _base64(ca), "server": server}, "name": name}],
        "contexts": [{"context": {"cluster": name, "user": user}, "name": context}],
        "current-context": context,
        "kind": "Config",
        "users": [
            {"name": user, "user": {"client-certificate-data": _base64(certificate), "client-key-data": _base64(key)}}
        ],
    }


def renewed(document: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """The kubeconfig of one cluster anew, with what was added to the file `before`: the namespace of its context, other
    entries, and which context is current as long as that is of this cluster."""
    added = {section: list(before.get(section) or ()) for section in SECTIONS}
    (cluster,), (context,) = document["clusters"], document["contexts"]
    own: dict[str, Any] = next((each["context"] for each in added["contexts"] if each["name"] == context["name"]), {})
    kept = {key: value for key, value in own.items() if key not in context["context"]}
    ours = {**context, "context": {**context["context"], **kept}}
    made: dict[str, Any] = {**before, **document, "contexts": [ours]}
    for section in SECTIONS:
        names = {each["name"] for each in document[section]}
        made[section] = [*made[section], *(each for each in added[section] if each["name"] not in names)]
    of_this = {each["name"] for each in made["contexts"] if each["context"].get("cluster") == cluster["name"]}
    if (current := before.get("current-context")) in of_this:
        made["current-context"] = current
    return made


def write(path: str | Path, document: Mapping[str, Any]) -> None:
    """Write a kubeconfig with mode 0600, whole or not at all."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(dump(encoded(document)))
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def read_document(file: Path) -> dict[str, Any] | None:
    """The document of a file; None if there is no such file. Raises KubeConfigError."""
    try:
        return decode(file.read_bytes().decode(errors="replace"))
    except FileNotFoundError:
        return None
    except OSError as error:
        verb = "read" if isinstance(error, IsADirectoryError) else "open"
        why = (error.strerror or str(error)).lower()
        raise KubeConfigError(f'error loading config file "{file}": {verb} {file}: {why}') from error
    except ValueError as error:
        raise KubeConfigError(f'error loading config file "{file}": {error}') from error


def _named(entries: Sequence[Mapping[str, Any]] | None, key: str) -> list[tuple[str, Any]]:
    return [(entry["name"], entry[key]) for entry in entries or ()]


def _resolved(entry: dict[str, Any], section: str, folder: Path) -> dict[str, Any]:
    """With absolute paths (ResolveLocalPaths); the command of a plugin is one if it holds a slash."""
    paths = {name: os.path.normpath(folder / entry[name]) for name in _PATHS.get(section, ()) if entry.get(name)}
    plugin = entry.get("exec")
    if plugin and os.sep in plugin["command"]:
        return {**entry, **paths, "exec": {**plugin, "command": os.path.normpath(folder / plugin["command"])}}
    return {**entry, **paths}


def relativized(entry: dict[str, Any], section: str, folder: Path) -> dict[str, Any]:
    """As it is written: what is in the kubeconfig's folder or below is named from there, all else by its whole path."""
    changed = _resolved(entry, section, folder)
    for name in _PATHS.get(section, ()):
        if changed.get(name):
            changed[name] = _from(folder, changed[name])
    if changed.get("exec") and os.sep in changed["exec"]["command"]:
        changed["exec"] = {**changed["exec"], "command": _from(folder, changed["exec"]["command"])}
    return changed


def _from(folder: Path, path: str) -> str:
    relative = os.path.relpath(path, folder)
    return path if relative.startswith("..") else relative


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
