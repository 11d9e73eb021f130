"""Where the themes and samples are: inside the installed package, or beside it in a checkout."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parent


def asset_folder(name: str) -> Path:
    """The folder `themes` or `samples`. Raises FileNotFoundError if the installation lacks it."""
    for folder in (_PACKAGE / name, _PACKAGE.parent / name):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(f"this installation of ktui has no {name} folder beside {_PACKAGE}")
