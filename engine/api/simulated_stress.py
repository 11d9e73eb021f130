"""What `stress`, with which the tasks on kubernetes.io load a container, takes of CPU and memory: it does nothing else,
so its command line says all of it. (`stress --vm 1 --vm-bytes 150M` of Amos Waterland's; `-cpus 2 -mem-total 1Gi` of
the image vish/stress.)
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from engine.api.quantity import Format, Quantity, QuantityError
from engine.api.types import Object

PROGRAMS = ("stress", "stress-ng")
_UNITS = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
# One name for each option, of which there are two.
_NAMES = {"-m": "--vm", "-c": "--cpu", "-cpus": "--cpu", "--cpus": "--cpu", "-mem-total": "--mem-total"}


def is_stress(container: Object) -> bool:
    """Whether the container runs it, by its command or as what its image is for."""
    command = container.get("command")
    name = command[0] if command else str(container.get("image", "")).partition("@")[0]
    return name.rpartition("/")[2].partition(":")[0] in PROGRAMS


def demand(container: Object, cpu_limit: Quantity | None) -> dict[str, Quantity]:
    """What a container that runs it takes, by resource; no more CPU than it may have. Empty for any other."""
    if not is_stress(container):
        return {}
    words = [*(container.get("command") or [])[1:], *(container.get("args") or [])]
    found, asked = {}, _options(words)
    if memory := memory_of(words):
        found["memory"] = Quantity.of(memory, Format.BINARY_SI)
    cores = _number(asked.get("--cpu")) + (0 if "--vm-hang" in asked else _number(asked.get("--vm")))
    if cores:
        most = cpu_limit.milli if cpu_limit is not None else cores * 1000
        found["cpu"] = Quantity.of_milli(min(cores * 1000, most))
    return found


def memory_of(words: Sequence[str]) -> int:
    """In bytes."""
    asked = _options(words)
    if "--mem-total" in asked:
        try:
            return Quantity.parse(asked["--mem-total"]).value
        except QuantityError:
            return 0
    match = re.fullmatch(r"(\d+)([bkmg]?)", asked.get("--vm-bytes", "256M").lower())
    return 0 if match is None else _number(asked.get("--vm")) * int(match[1]) * _UNITS[match[2]]


def _options(words: Sequence[str]) -> dict[str, str]:
    """The value of each option, which stands behind it."""
    found = {}
    for number, word in enumerate(words):
        name, inline, value = word.partition("=")
        if name.startswith("-"):
            found[_NAMES.get(name, name)] = value if inline else "".join(words[number + 1 : number + 2])
    return found


def _number(text: str | None) -> int:
    return int(text) if text is not None and text.isdigit() else 0
