"""Where in a YAML file its entries stand, so that what is wrong is named with its line."""

from __future__ import annotations

from collections.abc import Iterator

import yaml

Path = tuple[str, ...]  # the keys that lead to an entry


def lines_of(text: str) -> dict[Path, int]:
    """The line of every key of the mappings in a text that is YAML, the first being 1."""
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    return dict(_walk(root, ())) if root is not None else {}


def _walk(node: yaml.Node, path: Path) -> Iterator[tuple[Path, int]]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            here = (*path, str(key.value))
            yield here, key.start_mark.line + 1
            yield from _walk(value, here)


def yaml_problem(error: yaml.YAMLError) -> tuple[int, str]:
    """The line where reading stopped, 0 where it is not told, and why, in a few words."""
    mark = getattr(error, "problem_mark", None)
    words = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
    return (mark.line + 1 if mark is not None else 0), str(words)


def place(file: object, line: int) -> str:
    return f"{file}:{line}" if line else str(file)
