"""Digests of files: `md5sum`, `sha1sum`, `sha256sum` and `sha512sum`, made and, with -c, compared.

After busybox coreutils/md5_sha1_sum.c and GNU's md5sum.c.
"""

from __future__ import annotations

import hashlib

from engine.kubelet.runtime.shell.commands.call import Call, Command, read_file


def _digest(call: Call) -> int:
    if call.flag("c") or "--check" in call.argv:
        return _check(call)
    status = 0
    for name in call.operands or ["-"]:
        digest = _digest_of(call, name)
        if digest is None:
            status = _unreadable(call, name)
        else:
            call.io.stdout(f"{digest}  {name}\n")
    return status


def _check(call: Call) -> int:
    """Lines of a digest, two spaces and a name; what differs is told of, and counted."""
    status, seen, differing = 0, 0, 0
    for listed in call.operands or ["-"]:
        text = call.io.stdin or "" if listed == "-" else read_file(call.machine, call.path(listed))
        if text is None:
            status = _unreadable(call, listed)
            continue
        for line in text.splitlines():
            wanted, _, name = line.partition(" ")
            digest = _digest_of(call, name[1:])
            seen += 1
            if digest is None:
                status = _unreadable(call, name[1:])
            differing += digest != wanted.lower()
            if digest is not None or call.machine.busybox:
                _tell(call, name[1:], same=digest == wanted.lower())
    if not differing:
        return status
    busybox = f"{differing} of {seen} computed checksums did NOT match"
    gnu = f"{differing} computed checksum{'s' if differing > 1 else ''} did NOT match"
    return call.fail(f"WARNING: {busybox if call.machine.busybox else gnu}")


def _tell(call: Call, name: str, *, same: bool) -> None:
    if not call.flag("s") and "--status" not in call.argv:
        call.io.stdout(f"{name}: {'OK' if same else 'FAILED'}\n")


def _digest_of(call: Call, name: str) -> str | None:
    text = call.io.stdin or "" if name == "-" else read_file(call.machine, call.path(name))
    if text is None:
        return None
    kind = call.argv[0].rpartition("/")[2].removesuffix("sum")
    return hashlib.new(kind, text.encode("utf-8", "surrogateescape"), usedforsecurity=False).hexdigest()


def _unreadable(call: Call, name: str) -> int:
    shown = f"can't open '{name}'" if call.machine.busybox else name
    return call.fail(f"{shown}: No such file or directory")


COMMANDS: dict[str, Command] = dict.fromkeys(("md5sum", "sha1sum", "sha256sum", "sha512sum"), _digest)
