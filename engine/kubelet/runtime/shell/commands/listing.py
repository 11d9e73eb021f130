"""`ls`: names one to a line, or long as busybox (coreutils/ls.c) and GNU coreutils print them."""

from __future__ import annotations

from datetime import datetime, timedelta

from engine.kubelet.runtime.shell.commands.call import Call, Command
from engine.kubelet.runtime.shell.commands.fields import options_of
from engine.kubelet.runtime.shell.commands.tree import Entry, join, look_at, names_in

Named = tuple[str, Entry]
_UNITS = ("", "K", "M", "G", "T")
_HALF_A_YEAR = timedelta(days=183)


def _ls(call: Call) -> int:
    options, operands = options_of(call, "")
    operands = [name for name in operands if name != "-1"]  # one in a line, as it always is
    letters = set(options)
    status, files, folders = 0, [], []
    for name in operands or ["."]:
        entry = look_at(call.machine, call.path(name), follow="L" in letters or not letters & {"d", "l", "n", "F"})
        if entry is None:
            missing = name if call.machine.busybox else f"cannot access '{name}'"
            status = call.fail(f"{missing}: No such file or directory", 1 if call.machine.busybox else 2)
        elif entry.directory and "d" not in letters:
            folders.append((name, entry))
        else:
            files.append((name, entry))
    _print(call, _sorted(files, letters), letters)
    for number, (name, entry) in enumerate(sorted(folders)):
        if number or files:
            call.io.stdout("\n")
        _directory(call, (name, entry), letters, titled=len(operands) > 1 or "R" in letters)
    return status


def _directory(call: Call, folder: Named, letters: set[str], *, titled: bool) -> None:
    name, entry = folder
    if titled:
        call.io.stdout(f"{name}:\n")
    inside = _inside(call, entry, letters)
    if "l" in letters or "s" in letters:
        taken = sum(each.kilobytes for _, each in inside) * 1024
        call.io.stdout(f"total {_size(taken, letters, 1024, busybox=call.machine.busybox)}\n")
    _print(call, inside, letters)
    for below, each in inside if "R" in letters else ():
        if each.directory and below not in (".", ".."):
            call.io.stdout("\n")
            _directory(call, (join(name, below), each), letters, titled=True)


def _inside(call: Call, entry: Entry, letters: set[str]) -> list[Named]:
    names = [name for name in names_in(call.machine, entry.path) if letters & {"a", "A"} or not name.startswith(".")]
    found = [(name, look_at(call.machine, join(entry.path, name), follow="L" in letters)) for name in names]
    listed = _sorted([(name, each) for name, each in found if each is not None], letters)
    if "a" in letters:
        above = look_at(call.machine, entry.path.rpartition("/")[0] or "/") or entry
        return [(".", entry), ("..", above), *listed]
    return listed


def _sorted(entries: list[Named], letters: set[str]) -> list[Named]:
    ordered = sorted(entries, key=lambda named: named[0])
    if "S" in letters:
        ordered.sort(key=lambda named: -named[1].size)
    elif "t" in letters:
        ordered.sort(key=lambda named: -named[1].modified.timestamp())
    return ordered[::-1] if "r" in letters else ordered


def _print(call: Call, entries: list[Named], letters: set[str]) -> None:
    if "l" in letters or "n" in letters:
        call.io.stdout(_long(call, entries, letters))
        return
    call.io.stdout("".join(f"{_marked(name, entry, letters)}\n" for name, entry in entries))


def _marked(name: str, entry: Entry, letters: set[str]) -> str:
    if entry.directory and letters & {"F", "p"}:
        return f"{name}/"
    if "F" in letters and entry.target:
        return f"{name}@"
    return f"{name}*" if "F" in letters and entry.mode & 0o111 and not entry.directory else name


def _long(call: Call, entries: list[Named], letters: set[str]) -> str:
    sizes = [_size(entry.size, letters, busybox=call.machine.busybox) for _, entry in entries]
    owners = [str(entry.uid) if "n" in letters else entry.owner for _, entry in entries]
    groups = [str(entry.gid) if "n" in letters else entry.group for _, entry in entries]
    if call.machine.busybox:
        links, widths = 4, (8, 8, 9)
    else:
        links = max((len(str(entry.links)) for _, entry in entries), default=1)
        widths = (_width(owners), _width(groups), _width(sizes))
    lines = []
    for (name, entry), owner, group, size in zip(entries, owners, groups, sizes, strict=True):
        first = f"{entry.permissions} {entry.links:{links}} {owner:<{widths[0]}} {group:<{widths[1]}}"
        date = _date(entry.modified, call.machine.now())
        shown = f"{name} -> {entry.target}" if entry.target else _marked(name, entry, letters)
        lines.append(f"{first} {size:>{widths[2]}} {date} {shown}\n")
    return "".join(lines)


def _width(words: list[str]) -> int:
    return max(map(len, words), default=1)


def _date(moment: datetime, now: datetime) -> str:
    """With the time, or of what is older than half a year the year."""
    recent = now - _HALF_A_YEAR <= moment <= now + timedelta(minutes=15)
    return f"{moment:%b %e %H:%M}" if recent else f"{moment:%b %e  %Y}"


def _size(size: int, letters: set[str], unit: int = 1, *, busybox: bool) -> str:
    if "h" not in letters:
        return str(size // unit)
    return human(size, busybox=busybox)


def human(size: int, *, busybox: bool) -> str:
    """Bytes as `-h` shows them: busybox with one decimal, to the nearest (human_readable.c); GNU with none from ten on,
    rounded up (gnulib human.c)."""
    if size < 1024:
        return str(size)
    power = min((size.bit_length() - 1) // 10, 4)
    if busybox:
        return f"{size / 1024**power:.1f}{_UNITS[power]}"
    tenths = -(-size * 10 // 1024**power)
    if tenths < 100:
        return f"{tenths // 10}.{tenths % 10}{_UNITS[power]}"
    whole = -(-size // 1024**power)
    return f"{whole}{_UNITS[power]}" if whole < 1024 or power == 4 else f"1.0{_UNITS[power + 1]}"


COMMANDS: dict[str, Command] = {"ls": _ls}
