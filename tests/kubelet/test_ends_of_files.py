"""head, tail, and a tail that follows: what the tutorial's sidecar that ships logs stands on."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kubelet.shells import sh

GNU: dict[str, Any] = {"busybox": False}


@pytest.mark.parametrize(
    ("script", "out"),
    [
        pytest.param("seq 4 | tail -n 2; seq 4 | tail -1; seq 4 | tail -n +3", "3\n4\n4\n3\n4\n", id="tail -n"),
        pytest.param("seq 4 | head -n 2; seq 4 | head -1; seq 4 | head -n -3", "1\n2\n1\n1\n", id="head -n"),
        pytest.param("echo abcdef | head -c 3; echo abcdef | tail -c 3; echo abcdef | tail -c +5", "abcef\nef\n",
                     id="bytes"),
        pytest.param("echo a > /a; echo b > /b; tail /a /b", "==> /a <==\na\n\n==> /b <==\nb\n", id="several files"),
        pytest.param("echo a > /a; echo b > /b; head -qn1 /a /b", "a\nb\n", id="without headers"),
        pytest.param("echo a > /a; echo c | tail -v - /a", "==> standard input <==\nc\n\n==> /a <==\na\n", id="stdin"),
    ],
)  # fmt: skip
def test_a_part_of_a_file_is_printed(script: str, out: str) -> None:
    ran = sh(script)

    assert (ran.out, ran.code, ran.err) == (out, 0, "")


@pytest.mark.parametrize(
    ("script", "options", "out", "err"),
    [
        pytest.param("seq 12 > /f; (sleep 2; echo x >> /f; sleep 2; echo y >> /f) & tail -n 1 -f /f", {},
                     "12\nx\ny\n", "", id="what is appended"),
        pytest.param("(sleep 2; echo x >> /f; sleep 1; echo y >> /f) & tail -F /f", {}, "x\ny\n",
                     "tail: can't open '/f': No such file or directory\n"
                     "tail: /f has appeared; following end of new file\n", id="a file that comes later"),
        pytest.param("(sleep 2; echo x >> /f) & tail -F /f", GNU, "x\n",
                     "tail: cannot open '/f' for reading: No such file or directory\n"
                     "tail: '/f' has appeared;  following new file\n", id="a file that comes later, GNU"),
        pytest.param("echo long > /f; (sleep 2; echo a > /f) & tail -f /f", GNU, "long\na\n",
                     "tail: /f: file truncated\n", id="a file that begins anew"),
        pytest.param("echo a > /f; (sleep 2; rm /f; sleep 2; echo b > /f) & tail -F /f", {}, "a\nb\n",
                     "tail: /f has become inaccessible\ntail: /f has appeared; following end of new file\n",
                     id="a file that is replaced"),
        pytest.param("echo a > /a; echo b > /b; (sleep 2; echo c >> /a; echo d >> /b) & tail -f /a /b", {},
                     "==> /a <==\na\n\n==> /b <==\nb\n\n==> /a <==\nc\n\n==> /b <==\nd\n", "", id="several files"),
    ],
)  # fmt: skip
def test_a_file_is_followed(script: str, options: dict[str, Any], out: str, err: str) -> None:
    ran = sh(script, signals={20.0: "KILL"}, **options)

    assert (ran.out, ran.err, ran.code) == (out, err, 137)


@pytest.mark.parametrize(
    ("options", "err"),
    [
        pytest.param({}, "tail: can't open '/f': No such file or directory\ntail: no files\n", id="busybox"),
        pytest.param(GNU, "tail: cannot open '/f' for reading: No such file or directory\n"
                          "tail: no files remaining\n", id="GNU"),
    ],
)  # fmt: skip
def test_without_retrying_a_file_must_be_there(options: dict[str, Any], err: str) -> None:
    ran = sh("tail -f /f", **options)

    assert (ran.code, ran.err) == (1, err)


def test_a_signal_ends_what_follows_unless_it_is_process_1() -> None:
    assert sh("tail -f /etc/hostname; true", signals={3.0: "TERM", 9.0: "KILL"}).code == 137
    assert sh("timeout 3 tail -f /etc/hostname").out == "pod-1\n"
