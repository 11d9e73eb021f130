"""`test` and its other spelling, `[`."""

from __future__ import annotations

from engine.kubelet.runtime.shell.commands.call import Call, Command, read_file
from engine.kubelet.runtime.shell.commands.tree import is_directory


def _test(call: Call) -> int:
    arguments = call.argv[1:]
    if call.argv[0] in ("[", "[["):
        if not arguments or arguments[-1] not in ("]", "]]"):
            return call.fail("missing ]", 2)
        arguments = arguments[:-1]
    try:
        return int(not _true(call, arguments))
    except ValueError as error:
        return call.fail(str(error), 2)


def _true(call: Call, words: list[str]) -> bool:
    for operator, join in (("-o", any), ("||", any), ("-a", all), ("&&", all)):
        if operator in words[1:]:
            at = words.index(operator, 1)
            return join([_true(call, words[:at]), _true(call, words[at + 1 :])])
    if words[:1] == ["!"]:
        return not _true(call, words[1:])
    if len(words) == 3:
        return _compare(*words)
    if len(words) == 2:
        return _unary(call, *words)
    if len(words) > 3:
        raise ValueError(f"{words[1]}: unknown operand")
    return bool(words and words[0])


def _compare(left: str, operator: str, right: str) -> bool:
    if operator in ("=", "=="):
        return left == right
    if operator == "!=":
        return left != right
    try:
        a, b = int(left), int(right)
    except ValueError:
        raise ValueError(f"{left}: bad number") from None
    tests = {"-eq": a == b, "-ne": a != b, "-lt": a < b, "-le": a <= b, "-gt": a > b, "-ge": a >= b}
    if operator not in tests:
        raise ValueError(f"{operator}: unknown operand")
    return tests[operator]


def _unary(call: Call, operator: str, value: str) -> bool:
    path = call.path(value).rstrip("/") or "/"
    text = read_file(call.machine, path)
    directory = is_directory(call.machine, path)
    files = call.machine.files
    link = operator in ("-h", "-L") and files.link_at(files.resolved(path, last=False)) is not None
    tests = {
        "-n": bool(value),
        "-z": not value,
        "-e": text is not None or directory,
        "-f": text is not None,
        "-r": text is not None or directory,
        "-w": text is not None or directory,
        "-x": text is not None or directory,
        "-d": directory,
        "-h": link,
        "-L": link,
        "-s": bool(text),
    }
    if operator not in tests:
        raise ValueError(f"{operator}: unknown operand")
    return tests[operator]


COMMANDS: dict[str, Command] = {"test": _test, "[": _test, "[[": _test}
