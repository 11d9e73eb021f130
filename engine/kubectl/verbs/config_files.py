"""The kubeconfig files of `config`: which there are, and one of them changed and written back.

Source of the behaviour: client-go tools/clientcmd/config.go (ModifyConfig).
"""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from engine.client.kubeconfig import KEYS, KubeConfig, read_document, relativized, write
from engine.client.kubeconfig_form import encoded
from engine.kubectl.session import Session


def config_of(session: Session) -> KubeConfig:
    """The files that are changed; one that is not there counts as empty, even where it was asked for by name."""
    if session.kubeconfig is not None:
        return session.kubeconfig
    if named := session.flags.text("kubeconfig"):
        return KubeConfig.merge([Path(named)])
    return KubeConfig.load(environment=session.environment)


class File:
    """The document of one file, changed and written back."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.document: dict[str, Any] = read_document(path) or encoded({})
        self._before = copy.deepcopy(self.document)
        self._touched: set[tuple[str, str]] = set()

    def entries(self, section: str) -> list[dict[str, Any]]:
        if not self.document.get(section):
            self.document[section] = []
        entries: list[dict[str, Any]] = self.document[section]
        return entries

    def entry(self, section: str, name: str) -> dict[str, Any]:
        """The value of an entry; a new one where there is none."""
        key = KEYS[section]
        found = next((e for e in self.entries(section) if e.get("name") == name), None)
        if found is None:
            found = {key: {}, "name": name}
            self.entries(section).append(found)
            self.entries(section).sort(key=lambda e: str(e["name"]))
        if not found.get(key):
            found[key] = {}
        self._touched.add((section, name))
        value: dict[str, Any] = found[key]
        return value

    def remove(self, section: str, name: str) -> None:
        self.document[section] = [e for e in self.entries(section) if e.get("name") != name]

    def save(self, *, relative: bool = False) -> None:
        """Nothing is written where nothing has changed; `relative` entries name files from where they are."""
        if encoded(self.document) != self._before:
            for section, key in KEYS.items():
                for found in self.document.get(section) or ():
                    if relative and (section, found["name"]) in self._touched:
                        found[key] = relativized(found[key], section, self.path.parent.absolute())
            write(self.path, self.document)


def file_of(config: KubeConfig, section: str, name: str) -> File:
    return File(config.origins.get((section, name)) or config.default_file)
