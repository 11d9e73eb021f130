"""Commands on lines of text."""

from __future__ import annotations

from engine.kubelet.runtime.shell.commands.call import Call, Command, read_file


def _wc(call: Call) -> int:
    text = read_file(call.machine, call.path(call.operands[0])) if call.operands else call.io.stdin or ""
    if text is None:
        return call.fail(f"{call.operands[0]}: No such file or directory")
    counts = [text.count("\n"), len(text.split()), len(text.encode("utf-8", "surrogateescape"))]
    letters = [letter for letter in "lwc" if call.flag(letter)] or list("lwc")
    call.io.stdout(" ".join(str(counts["lwc".index(letter)]) for letter in letters) + "\n")
    return 0


def _sort(call: Call) -> int:
    lines = (call.io.stdin or "").splitlines()
    unique = list(dict.fromkeys(lines)) if call.flag("u") else lines
    call.io.stdout("".join(f"{line}\n" for line in sorted(unique, reverse=call.flag("r"))))
    return 0


def _rev(call: Call) -> int:
    texts = [read_file(call.machine, call.path(name)) for name in call.operands] or [call.io.stdin or ""]
    for name, text in zip(call.operands or ["-"], texts, strict=True):
        if text is None:
            return call.fail(f"can't open '{name}': No such file or directory" if call.machine.busybox
                             else f"cannot open {name}: No such file or directory")  # fmt: skip
        call.io.stdout("".join(f"{line[::-1]}\n" for line in text.splitlines()))
    return 0


COMMANDS: dict[str, Command] = {
    "wc": _wc,
    "rev": _rev,
    "sort": _sort,
}
