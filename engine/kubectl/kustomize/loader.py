"""The files of a kustomization: read within its folder only, folders opened without going round in circles.

Source of the behaviour: kustomize api/internal/loader (fileloader.go, loadrestrictions.go).
"""

from __future__ import annotations

import os
from pathlib import Path

from engine.kubectl.kustomize.errors import BuildError, within

NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")


class Loader:
    """Reads relative to `root`. `above` is the loader of the kustomization that refers to this one."""

    def __init__(self, root: Path, *, restricted: bool, above: Loader | None = None) -> None:
        self.root = root
        self._restricted = restricted
        self._above = above

    def open(self, path: str) -> Loader:
        """A loader for a folder that a kustomization names."""
        if not path:
            raise BuildError("new root cannot be empty")
        if os.path.isabs(path):
            raise BuildError(f"new root '{path}' cannot be absolute")
        root = base(os.path.normpath(self.root / path))
        self._refuse_circle(root)
        return Loader(root, restricted=self._restricted, above=self)

    def _refuse_circle(self, root: Path) -> None:
        loader: Loader | None = self
        while loader is not None:
            if loader.root == root or root in loader.root.parents:
                raise BuildError(f"cycle detected: candidate root '{root}' contains visited root '{loader.root}'")
            loader = loader._above

    def read(self, path: str) -> bytes:
        """The content of a file. Raises BuildError."""
        if path.startswith(("http://", "https://")):
            raise BuildError(f'Get "{path}": kustomizations are read from files only')
        place = path if os.path.isabs(path) else os.path.normpath(self.root / path)
        if self._restricted:
            self._require_inside(place)
        try:
            return Path(place).read_bytes()
        except FileNotFoundError as error:
            raise _missing(place, error) from error
        except OSError as error:
            verb = "read" if isinstance(error, IsADirectoryError) else "open"
            raise BuildError(f"{verb} {place}: {_reason(error)}") from error

    def _require_inside(self, place: str) -> None:
        if os.path.isdir(place):
            raise BuildError(f"'{place}' must resolve to a file")
        try:
            real = Path(place).resolve(strict=True)
        except OSError:
            return  # reading it says so
        if self.root != real.parent and self.root not in real.parents:
            raise BuildError(f"security; file '{place}' is not in or below '{self.root}'")


def base(path: str) -> Path:
    """A folder to build, by its real path. Raises BuildError in the words of filesys.ConfirmDir."""
    with within("must build at directory"):
        if not path:
            raise BuildError("loader root cannot be empty")
        if os.path.isfile(path):
            raise BuildError(f"'{path}': file is not directory")
        try:
            return Path(os.path.abspath(path)).resolve(strict=True)
        except OSError as error:
            raise BuildError(f"not a valid directory: {_missing(path, error)}") from error


def _missing(path: str, error: OSError) -> BuildError:
    missing = _first_missing(os.path.abspath(path))
    return BuildError(f"evalsymlink failure on '{path}' : lstat {missing}: {_reason(error)}")


def _first_missing(path: str) -> str:
    """Go tells the first part of a path that is not there."""
    current = Path("/")
    for part in Path(path).parts[1:]:
        current = current / part
        if not os.path.lexists(current):
            return str(current)
    return path


def _reason(error: OSError) -> str:
    return (error.strerror or "").lower()
