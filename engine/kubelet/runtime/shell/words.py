"""Words to fields: the expansions of a shell (Shell Command Language, 2.6)."""

from __future__ import annotations

from collections.abc import Generator
from functools import partial
from typing import Protocol, TypeVar

from engine.kubelet.runtime.shell.commands.tree import names_in
from engine.kubelet.runtime.shell.control import ExitShell
from engine.kubelet.runtime.shell.expansion import Arithmetic, apply_operator, glob
from engine.kubelet.runtime.shell.lexer import Lexer, Part, ShellSyntaxError, Word
from engine.kubelet.runtime.shell.process import Machine

T = TypeVar("T")
Steps = Generator[float, str | None, T]


class Shell(Protocol):
    """What the expansions need of the shell that they are part of."""

    machine: Machine
    name: str
    arguments: list[str]
    variables: dict[str, str]
    arrays: dict[str, list[str]]
    directory: str
    status: int
    nounset: bool

    @property
    def pid(self) -> int: ...

    def complain(self, message: str) -> None: ...

    def substitute(self, script: str) -> Steps[str]:
        """`$(script)`."""
        ...


class Words:
    def __init__(self, shell: Shell) -> None:
        self._shell = shell

    def fields(self, words: tuple[Word, ...]) -> Steps[list[str]]:
        fields: list[str] = []
        for word in words:
            fields += yield from self._split(word)
        return fields

    def _split(self, word: Word) -> Steps[list[str]]:
        """A word to fields: expansions outside quotes are split at blanks, patterns become the files they match."""
        fields: list[str] = []
        current: str | None = None
        pattern = False
        for part in word:
            if part.kind == "variable" and part.quoted and (several := self._several(part)) is not None:
                for index, argument in enumerate(several):
                    if index and current is not None:
                        fields.append(current)
                        current = None
                    current = (current or "") + argument
                continue
            text = yield from self._part(part)
            if part.quoted or part.kind == "text":
                current = (current or "") + text
                pattern = pattern or (not part.quoted and any(char in text for char in "*?["))
                continue
            pieces = text.split()
            if text[:1].isspace() and current is not None:
                fields.append(current)
                current = None
            for index, piece in enumerate(pieces):
                if index and current is not None:
                    fields.append(current)
                    current = None
                current = (current or "") + piece
            if pieces and text[-1:].isspace() and current is not None:
                fields.append(current)
                current = None
        if current is not None:
            fields.append(current)
        if pattern:
            look = partial(names_in, self._shell.machine)
            return [path for field in fields for path in glob(field, look, directory=self._shell.directory)]
        return fields

    def text(self, word: Word) -> Steps[str]:
        """A word to one text, unsplit."""
        text = ""
        for part in word:
            text += yield from self._part(part)
        return text

    def _part(self, part: Part) -> Steps[str]:
        if part.kind == "text":
            return part.value
        if part.kind == "arithmetic":
            expression = part.value
            if "$" in expression or "`" in expression:
                [token, _] = Lexer(f'"{expression}"').tokens()
                expression = yield from self.text(token.word)
            try:
                return str(Arithmetic(expression, self._shell.variables).value())
            except ShellSyntaxError as error:
                self._shell.complain(f"{self._shell.name}: {error}\n")
                raise ExitShell(2) from None
        if part.kind == "command":
            return (yield from self._shell.substitute(part.value))
        return (yield from self._variable(part))

    def _several(self, part: Part) -> list[str] | None:
        """The fields that a part in quotes stands for, where it may be more than one."""
        if part.value == "@":
            return self._shell.arguments
        return self._elements(part.value) if (part.operator, part.argument) == ("index", "@") else None

    def _elements(self, name: str) -> list[str]:
        """Of an array; any other variable is one of one."""
        value = self._shell.variables.get(name)
        return self._shell.arrays.get(name, [] if value is None else [value])

    def _element(self, part: Part) -> Steps[str]:
        elements = self._elements(part.value)
        if part.operator == "count":
            return str(len(elements))
        if part.argument in ("@", "*"):
            return " ".join(elements)
        index = int((yield from self._part(Part("arithmetic", part.argument, True))))
        return elements[index] if -len(elements) <= index < len(elements) else ""

    def _variable(self, part: Part) -> Steps[str]:
        if part.operator in ("index", "count"):
            return (yield from self._element(part))
        value = self.parameter(part.value)
        if not part.operator:
            if value is None and self._shell.nounset:
                bash = "bash" in self._shell.name
                why = f"line 1: {part.value}: unbound variable" if bash else f"{part.value}: parameter not set"
                self._shell.complain(f"{self._shell.name}: {why}\n")
                raise ExitShell(1 if bash else 2)
            return value or ""
        argument = ""
        if part.argument:
            for item in _words_of(part.argument):
                argument += yield from self._part(item)
        unset = value is None or (part.operator.startswith(":") and not value)
        if part.operator in (":=", "=") and unset:
            self._shell.variables[part.value] = argument
        if part.operator in (":?", "?") and unset:
            self._shell.complain(f"{self._shell.name}: {part.value}: {argument or 'parameter not set'}\n")
            raise ExitShell(2)
        return apply_operator(part.operator, value, argument)

    def parameter(self, name: str) -> str | None:
        if name == "?":
            return str(self._shell.status)
        if name == "#":
            return str(len(self._shell.arguments))
        if name in ("@", "*"):
            return " ".join(self._shell.arguments)
        if name == "$":
            return str(self._shell.pid)
        if name == "0":
            return self._shell.name
        if name.isdigit():
            index = int(name) - 1
            return self._shell.arguments[index] if index < len(self._shell.arguments) else None
        return self._shell.variables.get(name)


def _words_of(argument: str) -> Word:
    """The parts of the text behind `${name:-`, in which quotes and expansions count but blanks do not split."""
    parts: list[Part] = []
    for index, piece in enumerate(argument.split(" ")):
        if index:
            parts.append(Part("text", " ", True))
        for token in Lexer(piece).tokens():
            parts += token.word if token.kind == "word" else ([Part("text", token.text, True)] if token.text else [])
    return tuple(parts)
