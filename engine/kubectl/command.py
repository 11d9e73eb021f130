"""Commands and how one is found among the arguments, as cobra does it.

Source of the behaviour: spf13/cobra (Find, SuggestionsFor, legacyArgs) and kubectl's templates for help.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from engine.api.golang.duration import duration_text
from engine.kubectl.errors import CommandError, Exit
from engine.kubectl.flags import Flag, Type

if TYPE_CHECKING:
    from engine.kubectl.session import Session

NARROWEST_NAME = 11
Run = Callable[["Session"], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Command:
    """One command. `usage` is what follows its name in the usage line. A command without `run` is a group."""

    name: str
    short: str
    run: Run | None = None
    usage: str = ""
    flags: tuple[Flag, ...] = ()
    children: tuple[Command, ...] = ()
    aliases: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    failure_code: int = 1  # the exit code of a failure (`diff` has 2)
    interrupted: int = 130  # the exit code after ctrl-C, which most are ended by, and some take for their own end
    flag_errors_as_usage: bool = False  # which hint follows what is wrong with a flag
    help_on_stdout: bool = False  # where a group shows its help when it is given no command
    offline_flag: str = ""  # with which it asks no server
    connects: bool = True  # `config` works on files, whatever they and the flags say of servers
    hidden: bool = False  # not in the list of commands
    section: str = ""  # the heading that the main help lists it under
    module: str = ""  # `module:NAME` of the whole command, where this is but its entry in the list of all

    def child(self, name: str) -> Command | None:
        found = next((c for c in self.children if c.name == name or name in c.aliases), None)
        return found.whole() if found is not None else None

    def whole(self) -> Command:
        """The command itself: its module is imported here, so that one verb need not load all others."""
        if not self.module:
            return self
        module, _, name = self.module.partition(":")
        command = getattr(import_module(module), name)
        assert isinstance(command, Command)
        return command


@dataclass(frozen=True, slots=True)
class Found:
    """A command with the words that lead to it and the arguments that remain."""

    command: Command
    path: str
    arguments: list[str]


def find(root: Command, arguments: Sequence[str], *, program: str, global_flags: Sequence[Flag]) -> Found:
    """Follow the arguments down to a command. Raises CommandError for an unknown one."""
    command, path, rest = root, program, list(arguments)
    while command.children:
        index = first_word(rest, (*global_flags, *command.flags))
        if index is None:
            break
        child = command.child(rest[index])
        if child is None:
            if command is root:
                raise CommandError(_unknown(root, rest[index], program))
            break
        command, path = child, f"{path} {child.name}"
        del rest[index]
    return Found(command, path, rest)


def first_word(arguments: Sequence[str], flags: Sequence[Flag]) -> int | None:
    """The place of the first argument that is neither a flag nor a flag's value."""
    takes_value = {f"--{f.name}" for f in flags if not f.bare_value}
    takes_value |= {f"-{f.short}" for f in flags if f.short and not f.bare_value}
    skip = False
    for index, item in enumerate(arguments):
        if skip:
            skip = False
        elif item == "--":
            return None
        elif item.startswith("-") and item != "-":
            skip = item in takes_value
        else:
            return index
    return None


def _unknown(root: Command, word: str, program: str) -> str:
    text = f'unknown command "{word}" for "{program}"'
    near = [c.name for c in root.children if _distance(word.lower(), c.name.lower()) <= 2 or c.name.startswith(word)]
    if near:
        text += "\n\nDid you mean this?\n" + "".join(f"\t{name}\n" for name in near)
    return text.rstrip("\n")


def _distance(left: str, right: str) -> int:
    """Levenshtein's distance."""
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        previous, row[0] = row[0], i
        for j, b in enumerate(right, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (a != b))
    return row[-1]


def help_text(found: Found, *, program: str) -> str:
    """What `--help` prints."""
    command, parts = found.command, [found.command.short + "."]
    if command.aliases:
        parts.append("Aliases:\n" + ", ".join((command.name, *command.aliases)))
    if command.examples:
        parts.append("Examples:\n" + "\n".join(f"  {program} {example}" for example in command.examples))
    if command.children:
        width = max(NARROWEST_NAME, *(len(c.name) for c in command.children)) + 3
        shown = [c for c in command.children if not c.hidden]
        for section in dict.fromkeys(c.section for c in shown):
            listed = [f"  {c.name:<{width}}{c.short}" for c in shown if c.section == section]
            parts.append(f"{section or 'Available Commands'}:\n" + "\n".join(listed))
    if shown_flags := sorted((flag for flag in command.flags if not flag.hidden), key=_by_name):
        parts.append("Options:\n" + "\n\n".join(map(flag_help, shown_flags)))
    usage = f"  {found.path} {command.usage}" if command.usage else f"  {found.path}"
    parts.append(f"Usage:\n{usage}" + ("" if "[options]" in usage else " [options]"))
    if command.children:
        parts.append(f'Use "{found.path} <command> --help" for more information about a given command.')
    tail = f'\nUse "{program} options" for a list of global command-line options (applies to all commands).'
    return "\n\n".join(parts) + "\n" + tail.removeprefix("\n" if command.children else "")


def show_group(found: Found, *, program: str) -> Exit | CommandError:
    """What a group without a command of its own answers: its help, or that there is no such command."""
    if found.arguments:
        return CommandError(
            f"unknown command \"{' '.join(found.arguments)}\"\nSee '{found.path} -h' for help and examples"
        )
    return Exit(1)


def _by_name(flag: Flag) -> str:
    return flag.name


def flag_help(flag: Flag) -> str:
    start = f"-{flag.short}, --{flag.name}" if flag.short else f"--{flag.name}"
    return f"    {start}={_shown(flag)}:" + (f"\n\t{flag.help}" if flag.help else "")


def _shown(flag: Flag) -> str:
    value = flag.initial()
    match flag.type:
        case Type.BOOL:
            return "true" if value else "false"
        case Type.DURATION:
            return duration_text(float(value)) if isinstance(value, int | float) else "0s"
        case Type.STRINGS | Type.ARRAY | Type.PAIRS:
            return f"[{','.join(value)}]" if isinstance(value, list) else "[]"
        case Type.INT | Type.INT32:
            return str(value)
    return f"'{value}'"
