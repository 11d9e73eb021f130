"""`-o custom-columns=NAME:.metadata.name,...`: a table whose columns are paths.

Source of the behaviour: kubectl pkg/cmd/get/customcolumn.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from engine.api.jsonpath.evaluation import go_value
from engine.api.types import Object
from engine.kubectl.errors import CommandError
from engine.kubectl.printers.jsonpath import JsonPath, relaxed
from engine.kubectl.printers.tabwriter import ColumnWriter

FORMAT = "expected <header>:<json-path-expr>"


class CustomColumns:
    def __init__(self, columns: list[tuple[str, str]], *, headers: bool = True) -> None:
        self._columns = columns
        self._headers = headers
        self._writer = ColumnWriter()

    @classmethod
    def parse(cls, spec: str, *, headers: bool = True) -> CustomColumns:
        """Read `HEADER:path,HEADER:path`. Raises CommandError."""
        if not spec:
            raise CommandError("custom-columns format specified but no custom columns given")
        columns = []
        for part in spec.split(","):
            header, colon, path = part.partition(":")
            if not colon or (":" in path and path.count(":") > 1):
                raise CommandError(f"unexpected custom-columns spec: {part}, {FORMAT}")
            columns.append((header, relaxed(path)))
        return cls(columns, headers=headers)

    @classmethod
    def from_file(cls, name: str) -> CustomColumns:
        """Read a file with a line of headers, always shown, above a line of paths. Raises CommandError."""
        try:
            lines = Path(name).read_text().splitlines()
        except OSError as error:
            raise CommandError(
                f"error reading template {name}, open {name}: {(error.strerror or '').lower()}"
            ) from error
        if len(lines) < 2:
            missing = "header" if not lines else "spec"
            raise CommandError(
                f"invalid template, missing {missing} line. Expected format is one line of space separated headers, "
                "one line of space separated column specs."
            )
        names, paths = lines[0].split(), lines[1].split()
        if len(names) != len(paths):
            raise CommandError(f"number of headers ({len(names)}) and field specifications ({len(paths)}) don't match")
        columns = [(name, relaxed(path)) for name, path in zip(names, paths, strict=True)]
        return cls(columns)

    def lines(self, objects: Iterable[Object]) -> Iterator[str]:
        """The table's lines, headers first; where a path cannot be followed, those above come before the failure."""
        rows = [[header for header, _ in self._columns]] if self._headers else []
        self._headers = False
        try:
            paths = [JsonPath(template) for _, template in self._columns]
            rows.extend([self._cell(path, obj) for path in paths] for obj in objects)
        except CommandError:
            yield from self._writer.lines(rows)
            raise
        yield from self._writer.lines(rows)

    @staticmethod
    def _cell(path: JsonPath, obj: Object) -> str:
        found = [value for values in path.find(obj) for value in values]
        if not found:
            return "<none>"
        return ",".join(go_value(value) for value in found)
