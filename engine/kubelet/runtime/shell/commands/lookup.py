"""Commands that look something up: `which`, `getent`, `stat` and `df`."""

from __future__ import annotations

from typing import NamedTuple

from engine.disks import MEMORY
from engine.kubelet.runtime.shell.commands.call import Call, Command
from engine.kubelet.runtime.shell.commands.fields import options_of
from engine.kubelet.runtime.shell.commands.http import addresses_of
from engine.kubelet.runtime.shell.commands.listing import human
from engine.kubelet.runtime.shell.commands.tree import Entry, look_at

_DISK = 100 * 1024 * 1024  # in KiB, as the Node's ephemeral storage
_SHM = 64 * 1024


def _getent(call: Call) -> int:
    if len(call.operands) < 1:
        return call.fail("wrong number of arguments", 1)
    database, *keys = call.operands
    if database in ("hosts", "ahosts"):
        return max((_host(call, key, every=database == "ahosts") for key in keys), default=0)
    text = call.machine.files.get(f"/etc/{database}")
    if text is None:
        call.io.stderr(f"Unknown database: {database}\n")
        return 1
    lines = [line for line in text.splitlines() if not keys or set(keys) & {line.split(":")[0], line.split(":")[2]}]
    call.io.stdout("".join(f"{line}\n" for line in lines))
    return 0 if lines else 2


def _host(call: Call, name: str, *, every: bool) -> int:
    addresses = addresses_of(call.machine, name)
    if not addresses:
        return 2
    full = call.machine.network.full_name(name)
    if every:
        for address in addresses:
            kinds = (f"STREAM {full}", "DGRAM", "RAW")
            call.io.stdout("".join(f"{address:<15} {kind}\n" for kind in kinds))
    else:
        spelled = full if full == name else f"{full}  {name}"
        call.io.stdout("".join(f"{address:<17} {spelled}\n" for address in addresses))
    return 0


def _stat(call: Call) -> int:
    options, operands = options_of(call, "cf", clustered=True)
    status = 0
    for name in operands:
        entry = look_at(call.machine, call.path(name), follow="L" in options)
        if entry is None:
            missing = f"can't stat '{name}'" if call.machine.busybox else f"cannot statx '{name}'"
            status = call.fail(f"{missing}: No such file or directory")
            continue
        form = options.get("c")
        call.io.stdout(_described(call, entry, name) if form is None else f"{_formatted(form, entry, name)}\n")
    return status


def _formatted(form: str, entry: Entry, name: str) -> str:
    facts = {
        "n": name,
        "N": f"'{name}' -> '{entry.target}'" if entry.target else f"'{name}'",
        "s": str(entry.size),
        "a": f"{entry.mode:o}",
        "A": entry.permissions,
        "F": _kind(entry),
        "U": entry.owner,
        "G": entry.group,
        "u": str(entry.uid),
        "g": str(entry.gid),
        "h": str(entry.links),
        "b": str(entry.kilobytes * 2),
        "B": "512",
        "Y": str(int(entry.modified.timestamp())),
        "y": f"{entry.modified:%Y-%m-%d %H:%M:%S}.{entry.modified.microsecond:06d}000 +0000",
        "%": "%",
    }
    pieces = form.split("%")
    text, at = pieces[0], 1
    while at < len(pieces):
        piece = pieces[at] or "%"
        text += facts.get(piece[0], f"%{piece[0]}") + piece[1:]
        if not pieces[at] and at + 1 < len(pieces):  # `%%`, and what stands behind it
            at += 1
            text += pieces[at]
        at += 1
    return text


def _kind(entry: Entry) -> str:
    if entry.target:
        return "symbolic link"
    return "directory" if entry.directory else "regular file" if entry.size else "regular empty file"


def _described(call: Call, entry: Entry, name: str) -> str:
    if entry.target:
        name = f"'{name}' -> '{entry.target}'" if call.machine.busybox else f"{name} -> {entry.target}"
    moment = _formatted("%y", entry, name)
    return (
        f"  File: {name}\n"
        f"  Size: {entry.size:<10}\tBlocks: {entry.kilobytes * 2:<10} IO Block: 4096   {_kind(entry)}\n"
        f"Device: 0,50\tInode: {sum(map(ord, entry.path)):<11} Links: {entry.links}\n"
        f"Access: ({entry.mode:04o}/{entry.permissions})  "
        f"Uid: ({entry.uid:>5}/{entry.owner:>8})   Gid: ({entry.gid:>5}/{entry.group:>8})\n"
        f"Access: {moment}\nModify: {moment}\nChange: {moment}\n"
    )


class _Mounted(NamedTuple):
    """A line of `df`, in KiB."""

    name: str
    total: int
    used: int
    path: str

    @property
    def share(self) -> str:
        return f"{-(-self.used * 100 // self.total)}%"


def _df(call: Call) -> int:
    rows, readable, busybox = _mounted(call), call.flag("h"), call.machine.busybox
    if operands := call.operands:
        wanted = {_mount_of(call.path(name), rows) for name in operands}
        rows = [row for row in rows if row.path in wanted]
    elif not busybox:
        rows = _once(rows)
    table = [("Filesystem", "Size" if readable else "1K-blocks", "Used",
              "Avail" if readable and not busybox else "Available", "Use%", "Mounted on")]  # fmt: skip
    for row in rows:
        sizes = (row.total, row.used, row.total - row.used)
        total, used, left = (human(size * 1024, busybox=busybox) if readable else str(size) for size in sizes)
        table.append((row.name, total, used, left, row.share, row.path))
    first, *widths = (20, 9, 9, 9, 4) if busybox else _widths(table)
    for name, *cells, path in table:
        numbers = " ".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
        call.io.stdout(f"{name:<{first}} {numbers} {path}\n")
    return 0


def _widths(table: list[tuple[str, str, str, str, str, str]]) -> list[int]:
    """As wide as it must be, and no narrower than GNU's df makes it."""
    columns = zip((14, 5, 5, 5, 4), zip(*table, strict=True), strict=False)
    return [max(least, *map(len, column)) for least, column in columns]


def _mounted(call: Call) -> list[_Mounted]:
    used = sum(-(-len(text) // 4096) * 4 for text in call.machine.files.values())
    rows = [_Mounted("overlay", _DISK, used, "/"), _Mounted("tmpfs", _SHM, 0, "/dev"),
            _Mounted("shm", _SHM, 0, "/dev/shm")]  # fmt: skip
    for mounted in sorted(call.machine.files.mounts, key=lambda mounted: mounted.path):
        if mounted.volume.medium == MEMORY:
            rows.append(_Mounted("tmpfs", call.machine.memory >> 10, 0, mounted.path))
        else:
            rows.append(_Mounted("/dev/vda1", _DISK, used, mounted.path))
    return rows


def _once(rows: list[_Mounted]) -> list[_Mounted]:
    """GNU tells of a disk that is mounted more than once where its path is shortest."""
    disks = [row for row in rows if row.name.startswith("/")]
    shortest = min(disks, key=lambda row: len(row.path), default=None)
    return [row for row in rows if row not in disks or row is shortest]


def _mount_of(path: str, rows: list[_Mounted]) -> str:
    paths = (row.path for row in rows)
    return max((mount for mount in paths if path == mount or path.startswith(mount.rstrip("/") + "/")), key=len)


COMMANDS: dict[str, Command] = {"getent": _getent, "stat": _stat, "df": _df}
