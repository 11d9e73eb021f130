"""Commands that print."""

from __future__ import annotations

import re

from engine.kubelet.runtime.shell.commands.call import Call, Command


def _echo(call: Call) -> int:
    words, newline, escapes = call.argv[1:], True, False
    while words and re.fullmatch(r"-[neE]+", words[0]):
        newline = newline and "n" not in words[0]
        escapes = escapes or "e" in words[0]
        words = words[1:]
    text = " ".join(words)
    call.io.stdout((_unescape(text) if escapes else text) + ("\n" if newline else ""))
    return 0


_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b"}


_OF_ECHO, _OF_PRINTF = rb"0[0-7]{0,3}", rb"[0-7]{1,3}"  # a byte in octal digits


def _unescape(text: str, octal: bytes = _OF_ECHO) -> str:
    """Escapes may make bytes that are no text: as such they are kept."""

    def one(match: re.Match[bytes]) -> bytes:
        letter, hexadecimal, digits = match.groups()
        if letter:
            return _ESCAPES[letter.decode()].encode()
        return bytes([int(hexadecimal, 16) if hexadecimal else int(digits, 8) & 0xFF])

    pattern = rb"\\(?:([ntr\\abfve])|x([0-9a-fA-F]{1,2})|(" + octal + rb"))"
    return re.sub(pattern, one, text.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")


def _printf(call: Call) -> int:
    if len(call.argv) < 2:
        return call.fail("usage: printf FORMAT [ARG]...", 1)
    form, values = _unescape(call.argv[1], _OF_PRINTF), call.argv[2:]
    slots = len(re.findall(r"%[-+ 0#]*\d*(?:\.\d+)?[sdiufxc]", form))
    pieces: list[str] = []
    while True:
        batch, values = values[:slots], values[slots:]
        pieces.append(_format(form, batch))
        if not values or not slots:
            break
    call.io.stdout("".join(pieces))
    return 0


def _format(form: str, values: list[str]) -> str:
    queue = list(values)

    def one(match: re.Match[str]) -> str:
        if match[0] == "%%":
            return "%"
        value = queue.pop(0) if queue else ""
        kind = match[0][-1]
        if kind in "diux":
            return match[0].replace("u", "d") % int(value or 0)
        if kind == "f":
            return match[0] % float(value or 0)
        return match[0] % (value[:1] if kind == "c" else value)

    return re.sub(r"%%|%[-+ 0#]*\d*(?:\.\d+)?[sdiufxc]", one, form)


def _seq(call: Call) -> int:
    numbers = [int(argument) for argument in call.argv[1:] if re.fullmatch(r"-?\d+", argument)]
    if not numbers:
        return call.fail("missing operand")
    first, step, last = (1, 1, numbers[0]) if len(numbers) == 1 else (numbers[0], 1, numbers[-1])
    if len(numbers) == 3:
        step = numbers[1]
    values = range(first, last + (1 if step > 0 else -1), step or 1)[:100_000]
    call.io.stdout("".join(f"{value}\n" for value in values))
    return 0


COMMANDS: dict[str, Command] = {"echo": _echo, "printf": _printf, "seq": _seq}
