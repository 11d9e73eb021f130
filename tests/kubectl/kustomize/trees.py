"""Kustomizations to build, each a text file of files: `# PATH` heads one, `# = out` and `# = err` what kubectl says.

`python -m tests.kubectl.kustomize.trees` asks the real kubectl anew and writes what it says into the files.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.kubectl.oracle import NO_HOME, binary

CASES = Path(__file__).parent / "cases"
START = "o"  # the folder that is built, where there are several
_KLOG = re.compile(r"^([EWI]\d{4} .*?\] |\d{4}/\d\d/\d\d \d\d:\d\d:\d\d )", re.MULTILINE)


@dataclass(frozen=True)
class Tree:
    name: str
    files: Mapping[str, str]
    out: str
    err: str

    def write(self, folder: Path) -> Path:
        """Write the files; returns the folder to build."""
        for path, content in self.files.items():
            place = folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content.encode("latin-1") if "\xff" in content else content.encode())
        return folder / START if (folder / START).is_dir() else folder


def trees() -> list[Tree]:
    return [tree for file in sorted(CASES.glob("*.txt")) for tree in _read(file)]


def _read(file: Path) -> list[Tree]:
    found = []
    for part in re.split(r"^## ", file.read_text(), flags=re.MULTILINE)[1:]:
        name, _, body = part.partition("\n")
        sections = dict(_section(text) for text in re.split(r"^# ", body, flags=re.MULTILINE)[1:])
        out, err = sections.pop("= out", ""), sections.pop("= err", "")
        found.append(Tree(name.strip(), sections, out, err))
    return found


def _section(text: str) -> tuple[str, str]:
    path, _, content = text.partition("\n")
    return path.strip(), content.encode().decode("unicode_escape") if "\\x" in content else content


def normal(text: str, folder: Path) -> str:
    """Without what is of the machine and the moment; comments are no comments within a section."""
    text = _KLOG.sub("", text.replace(str(folder), "ROOT"))
    return re.sub(r"^# ", "\\# ", text, flags=re.MULTILINE)


def main() -> None:
    for file in sorted(CASES.glob("*.txt")):
        parts = re.split(r"^(?=## )", file.read_text(), flags=re.MULTILINE)
        written = [parts[0]]
        for part, tree in zip(parts[1:], _read(file), strict=True):
            with tempfile.TemporaryDirectory() as folder:
                root = Path(folder)
                run = subprocess.run(
                    [binary(), "kustomize", str(tree.write(root))],
                    capture_output=True,
                    text=True,
                    check=False,
                    env={"HOME": NO_HOME, "PATH": "/usr/bin:/bin"},
                )
                said = [
                    f"# = {name}\n{normal(text, root)}"
                    for name, text in (("out", run.stdout), ("err", run.stderr))
                    if text
                ]
            source = re.split(r"^# = ", part, flags=re.MULTILINE)[0]
            written.append(source + "".join(said))
        file.write_text("".join(written))


if __name__ == "__main__":
    main()
