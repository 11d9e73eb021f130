"""Commands that show bytes: hexdump (util-linux, busybox) and od (POSIX)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from engine.kubelet.runtime.shell.commands.call import Call, Command, read_file

_ROW = 16
_ADDRESSES = {"o": "{:07o}", "x": "{:06x}", "d": "{:07d}", "n": ""}
_WORDS = {"x1": (1, "02x"), "o1": (1, "03o"), "u1": (1, "3d"), "x2": (2, "04x"), "o2": (2, "06o"), "u2": (2, "5d")}


def _hexdump(call: Call) -> int:
    data = _read(call, call.operands)
    if data is None:
        return 1
    if not data:
        return 0
    if call.flag("C"):
        _dump(call, data, lambda at: f"{at:08x}", _canonical, every=call.flag("v"))
    else:
        _dump(call, data, lambda at: f"{at:07x}", lambda row: f" {_words(row, 2, '04x'):<39}", every=call.flag("v"))
    return 0


def _canonical(row: bytes) -> str:
    halves = (" ".join(f"{byte:02x}" for byte in half) for half in (row[:8], row[8:]))
    left, right = (f"{half:<23}" for half in halves)
    shown = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in row)
    return f"  {left}  {right}  |{shown}|"


def _od(call: Call) -> int:
    given, operands, every = {"A": "o", "t": "o2"}, list[str](), False
    waiting = call.argv[1:]
    while waiting:
        word = waiting.pop(0)
        if word[:2] in ("-A", "-t"):
            given[word[1]] = word[2:] or (waiting.pop(0) if waiting else "")
        elif word.startswith("-v"):
            every = True
        else:
            operands.append(word)
    address, words = _ADDRESSES.get(given["A"]), _WORDS.get(given["t"])
    if address is None or words is None:
        return call.fail(f"invalid option -- '{'A' if address is None else 't'}'")
    data = _read(call, operands)
    if data is None:
        return 1
    width, form = words
    _dump(call, data, address.format, lambda row: f" {_words(row, width, form)}", every=every)
    return 0


def _words(row: bytes, width: int, form: str) -> str:
    numbers = (int.from_bytes(row[at : at + width], "little") for at in range(0, len(row), width))
    return " ".join(f"{number:{form}}" for number in numbers)


def _dump(
    call: Call, data: bytes, address: Callable[[int], str], shown: Callable[[bytes], str], *, every: bool
) -> None:
    """Rows that say the same again are one star; the end says how much there was."""
    for at, row in _rows(data, every=every):
        call.io.stdout("*\n" if row is None else f"{address(at)}{shown(row)}\n")
    if end := address(len(data)):
        call.io.stdout(f"{end}\n")


def _rows(data: bytes, *, every: bool) -> Iterator[tuple[int, bytes | None]]:
    last, starred = b"", False
    for at in range(0, len(data), _ROW):
        row = data[at : at + _ROW]
        if row != last or every:
            yield at, row
            last, starred = row, False
        elif not starred:
            yield at, None
            starred = True


def _read(call: Call, names: list[str]) -> bytes | None:
    """All files one after the other; the standard input where none is named. None where one is not there."""
    texts = [] if names else [call.io.stdin or ""]
    for name in names:
        text = read_file(call.machine, call.path(name))
        if text is None:
            call.fail(f"{name}: No such file or directory")
            return None
        texts.append(text)
    return "".join(texts).encode("utf-8", "surrogateescape")


COMMANDS: dict[str, Command] = {"hexdump": _hexdump, "od": _od}
