"""The simulated shell: what scripts print, how long they take and how they end."""

from __future__ import annotations

import pytest

from engine.kubelet.runtime.shell.process import DnsRecord
from tests.kubelet.shells import run, sh


@pytest.mark.parametrize(
    ("script", "out", "code"),
    [
        pytest.param("exit 1", "", 1, id="exit"),
        pytest.param("true && echo yes || echo no", "yes\n", 0, id="and-or, true"),
        pytest.param("false && echo yes || echo no", "no\n", 0, id="and-or, false"),
        pytest.param("! false; echo $?", "0\n", 0, id="negation"),
        pytest.param("echo 'a b'  c", "a b c\n", 0, id="quotes and blanks"),
        pytest.param('X="a  b"; echo $X; echo "$X"', "a b\na  b\n", 0, id="splitting outside quotes alone"),
        pytest.param("echo a; # echo b\necho c", "a\nc\n", 0, id="comments and newlines"),
        pytest.param('echo "${X:-none} ${#HOME} ${HOME%/*}x"', "none 5 x\n", 0, id="parameter operators"),
        pytest.param("X=a/b/c.txt; echo ${X##*/} ${X%.*}", "c.txt a/b/c\n", 0, id="trimming"),
        pytest.param("i=3; echo $((i * 2 + 1)) $((i > 2 && 0))", "7 0\n", 0, id="arithmetic"),
        pytest.param("i=0; while [ $i -lt 3 ]; do echo $i; i=$((i+1)); done", "0\n1\n2\n", 0, id="while"),
        pytest.param("i=0; until [ $i = 2 ]; do i=$((i+1)); done; echo $i", "2\n", 0, id="until"),
        pytest.param("for i in a b; do for j in 1 2; do [ $j = 2 ] && break; echo $i$j; done; done", "a1\nb1\n", 0,
                     id="for, break"),
        pytest.param("for i in 1 2 3; do [ $i = 2 ] && continue; echo $i; done", "1\n3\n", 0, id="continue"),
        pytest.param("if [ -f /x ]; then echo a; elif true; then echo b; else echo c; fi", "b\n", 0, id="if"),
        pytest.param("case web-1 in db*) echo db;; web*|app*) echo web;; esac", "web\n", 0, id="case"),
        pytest.param("f() { echo $1; return 3; }; f x; echo $?", "x\n3\n", 0, id="function"),
        pytest.param("x=1; (x=2; echo $x); echo $x", "2\n1\n", 0, id="subshell keeps to itself"),
        pytest.param("{ echo a; echo b; } | grep b", "b\n", 0, id="group in a pipe"),
        pytest.param("echo $(echo in; echo ner)", "in ner\n", 0, id="substitution"),
        pytest.param("(exit 4); echo $?", "4\n", 0, id="status of a subshell"),
        pytest.param("set -e; false; echo no", "", 1, id="errexit"),
        pytest.param("set -e; if false; then :; fi; false || true; echo yes", "yes\n", 0, id="errexit spares tests"),
        pytest.param("echo a > /tmp/f; echo b >> /tmp/f; cat < /tmp/f; rm /tmp/f; ls /tmp", "a\nb\n", 0, id="files"),
        pytest.param("echo gone > /dev/null; echo here", "here\n", 0, id="dev null"),
        pytest.param("printf '%s=%03d\\n' a 7", "a=007\n", 0, id="printf"),
        pytest.param("seq 3 | wc -l", "3\n", 0, id="seq, wc"),
        pytest.param("echo a:b:c | cut -d: -f1,3", "a:c\n", 0, id="cut, fields"),
        pytest.param("echo abcdef | cut -c 2-3,5-", "bcef\n", 0, id="cut, characters"),
        pytest.param("echo plain | cut -d: -f2", "plain\n", 0, id="cut, no delimiter"),
        pytest.param("echo Hello | tr a-z A-Z | tr -d L", "HEO\n", 0, id="tr"),
        pytest.param("printf 'a\\nb\\n' | tr '\\n' ,", "a,b,", 0, id="tr, escapes"),
        pytest.param("echo aabbc | tr -s ab", "abc\n", 0, id="tr, squeeze"),
        pytest.param("printf 'a\\na\\nb\\n' | uniq -c", "      2 a\n      1 b\n", 0, id="uniq"),
        pytest.param("echo -n secret | base64; echo c2VjcmV0 | base64 -d", "c2VjcmV0\nsecret", 0, id="base64"),
        pytest.param("basename /a/b.txt .txt; dirname /a/b.txt; dirname b", "b\n/a\n.\n", 0, id="names of paths"),
        pytest.param("touch /tmp/a.txt /tmp/b.txt; echo /tmp/*.txt", "/tmp/a.txt /tmp/b.txt\n", 0, id="patterns"),
        pytest.param("trap 'echo bye' EXIT; echo hi; exit 5", "hi\nbye\n", 5, id="exit trap"),
        pytest.param("command -v ls cd; type ls cd; command echo hi", "/bin/ls\ncd\nls is /bin/ls\ncd is a shell "
                     "builtin\nhi\n", 0, id="command and type"),
        pytest.param("type nope", "nope: not found\n", 127, id="type of nothing"),
        pytest.param("command -v nope || echo none", "none\n", 0, id="command of nothing"),
        pytest.param("eval 'echo $((1+1))'", "2\n", 0, id="eval"),
        pytest.param("export A=1; env | grep ^A=", "A=1\n", 0, id="environment"),
        pytest.param("sh -c 'echo $0 $1' name arg", "name arg\n", 0, id="nested shell"),
        pytest.param("hostname; cat /etc/hostname", "pod-1\npod-1\n", 0, id="hostname"),
    ],
)  # fmt: skip
def test_scripts_do_what_a_shell_does(script: str, out: str, code: int) -> None:
    ran = sh(script)

    assert (ran.out, ran.code, ran.err) == (out, code, "")


@pytest.mark.parametrize(
    ("script", "seconds", "code"),
    [
        pytest.param("sleep 3", 3, 0, id="sleep"),
        pytest.param("sleep 1m", 60, 0, id="units"),
        pytest.param("sleep 1 && sleep 2; exit 4", 3, 4, id="one after another"),
        pytest.param("sleep 5 & sleep 2; wait", 5, 0, id="side by side"),
        pytest.param("timeout 2 sleep 10", 2, 143, id="timeout"),
        pytest.param("timeout 2 sleep inf", 2, 143, id="for good"),
        pytest.param("sleep 4 | sleep 1", 5, 0, id="stages of a pipe run in turn"),
        pytest.param("tail -f /dev/null", 0, None, id="for ever"),
    ],
)
def test_time_passes_as_the_script_says(script: str, seconds: float, code: int | None) -> None:
    ran = sh(script)

    assert (ran.seconds, ran.code) == (seconds, code)


@pytest.mark.parametrize(
    ("script", "code", "message"),
    [
        pytest.param("nope", 127, "sh: nope: not found\n", id="unknown command"),
        pytest.param("cat /x", 1, "cat: can't open '/x': No such file or directory\n", id="cat"),
        pytest.param("if then", 2, 'sh: syntax error: unexpected "then"\n', id="syntax"),
        pytest.param("echo 'a", 2, "sh: syntax error: unterminated quoted string\n", id="open quote"),
        pytest.param("while true; do echo", 2, 'sh: syntax error: unexpected end of file (expecting "done")\n',
                     id="open loop"),
        pytest.param("cd /nowhere", 2, "sh: cd: can't cd to /nowhere: No such file or directory\n", id="cd"),
        pytest.param("nslookup db", 1, "", id="unknown host"),
        pytest.param("wget -q http://db/", 1, "wget: bad address 'db'\n", id="wget"),
    ],
)  # fmt: skip
def test_failures_have_busybox_words(script: str, code: int, message: str) -> None:
    ran = sh(script)

    assert (ran.code, ran.err) == (code, message)


@pytest.mark.parametrize(
    ("script", "code", "seconds"),
    [
        pytest.param("sleep 3600", 137, 35, id="process 1 ignores it"),
        pytest.param("while true; do sleep 1; done", 137, 35, id="a shell as process 1 too"),
        pytest.param("trap 'exit 0' TERM; while true; do sleep 2; done", 0, 6, id="a trap waits for the command"),
        pytest.param("trap 'exit 3' TERM; sleep 3600 & wait", 3, 5, id="wait is interrupted at once"),
        pytest.param("exec nginx", 0, 5, id="exec hands process 1 on"),
        pytest.param("nginx; true", 137, 35, id="a child does not hear it"),
    ],
)
def test_sigterm_reaches_process_1_alone(script: str, code: int, seconds: float) -> None:
    ran = sh(script, signals={5.0: "TERM", 35.0: "KILL"}, programs=frozenset({"nginx"}))

    assert (ran.code, ran.seconds) == (code, seconds)


def test_a_loop_that_never_sleeps_still_lets_time_pass() -> None:
    ran = sh("i=0; while true; do i=$((i+1)); done", signals={10.0: "KILL"})

    assert ran.code == 137


def test_a_name_resolves_once_the_network_knows_it() -> None:
    class Network:
        asked = 0

        def resolve(self, name: str) -> list[str]:
            return []

        def query(self, name: str, type: str) -> tuple[str, list[DnsRecord]]:
            self.asked += 1
            found = [DnsRecord(f"{name}.default.svc.cluster.local", type, "10.96.0.7", 30)] if self.asked > 2 else []
            return "NOERROR" if found else "NXDOMAIN", found

        def full_name(self, name: str) -> str:
            return f"{name}.default.svc.cluster.local"

        def ask(self, address: str, port: int, data: bytes) -> bytes:
            return b""

        def pings(self, address: str) -> bool:
            return True

    ran = sh("until nslookup db >/dev/null; do echo waiting; sleep 2; done", network=Network())

    assert (ran.out, ran.seconds, ran.code) == ("waiting\nwaiting\n", 4, 0)


def test_programs_of_an_unknown_image_serve_as_process_1_and_end_as_tools() -> None:
    assert run(["/app/server"], programs=None).code is None
    assert sh("/app/migrate && echo done", programs=None).out == "done\n"
