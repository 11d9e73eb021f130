"""`xargs`, digests, `du` and what a pipe ends with, as busybox has them and GNU where a row says so."""

from __future__ import annotations

import pytest

from tests.kubelet.shells import sh

A = "87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7"  # of "a\n"
MD5 = "60b725f10c9c85c70d97880dfe8191b3"
FILES = "mkdir -p /a/b; printf %5000s x > /a/x; touch /a/b/y;"


@pytest.mark.parametrize(
    ("script", "out"),
    [
        pytest.param("echo a 'b c' | xargs", "a b c\n", id="xargs"),
        pytest.param("printf 'a \"b c\"\\nd' | xargs -n1 echo -", "- a\n- b c\n- d\n", id="quotes, -n"),
        pytest.param("seq 5 | xargs -n 2", "1 2\n3 4\n5\n", id="-n"),
        pytest.param("printf 'a b\\nc\\n' | xargs -I{} echo '<{}>' {}", "<a b> a b\n<c> c\n", id="-I"),
        pytest.param("printf 'a b\\0c\\0' | xargs -0 -n1 echo +", "+ a b\n+ c\n", id="-0"),
        pytest.param("printf '' | xargs echo x; printf '' | xargs -r echo y", "x\n", id="of nothing"),
        pytest.param("touch /tmp/a /tmp/b; ls /tmp | xargs -I% rm /tmp/%; ls /tmp", "", id="rm"),
        pytest.param("seq 3 | xargs -n1 sh -c 'test $0 != 2'; echo $?", "123\n", id="one that fails"),
        pytest.param("seq 3 | xargs -n1 sh -c 'echo $0; exit 255' 2>/dev/null; echo $?", "1\n124\n", id="255 ends it"),
        pytest.param("echo a | xargs nope 2>/dev/null; echo $?", "127\n", id="no such command"),
        pytest.param("seq 2 | xargs -P 2 -n 1 echo | xargs -t echo 2>&1", "echo 1 2\n1 2\n", id="-P, -t"),
        pytest.param("echo 1 | xargs sleep; echo slept", "slept\n", id="one that takes time"),
        pytest.param("echo a | sha256sum", f"{A}  -\n", id="sha256sum"),
        pytest.param("echo a > /tmp/f; md5sum /tmp/f; md5sum /tmp/f > /s; md5sum -c /s", f"{MD5}  /tmp/f\n/tmp/f: OK\n",
                     id="md5sum -c"),
        pytest.param("echo a | sha1sum | cut -c1-8; echo a | sha512sum | cut -c1-8", "3f786850\n162b0b32\n", id="sha"),
        pytest.param(f"{FILES} du /a; du -s /a; du -sh /a/x /a", "4\t/a/b\n16\t/a\n16\t/a\n8.0K\t/a/x\n16.0K\t/a\n",
                     id="du"),
        pytest.param(f"{FILES} cd /a; du -a; du -c -d 0 .", "0\t./b/y\n4\t./b\n8\t./x\n16\t.\n16\t.\n16\ttotal\n",
                     id="du -a, -c, -d"),
        pytest.param("nproc", "4\n", id="nproc"),
        pytest.param("sleep 100; uptime", " 00:01:40 up 1 min,  0 users,  load average: 0.00, 0.00, 0.00\n",
                     id="uptime"),
        pytest.param("sleep 97500; uptime | cut -c11-30", "up 1 day,  3:05,  0 \n", id="uptime, a day"),
        pytest.param("false | true; echo $?; set -o pipefail; false | true; echo $?; (exit 3) | (exit 4) | true; "
                     "echo $?; true | (exit 5); echo $?; set +o pipefail; false | true; echo $?", "0\n1\n4\n5\n0\n",
                     id="pipefail"),
        pytest.param("set -euo pipefail; false | true; echo never", "", id="pipefail ends a script"),
        pytest.param("set -eo pipefail; if false | true; then echo a; else echo b; fi; ! false | true; (false | cat) "
                     "|| echo c", "b\nc\n", id="pipefail in conditions"),
        pytest.param("sh -o pipefail -c 'false | true'; echo $?", "1\n", id="pipefail as an option"),
    ],
)  # fmt: skip
def test_what_is_told(script: str, out: str) -> None:
    ran = sh(script)

    assert (ran.out, ran.err) == (out, "")


@pytest.mark.parametrize(
    ("script", "busybox", "code", "message"),
    [
        pytest.param("md5sum /nope", True, 1, "md5sum: can't open '/nope': No such file or directory\n", id="md5sum"),
        pytest.param("md5sum /nope", False, 1, "md5sum: /nope: No such file or directory\n", id="md5sum, GNU"),
        pytest.param("cd /tmp; echo a > f; md5sum f > s; echo b > f; md5sum -c s >o", True, 1,
                     "md5sum: WARNING: 1 of 1 computed checksums did NOT match\n", id="-c"),
        pytest.param("cd /tmp; echo a > f; md5sum f > s; echo b > f; md5sum -c s >o", False, 1,
                     "md5sum: WARNING: 1 computed checksum did NOT match\n", id="-c, GNU"),
        pytest.param("du /nope", True, 1, "du: /nope: No such file or directory\n", id="du"),
        pytest.param("du /nope", False, 1, "du: cannot access '/nope': No such file or directory\n", id="du, GNU"),
        pytest.param("echo \"'a\" | xargs", True, 1, "xargs: unmatched quote\n", id="xargs"),
        pytest.param("uptime", False, 127, "sh: 1: uptime: not found\n", id="a slim image has no uptime"),
    ],
)  # fmt: skip
def test_failures(script: str, busybox: bool, code: int, message: str) -> None:
    ran = sh(script, busybox=busybox)

    assert (ran.code, ran.err) == (code, message)
