"""Which files a name stands for: links and patterns, as the real kubectl takes them (cli-runtime builder_test.go)."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.kubectl.errors import CommandError
from engine.kubectl.manifests import documents, sources


def _read(name: Path, *, recursive: bool = False) -> list[str]:
    found = sources([str(name)], recursive=recursive, stdin=str)
    return [document.value["name"] for source in found for document in documents(source)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("one", "two", "sub/three", "odd[x]"):
        file = tmp_path / "rc" / f"{name}.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f'name: "{name}"\n')
    (tmp_path / "file").symlink_to(tmp_path / "rc" / "one.yaml")
    (tmp_path / "folder").symlink_to(tmp_path / "rc")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    return tmp_path


def test_names(folder: Path) -> None:
    assert _read(folder / "rc") == ["odd[x]", "one", "two"]
    assert _read(folder / "rc", recursive=True) == ["odd[x]", "one", "sub/three", "two"]
    assert _read(folder / "rc" / "o*.yaml") == ["odd[x]", "one"]
    assert _read(folder / "rc" / "odd[x].yaml") == ["odd[x]"]
    assert _read(folder / "file") == ["one"]


REFUSED = {
    "folder": "error parsing FOLDER/folder: read FOLDER/folder: is a directory",
    "loop": 'the path "FOLDER/loop" cannot be accessed: stat FOLDER/loop: too many levels of symbolic links',
    "[a-z*": 'pattern "FOLDER/[a-z*" is not valid: syntax error in pattern',
    "[]x]": 'pattern "FOLDER/[]x]" is not valid: syntax error in pattern',
    "[^z]*/nope": 'the path "FOLDER/[^z]*/nope" does not exist',
    "nope": 'the path "FOLDER/nope" does not exist',
}


@pytest.mark.parametrize("name", REFUSED)
def test_names_that_stand_for_nothing(folder: Path, name: str) -> None:
    with pytest.raises(CommandError) as raised:
        _read(folder / name, recursive=True)
    assert str(raised.value) == REFUSED[name].replace("FOLDER", str(folder))
