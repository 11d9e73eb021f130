"""redis-cli: what a simulated Redis answers about itself. Its data are not simulated, and it says so.

Its configuration is what the server was started with: a file, and options behind it (redis.conf, `CONFIG GET`).
"""

from __future__ import annotations

import re
import shlex
from fnmatch import fnmatchcase
from getopt import GetoptError, getopt
from typing import NamedTuple

from engine.kubelet.runtime.shell.process import FOREVER, Io, Machine, Process
from engine.kubelet.runtime.shell.processes import SIGNALS
from engine.kubelet.runtime.shell.reach import listens
from engine.kubelet.runtime.versions import version_of

NOT_SIMULATED = "ktui simulates no data of this server"
_UNITS = {"": 1, "b": 1, "k": 1000, "kb": 1 << 10, "m": 10**6, "mb": 1 << 20, "g": 10**9, "gb": 1 << 30}
_MEMORY = ("maxmemory", "client-output-buffer-limit", "repl-backlog-size", "auto-aof-rewrite-min-size")
# What a server without a configuration says of the parameters that people ask for.
_DEFAULTS = {
    "appendonly": "no",
    "bind": "* -::*",
    "databases": "16",
    "dbfilename": "dump.rdb",
    "dir": "/data",
    "maxclients": "10000",
    "maxmemory": "0",
    "maxmemory-policy": "noeviction",
    "port": "6379",
    "requirepass": "",
    "save": "3600 1 300 100 60 10000",
    "tcp-keepalive": "300",
    "timeout": "0",
}


class Reply(NamedTuple):
    """`text` is one word, a list of words or, where `error`, what was wrong; `plain` is a word that is never quoted."""

    text: str | list[str]
    error: bool = False
    plain: bool = False


def cli(machine: Machine, words: list[str], io: Io) -> int | Process:
    """One command, or those that come from the standard input, one a line."""
    if words[:1] in (["--version"], ["-v"]):
        io.stdout(f"redis-cli {version_of('redis', machine.image)}\n")
        return 0
    try:
        options, command = getopt(words, "h:p:a:n:u:r:i:x", ["no-auth-warning", "raw", "tls"])
    except GetoptError as error:
        io.stderr(f"Unrecognized option or bad number of args for: '-{error.opt}'\n")
        return 1
    given = dict(options)
    host, port = given.get("-h", "127.0.0.1"), given.get("-p", "6379")
    if not port.isdigit() or not listens(machine, host, int(port)):
        io.stderr(f"Could not connect to Redis at {host}:{port}: Connection refused\n")
        return 1
    if command:
        return _run(machine, command, io)
    if io.input is None:
        for line in (io.stdin or "").splitlines():
            _run(machine, _split(line), io)
        return 0
    return _converse(machine, io, f"{host}:{port}> ")


def _converse(machine: Machine, io: Io, prompt: str) -> Process:
    source = io.input
    assert source is not None
    while True:
        if io.tty:
            io.stdout(prompt)
        while (line := source.take_line()) is None:
            if source.ended():
                return 0
            signal = yield FOREVER
            if signal is not None:
                return 128 + SIGNALS.get(signal, 15)
        words = _split(line)
        if words[:1] and words[0].lower() in ("exit", "quit"):
            return 0
        _run(machine, words, io)


def _split(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()


def _run(machine: Machine, command: list[str], io: Io) -> int:
    if not command:
        return 0
    reply = _reply(machine, command)
    io.stdout(_shown(reply, tty=io.tty))
    return int(reply.error)


def _reply(machine: Machine, command: list[str]) -> Reply:
    asked, words = command[0].upper(), command[1:]
    if asked == "PING":
        return Reply(words[0]) if words else Reply("PONG", plain=True)
    if asked == "ECHO" and len(words) == 1:
        return Reply(words[0])
    if asked in ("DBSIZE", "SELECT"):
        return Reply("(integer) 0" if asked == "DBSIZE" else "OK", plain=True)
    if asked == "CONFIG" and len(words) > 1 and words[0].upper() == "GET":
        known = machine.configuration or _DEFAULTS
        found = [name for name in known if any(fnmatchcase(name, word.lower()) for word in words[1:])]
        return Reply([word for name in found for word in (name, known[name])])
    return Reply(f"ERR {NOT_SIMULATED}: '{command[0]}'", error=True)


def _shown(reply: Reply, *, tty: bool) -> str:
    """To a person with marks of what it is, to a program without."""
    text = reply.text
    if reply.error:
        return f"(error) {text}\n" if tty else f"{text}\n\n"
    if isinstance(text, list):
        if not tty:
            return "".join(f"{word}\n" for word in text) or "\n"
        return "".join(f'{number}) "{word}"\n' for number, word in enumerate(text, 1)) or "(empty array)\n"
    if tty:
        return f"{text}\n" if reply.plain else f'"{text}"\n'
    return f"{text.removeprefix('(integer) ')}\n"


def configure(machine: Machine, words: list[str]) -> None:
    """A server starts: what its command line says counts more than its file, that more than what is usual. A file that
    changes later means nothing to it."""
    known, rest = dict(_DEFAULTS), list(words)
    if rest and not rest[0].startswith("-"):
        _read(known, machine.files.get(rest.pop(0), "").splitlines())
    _read(known, re.split(r"(?:^|\s)--", " ".join(rest)))
    machine.configuration = known


def _read(known: dict[str, str], lines: list[str]) -> None:
    for line in lines:
        name, _, value = line.strip().partition(" ")
        if name and not name.startswith("#"):
            words = _split(value)
            name = name.lower()
            known[name] = " ".join(_bytes(word) if name in _MEMORY else word for word in words)


def _bytes(word: str) -> str:
    match = re.fullmatch(r"(\d+)([a-z]*)", word.lower())
    return str(int(match[1]) * _UNITS[match[2]]) if match and match[2] in _UNITS else word
