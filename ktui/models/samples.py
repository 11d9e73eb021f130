"""The samples that objects are created from: manifests whose first line is a comment that says what one will see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

FIRST = "web"
HERE = "samples/"
NAME_WIDTH = 22


@dataclass(frozen=True, slots=True)
class Sample:
    path: Path
    about: str

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def line(self) -> str:
        """As one of a list."""
        return f"{self.name:<{NAME_WIDTH}}{self.about}"


def samples_in(folder: Path) -> list[Sample]:
    """Those of objects, not scenarios or ktui's own configuration: the first to try at the head, broken ones last."""
    found = [Sample(path, _about(path)) for path in folder.glob("*.yaml") if _is_manifest(path)]
    return sorted(found, key=lambda sample: (sample.name != FIRST, sample.name.startswith("broken"), sample.name))


def with_samples(argv: Sequence[str], folder: Path) -> tuple[str, ...]:
    """Words after `:` in which `samples/web.yaml` is the one of `folder`, where there is none in this one.

    What the screen advises to type works wherever it was started.
    """
    return tuple(_found(word, folder) for word in argv)


def _found(word: str, folder: Path) -> str:
    flag, equals, path = word.rpartition("=")
    kept = folder / path.removeprefix(HERE)
    is_missing = path.startswith(HERE) and not Path(path).exists() and kept.exists()
    return f"{flag}{equals}{kept}" if is_missing else word


def _about(path: Path) -> str:
    first = path.read_text(errors="replace").partition("\n")[0]
    return first.removeprefix("#").strip() if first.startswith("#") else ""


def _is_manifest(path: Path) -> bool:
    text = path.read_text(errors="replace")
    return "apiVersion:" in text and "kind:" in text
