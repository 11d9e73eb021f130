"""The line discipline of a terminal: what the kernel does between keys and the program that reads lines.

Echo, erasing, Ctrl-C and Ctrl-D (termios(3), canonical mode), and a history of lines on the arrow keys, which a real
shell would keep itself.
"""

from __future__ import annotations

from collections.abc import Callable

from engine.kubelet.runtime.shell.process import Input

_ERASE = ("\x7f", "\b")
_KEYS = {"[A": -1, "OA": -1, "[B": 1, "OB": 1}


class Terminal:
    """`show` gets what the far end's screen shows, `signal` the signals that keys send."""

    def __init__(self, source: Input, show: Callable[[str], None], signal: Callable[[str], None]) -> None:
        self.columns, self.rows = 80, 24
        self._source = source
        self._show = show
        self._signal = signal
        self._line = ""
        self._escape = ""
        self._history: list[str] = []
        self._shown = 0

    def write(self, text: str) -> None:
        """What a program prints."""
        self._show(text.replace("\r\n", "\n").replace("\n", "\r\n"))

    def feed(self, text: str) -> None:
        """Keys."""
        for key in text:
            if self._escape or key == "\x1b":
                self._escaped(key)
            else:
                self._key(key)

    def _key(self, key: str) -> None:
        if key in "\r\n":
            self._enter()
        elif key in _ERASE:
            self._replace(self._line[:-1])
        elif key == "\x15":
            self._replace("")
        elif key == "\x17":
            self._replace(self._line.rstrip().rpartition(" ")[0])
        elif key == "\x03":
            self._show("^C\r\n")
            self._line = ""
            self._source.discard()
            self._signal("INT")
        elif key == "\x04":
            self._end_of_file()
        elif key >= " ":
            self._line += key
            self._show(key)

    def _enter(self) -> None:
        line, self._line = self._line, ""
        if line and self._history[-1:] != [line]:
            self._history.append(line)
        self._shown = len(self._history)
        self._show("\r\n")
        self._source.feed(line + "\n")

    def _end_of_file(self) -> None:
        if self._line:
            self._source.feed(self._line)
            self._line = ""
        else:
            self._source.end()

    def _escaped(self, key: str) -> None:
        self._escape += key
        if len(self._escape) < 3 or not (key.isalpha() or key == "~"):
            return
        step = _KEYS.get(self._escape[1:])
        self._escape = ""
        if step is not None and self._history:
            self._shown = max(0, min(len(self._history), self._shown + step))
            self._replace(self._history[self._shown] if self._shown < len(self._history) else "")

    def _replace(self, line: str) -> None:
        """Show another line in the place of the one that is being typed."""
        kept = 0
        while kept < min(len(line), len(self._line)) and line[kept] == self._line[kept]:
            kept += 1
        self._show("\b \b" * (len(self._line) - kept) + line[kept:])
        self._line = line
