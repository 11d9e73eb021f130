"""Utilities of the simulated shell that people look around with: as busybox prints, or GNU where a row says so."""

from __future__ import annotations

import pytest

from engine.kubelet.runtime.shell.process import DnsRecord
from tests.kubelet.shells import run, sh

DATE = "Jan  1 00:00"


@pytest.mark.parametrize(
    ("script", "out"),
    [
        pytest.param("cd /tmp; echo a > b; touch .h; ls", "b\n", id="hidden files stay hidden"),
        pytest.param("cd /tmp; echo a > b; touch .h; ls -a; ls -A1", ".\n..\n.h\nb\n.h\nb\n", id="-a, -A, -1"),
        pytest.param("cd /tmp; echo abc > b; mkdir d; ls -l",
                     f"total 8\n-rw-r--r--    1 root     root             4 {DATE} b\n"
                     f"drwxr-xr-x    2 root     root          4096 {DATE} d\n", id="-l"),
        pytest.param("ls -ld /tmp", f"drwxrwxrwt    2 root     root          4096 {DATE} /tmp\n", id="-ld"),
        pytest.param("touch /tmp/x; chmod 600 /tmp/x; ls -l /tmp/x; chmod u+x,o=r /tmp/x; ls -l /tmp/x",
                     f"-rw-------    1 root     root             0 {DATE} /tmp/x\n"
                     f"-rwx---r--    1 root     root             0 {DATE} /tmp/x\n", id="chmod"),
        pytest.param("mkdir -p /a/b; touch /a/b/c; ls -R /a", "/a:\nb\n\n/a/b:\nc\n", id="-R"),
        pytest.param("mkdir -p /a/b; cd /a/b; touch ../c ./d; cd ..; pwd; ls . b/..; cd -; pwd; ls ./",
                     "/a\n.:\nb\nc\n\nb/..:\nb\nc\n/a/b\n/a/b\nd\n", id="dots in paths"),
        pytest.param("mkdir -p /a; ls -p / | head -n 1", "a/\n", id="-p"),
        pytest.param("mkdir /a /b; touch /a/1 /b/2; ls /a /b", "/a:\n1\n\n/b:\n2\n", id="two directories"),
        pytest.param("mkdir -p /a/d; touch /a/x.txt; find /a; find /a -type f; find /a -name '*.txt' -o -type d",
                     "/a\n/a/d\n/a/x.txt\n/a/x.txt\n/a\n/a/d\n/a/x.txt\n", id="find"),
        pytest.param("mkdir -p /a/d; echo ab > /a/d/x; find /a -maxdepth 1 -mindepth 1; find /a ! -type d -size -2k; "
                     "find /a -size +1c -type f -delete; find /a -type f", "/a/d\n/a/d/x\n", id="find, limits"),
        pytest.param("echo 3sr+utD+/w== | base64 -d > /b; hexdump -C /b",
                     "00000000  de ca fe ba d0 fe ff                              |.......|\n00000007\n", id="hexdump"),
        pytest.param("printf '\\336\\312\\x41\\n' | od -An -tx1; printf '\\303\\251 \\062%s\\n' x; "
                     "echo -e 'a\\0101\\x42'",
                     " de ca 41 0a\né 2x\naAB\n", id="bytes in octal and hexadecimal"),
        pytest.param("for i in 1 2 3; do printf 'abcdefghijklmnop'; done > /f; echo xyz >> /f; hexdump /f; od -tx1 /f",
                     "0000000 6261 6463 6665 6867 6a69 6c6b 6e6d 706f\n*\n"
                     f"0000030 7978 0a7a{' ' * 30}\n0000034\n"
                     "0000000 61 62 63 64 65 66 67 68 69 6a 6b 6c 6d 6e 6f 70\n*\n0000060 78 79 7a 0a\n0000064\n",
                     id="rows that say the same again"),
        pytest.param("printf abc | od; printf abc | od -An -t x1; printf '' | od -A x; printf '' | hexdump -C",
                     "0000000 061141 000143\n0000003\n 61 62 63\n000000\n", id="od"),
        pytest.param("printf 'a b\\nc b\\n' | sed s/b/X/", "a X\nc X\n", id="sed, s"),
        pytest.param("echo aaa | sed 's/a/b/2; s/$/!/'", "aba!\n", id="sed, nth and two commands"),
        pytest.param("echo a/b | sed 's|/|\\n|g'", "a\nb\n", id="sed, delimiter"),
        pytest.param("seq 5 | sed -n '2,3p;$p'", "2\n3\n5\n", id="sed, ranges"),
        pytest.param("seq 4 | sed '/2/d' | sed 2q", "1\n3\n", id="sed, delete and quit"),
        pytest.param("echo ab12 | sed -E 's/([a-z]+)([0-9]+)/\\2-\\1 &/'", "12-ab ab12\n", id="sed, groups"),
        pytest.param("echo ab12 | sed 's/\\([a-z]*\\)[0-9]*/<\\1>/'", "<ab>\n", id="sed, basic groups"),
        pytest.param("echo a+b | sed 's/+/ /'", "a b\n", id="sed, a plus is a plus"),
        pytest.param("echo a > /tmp/f; sed -i s/a/b/ /tmp/f; cat /tmp/f", "b\n", id="sed, in place"),
        pytest.param("seq 3 | sed -n '$='; seq 3 | sed '1!d'; echo ab | sed y/ab/ba/", "3\n1\nba\n", id="sed, = ! y"),
        pytest.param("seq 2 | sed '1a after'", "1\nafter\n2\n", id="sed, append"),
        pytest.param("printf 'a b\\nc d\\n' | awk '{print $2}'", "b\nd\n", id="awk, a field"),
        pytest.param("echo a:b:c | awk -F: '{print $1, $NF; print $1 \"-\" $3}'", "a c\na-c\n", id="awk -F"),
        pytest.param("printf 'x 1\\ny 20\\n' | awk '$2 > 3 {print $1} /^x/'", "x 1\ny\n", id="awk, patterns"),
        pytest.param("seq 4 | awk 'NR==2,NR==3 {s += $1} END {print s, s/2; printf \"%03d\\n\", NR}'",
                     "5 2.5\n004\n", id="awk, ranges and END"),
        pytest.param("printf 'a\\nb\\na\\n' | awk '{n[$1]++} END {for (k in n) print k, n[k]}'", "a 2\nb 1\n",
                     id="awk, arrays"),
        pytest.param("echo 'Ready  True' | awk '{ if ($2 == \"True\") { print \"yes\" } else print \"no\" }'", "yes\n",
                     id="awk, if"),
        pytest.param("awk -v n=3 'BEGIN {for (i = 1; i <= n; i++) s = s i; print s, length(s), toupper(\"a\")}'",
                     "123 3 A\n", id="awk, BEGIN"),
        pytest.param("echo a,b | awk 'BEGIN {FS=\",\"; OFS=\"-\"} {$1 = \"z\"; print; gsub(/b/, \"[&]\"); print}'",
                     "z-b\nz-[b]\n", id="awk, assigned fields"),
        pytest.param("df -h / | awk 'NR>1 && !($5 ~ /^9/) {print $6; exit}'", "/\n", id="awk, exit"),
        pytest.param("printf 'ab\\ncd\\nabcd\\n' | grep -n b; echo 'a+b' | grep -o 'a+'; echo aab | grep -oE 'a+'",
                     "1:ab\n3:abcd\na+\naa\n", id="grep, -n, -o, -E"),
        pytest.param("printf 'web\\nwebs\\n' | grep -w web; printf 'a\\nb\\nc\\n' | grep 'a\\|c'; echo a.c | grep -F .",
                     "web\na\nc\na.c\n", id="grep, words, choices and fixed"),
        pytest.param("mkdir /a; echo x=1 > /a/b; echo y=1 > /a/c; grep -r =1 /a; grep x /a/b /a/c; "
                     "grep -l y /a/*; grep -c 1 /a/b",
                     "/a/b:x=1\n/a/c:y=1\n/a/b:x=1\n/a/c\n1\n", id="grep, files"),
        pytest.param("which ls sh; which nope || echo none", "/bin/ls\n/bin/sh\nnone\n", id="which"),
        pytest.param("echo hey > /tmp/f; stat -c '%s %a %A %F %U 100%%' /tmp/f",
                     "4 644 -rw-r--r-- regular file root 100%\n", id="stat"),
        pytest.param("uname; uname -r; uname -m; uname -sr",
                     "Linux\n6.12.0-simulated\nx86_64\nLinux 6.12.0-simulated\n", id="uname"),
        pytest.param("hostname -i; hostname -s", "127.0.0.1\npod-1\n", id="hostname -i"),
        pytest.param("getent hosts nowhere; echo $?", "2\n", id="getent, no host"),
        pytest.param("cd /tmp; printf 'b\\na b\\n' > f; echo c > g; wc -c f; wc f; wc -l f g; wc < f",
                     "6 f\n        2         3         6 f\n        2 f\n        1 g\n        3 total\n"
                     "        2         3         6\n", id="wc"),
        pytest.param("cd /tmp; printf '10\\n9\\n' > f; echo 1 > g; sort f g; sort -n f g; sort -rn f",
                     "1\n10\n9\n1\n9\n10\n10\n9\n", id="sort"),
        pytest.param("ps | head -n 1; ps | wc -l", "PID   USER     TIME  COMMAND\n2\n", id="ps"),
        pytest.param("top -b -n1 | grep -c PPID", "1\n", id="top"),
        pytest.param("df | head -n 2; df -h / | wc -l",
                     "Filesystem           1K-blocks      Used Available Use% Mounted on\n"
                     "overlay              104857600         0 104857600   0% /\n2\n", id="df"),
    ],
)  # fmt: skip
def test_what_utilities_print(script: str, out: str) -> None:
    ran = sh(script)

    assert (ran.out, ran.err) == (out, "")


def test_gnu_lists_in_columns_as_wide_as_they_need() -> None:
    ran = sh("cd /tmp; echo abc > b; mkdir d; ls -l", busybox=False)

    assert ran.out == f"total 8\n-rw-r--r-- 1 root root    4 {DATE} b\ndrwxr-xr-x 2 root root 4096 {DATE} d\n"


@pytest.mark.parametrize(
    ("script", "out"),
    [
        pytest.param("df -h", "Filesystem      Size  Used Avail Use% Mounted on\n"
                     "overlay         100G     0  100G   0% /\n"
                     "tmpfs            64M     0   64M   0% /dev\nshm              64M     0   64M   0% /dev/shm\n",
                     id="df -h"),
        pytest.param("for n in 1 2 3; do echo $n > /tmp/$n; done; df -h /tmp",
                     "Filesystem      Size  Used Avail Use% Mounted on\noverlay         100G   12K  100G   1% /\n",
                     id="df -h, a path"),
        pytest.param("df /", "Filesystem     1K-blocks  Used Available Use% Mounted on\n"
                     "overlay        104857600     0 104857600   0% /\n", id="df"),
        pytest.param("cd /tmp; for n in 1000 1025 10239 10241; do printf %${n}s '' > f; ls -lh f; done | "
                     "awk '{print $5}'", "1000\n1.1K\n10K\n11K\n", id="ls -h"),
        pytest.param("top -bn1 | grep MiB",
                     "MiB Mem :   8192.0 total,   7168.0 free,    512.0 used,    512.0 buff/cache\n"
                     "MiB Swap:      0.0 total,      0.0 free,      0.0 used.   7680.0 avail Mem\n", id="top"),
    ],
)  # fmt: skip
def test_how_gnu_tells_amounts(script: str, out: str) -> None:
    ran = sh(script, busybox=False, programs=frozenset({"top"}))

    assert (ran.out, ran.err) == (out, "")


def test_top_tells_the_memory_of_the_node() -> None:
    ran = sh("top -b -n1 | head -n 1", memory=4 << 30)

    assert ran.out == "Mem: 524288K used, 3670016K free, 1032K shrd, 32768K buff, 262144K cached\n"


@pytest.mark.parametrize(
    ("script", "busybox", "code", "message"),
    [
        pytest.param("ls /nope", True, 1, "ls: /nope: No such file or directory\n", id="ls"),
        pytest.param("ls /nope", False, 2, "ls: cannot access '/nope': No such file or directory\n", id="ls, GNU"),
        pytest.param("tar cf - /tmp/nope", True, 1, "tar: /tmp/nope: No such file or directory\n"
                     "tar: error exit delayed from previous errors\n", id="tar"),
        pytest.param("tar cf - /tmp/nope", False, 2, "tar: Removing leading `/' from member names\n"
                     "tar: /tmp/nope: Cannot stat: No such file or directory\n"
                     "tar: Exiting with failure status due to previous errors\n", id="tar, GNU"),
        pytest.param("cd /tmp; echo x > f; mkdir /d; tar cf - ../../tmp/f /tmp/../tmp/f ../tmp/f | tar xf - -C /d; "
                     "cat /d/tmp/f /nope", False, 1,
                     "tar: Removing leading `../../' from member names\n"
                     "tar: Removing leading `/tmp/../' from member names\n"
                     "tar: Removing leading `../' from member names\n"
                     "cat: /nope: No such file or directory\n", id="tar, above"),
        pytest.param("cd /tmp; echo x > f; tar cf - ../../tmp/f ../tmp/f | wc -c; cat /nope", True, 1,
                     "tar: removing leading '../../' from member names\n"
                     "cat: can't open '/nope': No such file or directory\n", id="tar, above, busybox"),
        pytest.param("find /nope", True, 1, "find: /nope: No such file or directory\n", id="find"),
        pytest.param("find / -nome x", True, 1, "find: unrecognized: -nome\n", id="find, unknown test"),
        pytest.param("grep x /nope", True, 2, "grep: /nope: No such file or directory\n", id="grep"),
        pytest.param("stat /nope", True, 1, "stat: can't stat '/nope': No such file or directory\n", id="stat"),
        pytest.param("sed s/a", True, 1, "sed: unterminated `s' command\n", id="sed"),
        pytest.param("awk '{print'", True, 1, "awk: cmd. line:1: syntax error\n", id="awk"),
        pytest.param("awk 'BEGIN {while (1) x++}'", True, 1,
                     "awk: cmd. line:1: this program takes too long to be simulated\n", id="awk without end"),
        pytest.param("ps", False, 127, "sh: 1: ps: not found\n", id="a slim image has no ps"),
    ],
)  # fmt: skip
def test_failures(script: str, busybox: bool, code: int, message: str) -> None:
    ran = sh(script, busybox=busybox)

    assert (ran.code, ran.err) == (code, message)


@pytest.mark.parametrize(
    ("argv", "image", "code", "out", "err"),
    [
        pytest.param(["nginx", "-v"], "docker.io/library/nginx:1.27", 0, "",
                     "nginx version: nginx/1.27.5\n", id="nginx -v"),
        pytest.param(["nginx", "-t"], "docker.io/library/nginx:1.27", 0, "",
                     "nginx: the configuration file /etc/nginx/nginx.conf syntax is ok\n"
                     "nginx: configuration file /etc/nginx/nginx.conf test is successful\n", id="nginx -t"),
        pytest.param(["redis-cli", "ping"], "docker.io/library/redis:7.2.4", 0, "PONG\n", "", id="redis-cli ping"),
        pytest.param(["redis-cli", "-p", "7000", "ping"], "docker.io/library/redis:7", 1, "",
                     "Could not connect to Redis at 127.0.0.1:7000: Connection refused\n", id="redis-cli, no server"),
        pytest.param(["redis-cli", "--version"], "docker.io/library/redis:7.2.4-alpine", 0, "redis-cli 7.2.4\n", "",
                     id="the tag says the version"),
        pytest.param(["pg_isready", "-U", "postgres"], "docker.io/library/postgres:17", 2,
                     "/var/run/postgresql:5432 - no response\n", "", id="pg_isready"),
        pytest.param(["psql", "--version"], "docker.io/library/postgres:latest", 0, "psql (PostgreSQL) 18.0\n", "",
                     id="psql"),
    ],
)  # fmt: skip
def test_programs_of_images_answer(argv: list[str], image: str, code: int, out: str, err: str) -> None:
    ran = run(argv, image=image, programs=frozenset({argv[0]}), listening={6379})

    assert (ran.code, ran.out, ran.err) == (code, out, err)


class _Names:
    """A network that knows one Service."""

    def resolve(self, name: str) -> list[str]:
        return ["10.96.0.7"] if name.startswith("web") else []

    def query(self, name: str, type: str) -> tuple[str, list[DnsRecord]]:
        full = name.rstrip(".") if "." in name else f"{name}.default.svc.cluster.local"
        data = {
            ("web.default.svc.cluster.local", "A"): "10.96.0.7",
            ("out.default.svc.cluster.local", "A"): "example.com.",
            ("_http._tcp.web.default.svc.cluster.local", "SRV"): "0 100 80 web.default.svc.cluster.local.",
            ("7.0.96.10.in-addr.arpa", "PTR"): "web.default.svc.cluster.local.",
        }.get((full, type))
        kind = "CNAME" if full.startswith("out") else type
        return "NOERROR" if data else "NXDOMAIN", [DnsRecord(full, kind, data, 30)] if data else []

    def full_name(self, name: str) -> str:
        return "web.default.svc.cluster.local"

    def ask(self, address: str, port: int, data: bytes) -> bytes:
        raise ConnectionRefusedError

    def pings(self, address: str) -> bool:
        return False


@pytest.mark.parametrize(
    ("script", "out"),
    [
        pytest.param("nslookup web", "Server:\t\t10.96.0.10\nAddress:\t10.96.0.10:53\n\n"
                     "Name:\tweb.default.svc.cluster.local\nAddress: 10.96.0.7\n\n", id="nslookup"),
        pytest.param("nslookup out", "Server:\t\t10.96.0.10\nAddress:\t10.96.0.10:53\n\n"
                     "out.default.svc.cluster.local\tcanonical name = example.com\n"
                     "** server can't find example.com: NXDOMAIN\n\n", id="a name of another"),
        pytest.param("nslookup -type=srv _http._tcp.web.default.svc.cluster.local | tail -2",
                     "_http._tcp.web.default.svc.cluster.local\tservice = 0 100 80 web.default.svc.cluster.local\n\n",
                     id="a port's record"),
        pytest.param("nslookup 10.96.0.7 | tail -2",
                     "7.0.96.10.in-addr.arpa\tname = web.default.svc.cluster.local\n\n", id="an address' name"),
        pytest.param("dig +short web; dig +search +short web", "10.96.0.7\n", id="dig, short"),
        pytest.param("dig +noall +answer -x 10.96.0.7",
                     "7.0.96.10.in-addr.arpa.\t30\tIN\tPTR\tweb.default.svc.cluster.local.\n", id="dig of an address"),
        pytest.param("dig nope | grep status", ";; ->>HEADER<<- opcode: QUERY, status: NXDOMAIN, id: 434\n", id="dig"),
        pytest.param("getent hosts web", "10.96.0.7         web.default.svc.cluster.local  web\n", id="getent"),
        pytest.param("redis-cli -h web ping; echo $?", "1\n", id="redis-cli elsewhere"),
    ],
)  # fmt: skip
def test_names_are_printed_in_full(script: str, out: str) -> None:
    """A busybox since 1.29."""
    assert sh(script, network=_Names(), programs=frozenset({"redis-cli", "dig"})).out == out


@pytest.mark.parametrize(
    ("image", "script", "out"),
    [
        pytest.param("docker.io/library/busybox:1.28", "nslookup web",
                     "Server:    10.96.0.10\nAddress 1: 10.96.0.10\n\n"
                     "Name:      web\nAddress 1: 10.96.0.7 web.default.svc.cluster.local\n", id="as pages print it"),
        pytest.param("docker.io/library/busybox:1.28.4", "nslookup nope 2>&1", "Server:    10.96.0.10\n"
                     "Address 1: 10.96.0.10\n\nnslookup: can't resolve 'nope'\n", id="no such name"),
        pytest.param("registry.k8s.io/busybox:1.27.2", "nslookup 10.96.0.7 | tail -n 2",
                     "Name:      10.96.0.7\nAddress 1: 10.96.0.7 web.default.svc.cluster.local\n", id="an address"),
        pytest.param("docker.io/library/busybox:1.36", "nslookup web | head -n 1", "Server:\t\t10.96.0.10\n",
                     id="newer"),
    ],
)  # fmt: skip
def test_nslookup_of_busybox_before_1_29(image: str, script: str, out: str) -> None:
    """The pages on debugging DNS and on StatefulSets run 1.28 for what it prints."""
    assert sh(script, network=_Names(), image=image).out == out
