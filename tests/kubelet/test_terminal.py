"""The line discipline, and shells that are typed at."""

from __future__ import annotations

import pytest

from engine.kubelet.runtime.shell.process import Input
from engine.kubelet.runtime.terminal import Terminal


@pytest.mark.parametrize(
    ("keys", "read", "screen", "signals"),
    [
        pytest.param("ls\r", "ls\n", "ls\r\n", [], id="a line"),
        pytest.param("lx\x7fs\r", "ls\n", "lx\b \bs\r\n", [], id="erase"),
        pytest.param("\x7f\x7fa\r", "a\n", "a\r\n", [], id="nothing to erase"),
        pytest.param("abc\x15d\r", "d\n", "abc" + "\b \b" * 3 + "d\r\n", [], id="kill the line"),
        pytest.param("rm -rf\x17x\r", "rmx\n", "rm -rf" + "\b \b" * 4 + "x\r\n", [], id="kill a word"),
        pytest.param("abc\x03d\r", "d\n", "abc^C\r\nd\r\n", ["INT"], id="interrupt"),
        pytest.param("a\rb\r\x1b[A\x1b[A\r", "a\nb\na\n", "a\r\nb\r\nb\b \ba\r\n", [], id="history"),
        pytest.param("\x1b[3~x\r", "x\n", "x\r\n", [], id="a key that means nothing"),
        pytest.param("ab\x04", "ab", "ab", [], id="end of file in a line sends the line"),
    ],
)
def test_keys(keys: str, read: str, screen: str, signals: list[str]) -> None:
    source, shown, sent = Input(), list[str](), list[str]()
    terminal = Terminal(source, shown.append, sent.append)
    terminal.feed(keys)
    assert (source.take(), "".join(shown), sent) == (read, screen, signals)


def test_end_of_file_ends_one_read() -> None:
    source = Input()
    terminal = Terminal(source, lambda text: None, lambda name: None)
    terminal.feed("\x04")
    assert [source.ended(), source.ended(), source.closed] == [True, False, False]


def test_lines_of_an_input() -> None:
    source = Input()
    source.feed("one\ntw")
    assert (source.take_line(), source.take_line()) == ("one\n", None)
    source.close()
    assert (source.take_line(), source.take_line(), source.ended()) == ("tw", None, True)
