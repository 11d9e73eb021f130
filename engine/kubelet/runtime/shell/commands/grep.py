"""`grep`: lines that match, by basic, extended or fixed patterns (POSIX grep; messages of busybox and GNU grep)."""

from __future__ import annotations

import re
from collections.abc import Callable

from engine.kubelet.runtime.shell.commands.call import Call, Command, read_file
from engine.kubelet.runtime.shell.commands.fields import options_of
from engine.kubelet.runtime.shell.commands.regex import compiled
from engine.kubelet.runtime.shell.commands.tree import is_directory

Search = Callable[[str], re.Match[str] | None]


def _grep(call: Call) -> int:
    options, operands = options_of(call, "em")
    if call.argv[0].endswith("fgrep"):
        options["F"] = ""
    if "e" not in options and not operands:
        return call.fail("missing pattern", 2)
    pattern = options["e"] if "e" in options else operands.pop(0)
    try:
        search = _searching(pattern, options, extended=call.argv[0].endswith("egrep"))
    except ValueError:
        return call.fail("bad regex", 2)
    status, found = 0, False
    texts = _texts(call, operands, recursive=bool({"r", "R"} & set(options)))
    titled = "H" in options or (len(texts) > 1 and "h" not in options) or bool({"r", "R"} & set(options))
    for name, text in texts:
        if text is None:
            status = call.fail(f"{name}: No such file or directory", 2)
        elif _hits(call, options, search, text, f"{name}:" if titled and "h" not in options else "", name):
            found = True
    return 0 if found and ("q" in options or not status) else status or 1


def _searching(pattern: str, options: dict[str, str], *, extended: bool) -> Search:
    spelled = [re.escape(each) if "F" in options else each for each in pattern.split("\n")]
    extended = extended or "E" in options or "F" in options
    found = [compiled(each, extended=extended, ignore_case="i" in options).pattern for each in spelled]
    joined = "|".join(f"(?:{each})" for each in found)
    if "w" in options:
        joined = rf"(?<!\w)(?:{joined})(?!\w)"
    if "x" in options:
        joined = f"^(?:{joined})$"
    return re.compile(joined, re.IGNORECASE if "i" in options else 0).search


def _texts(call: Call, names: list[str], *, recursive: bool) -> list[tuple[str, str | None]]:
    """What to read, by the name that is shown; the standard input where nothing is named."""
    if not names and not recursive:
        return [("(standard input)", call.io.stdin or "")]
    found: list[tuple[str, str | None]] = []
    for name in names or ["."]:
        path = call.path(name).rstrip("/") or "/"
        if recursive and is_directory(call.machine, path):
            files = call.machine.files
            above = files.resolved(path).rstrip("/") + "/"
            inside = sorted(file for file in files if file.startswith(above) and files.link_at(file) is None)
            found += [(f"{name.rstrip('/')}/{file[len(above) :]}", files[file]) for file in inside]
        else:
            found.append((name, read_file(call.machine, path)))
    return found


def _hits(call: Call, options: dict[str, str], search: Search, text: str, title: str, name: str) -> bool:
    """Print what matches in one text; whether anything did."""
    most = int(options["m"]) if options.get("m", "").isdigit() else None
    numbered = [
        (at, line) for at, line in enumerate(text.splitlines(), start=1) if bool(search(line)) != ("v" in options)
    ]
    numbered = numbered[:most]
    out = call.io.stdout
    if "q" in options:
        pass
    elif "l" in options:
        out(f"{name}\n" if numbered else "")
    elif "c" in options:
        out(f"{title}{len(numbered)}\n")
    else:
        for at, line in numbered:
            start = f"{title}{at}:" if "n" in options else title
            shown = _parts(search, line) if "o" in options and "v" not in options else [line]
            out("".join(f"{start}{part}\n" for part in shown))
    return bool(numbered)


def _parts(search: Search, line: str) -> list[str]:
    """`-o`: the parts that match, one after another."""
    parts = []
    while line and (match := search(line)) is not None:
        if match[0]:
            parts.append(match[0])
        line = line[max(match.end(), 1) :]
    return parts


COMMANDS: dict[str, Command] = {"grep": _grep, "egrep": _grep, "fgrep": _grep}
