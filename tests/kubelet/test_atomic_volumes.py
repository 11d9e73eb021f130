"""Files of ConfigMaps and their like in containers: a directory of a time, links to it, and what a change does."""

from __future__ import annotations

import base64
import re

import pytest

from engine.api.types import CONFIGMAPS, SECRETS, Object
from engine.world import World
from tests.kubelet.node import Node, running
from tests.kubelet.shells import sh

_TIMES = re.compile(r"\.\.\d{4}(_\d\d){5}\.\d+")
_MOMENTS = re.compile(r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d")


async def _filled(node: Node) -> None:
    meta: Object = {"name": "settings"}
    data = {"color": "red", "size": "10"}
    made: Object = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data}
    await node.admin.create(CONFIGMAPS, made, namespace="default")
    data = {"key": base64.b64encode(b"hidden").decode()}
    made = {"apiVersion": "v1", "kind": "Secret", "metadata": meta, "data": data}
    await node.admin.create(SECRETS, made, namespace="default")


VOLUMES: list[Object] = [
    {"name": "map", "configMap": {"name": "settings"}},
    {"name": "none", "configMap": {"name": "gone", "optional": True}},
    {"name": "secret", "secret": {"secretName": "settings", "defaultMode": 0o400}},
    {"name": "deep", "configMap": {"name": "settings", "items": [{"key": "color", "path": "a/b/c", "mode": 0o600}]}},
    {"name": "info", "downwardAPI": {"items": [{"path": "name", "fieldRef": {"fieldPath": "metadata.name"}}]}},
]
# What each command prints, times in names and of files apart.
SEEN = {
    "ls /m/map": ["color", "size"],
    "ls -A /m/map": ["..TIME", "..data", "color", "size"],
    "ls -la /m/map": [
        "total 12",
        "drwxrwxrwx    3 root     root          4096 WHEN .",
        "drwxr-xr-x    7 root     root          4096 WHEN ..",
        "drwxr-xr-x    2 root     root          4096 WHEN ..TIME",
        "lrwxrwxrwx    1 root     root            32 WHEN ..data -> ..TIME",
        "lrwxrwxrwx    1 root     root            12 WHEN color -> ..data/color",
        "lrwxrwxrwx    1 root     root            11 WHEN size -> ..data/size",
    ],
    "ls -l /m/map/": [
        "total 0",
        "lrwxrwxrwx    1 root     root            12 WHEN color -> ..data/color",
        "lrwxrwxrwx    1 root     root            11 WHEN size -> ..data/size",
    ],
    "ls -l /m/map/color": ["lrwxrwxrwx    1 root     root            12 WHEN /m/map/color -> ..data/color"],
    "ls -l /m/secret/..data/": ["total 4", "-r--------    1 root     root             6 WHEN key"],
    "ls -lL /m/secret/key": ["-r--------    1 root     root             6 WHEN /m/secret/key"],
    "ls -ld /m/secret /m/info": [
        "drwxrwxrwt    3 root     root          4096 WHEN /m/info",
        "drwxrwxrwt    3 root     root          4096 WHEN /m/secret",
    ],
    "ls -A /m/none": ["..TIME", "..data"],
    "ls -F /m/map": ["color@", "size@"],
    "find /m/map": ["/m/map", "/m/map/..TIME", "/m/map/..TIME/color", "/m/map/..TIME/size", "/m/map/..data",
                    "/m/map/color", "/m/map/size"],
    "find /m/map -type l": ["/m/map/..data", "/m/map/color", "/m/map/size"],
    "find /m/map -type f": ["/m/map/..TIME/color", "/m/map/..TIME/size"],
    "find -L /m/deep -type f": ["/m/deep/..TIME/a/b/c", "/m/deep/..data/a/b/c", "/m/deep/a/b/c"],
    "readlink /m/map/color": ["..data/color"],
    "readlink /m/map/..data": ["..TIME"],
    "readlink -f /m/map/color": ["/m/map/..TIME/color"],
    "realpath /m/deep/a/b/c": ["/m/deep/..TIME/a/b/c"],
    "readlink /m/deep/a/b/c || echo no link": ["no link"],
    "readlink /m/deep/a": ["..data/a"],
    "cat /m/map/color /m/map/..data/size /m/deep/a/b/c": ["red10red"],
    "cat /m/map/*": ["red10"],
    "echo /m/map/* /m/map/..d* /m/deep/*/b/*": ["/m/map/color /m/map/size /m/map/..data /m/deep/a/b/c"],
    "cd /m/map; for f in *; do echo $f=$(cat $f); done": ["color=red", "size=10"],
    "test -L /m/map/color && test -h /m/map/..data && test -f /m/map/color && test -d /m/map/..data && echo yes":
        ["yes"],
    "test -L /m/deep/a/b/c || echo no": ["no"],
    "stat -c '%N %F %a %s' /m/map/color": ["'/m/map/color' -> '..data/color' symbolic link 777 12"],
    "stat -Lc '%n %F %a %s' /m/map/color /m/deep/a/b/c":
        ["/m/map/color regular file 644 3", "/m/deep/a/b/c regular file 600 3"],
    "grep -r e /m/map": ["/m/map/..TIME/color:red"],
    "rm /m/map/color": ["rm: can't remove '/m/map/color': Read-only file system"],
    "rm -rf /m/map/..data; ls /m/map": ["rm: can't remove '/m/map/..data': Read-only file system", "color", "size"],
    "tar cf - /m/map/color 2>/dev/null | wc -c": ["10240"],
    "cat /m/name": ["web"],
    "ls -l /m/name": ["-rw-r--r--    1 root     root             3 WHEN /m/name"],
}  # fmt: skip


async def test_files_stand_behind_links_as_a_kubelet_writes_them(world: World) -> None:
    async with running(world) as node:
        await _filled(node)
        mounts = [{"name": each["name"], "mountPath": f"/m/{each['name']}"} for each in VOLUMES]
        mounts.append({"name": "info", "mountPath": "/m/name", "subPath": "name"})
        script = "\n".join(f"echo '#'; ({command}) 2>&1; echo" for command in SEEN)
        container = {"name": "web", "image": "busybox:1.36", "command": ["sh", "-c", script], "volumeMounts": mounts}
        await node.run(containers=[container], volumes=VOLUMES, restartPolicy="Never")
        await node.in_phase("Succeeded")

        printed = _MOMENTS.sub("WHEN", _TIMES.sub("..TIME", "\n".join(node.logs("web"))))
        printed = re.sub(r"\d+ (?=WHEN \.\.data ->)", "32 ", printed)  # as long as the name of the directory
        said = [[line for line in part.splitlines() if line] for part in printed.split("#\n")[1:]]
        assert dict(zip(SEEN, said, strict=True)) == SEEN


async def test_a_change_leads_all_files_to_another_directory_at_once(world: World) -> None:
    """But for a file that is mounted by a subPath, and nothing is written where nothing has changed."""
    async with running(world) as node:
        await _filled(node)
        mounts = [{"name": "map", "mountPath": "/map"}, {"name": "map", "mountPath": "/one", "subPath": "color"}]
        script = "while true; do echo $(readlink /map/..data) $(ls /map) $(cat /map/color /one); sleep 30; done"
        container = {"name": "web", "image": "busybox:1.36", "command": ["sh", "-c", script], "volumeMounts": mounts}
        await node.run(containers=[container], volumes=VOLUMES[:1])
        await node.ready()
        await node.sleep(200)
        change: Object = {"data": {"color": "blue", "size": None, "shape": "round"}}
        await node.admin.patch(CONFIGMAPS, "settings", change, namespace="default")
        await node.sleep(130)

        lines = [line.partition(" ") for line in node.logs("web")]
        first, last = lines[0], lines[-1]
        assert first[2] == "color size redred"
        assert last[2] == "color shape bluered"
        assert list(dict.fromkeys(line[0] for line in lines)) == [first[0], last[0]]


@pytest.mark.parametrize(
    ("script", "out", "err"),
    [
        pytest.param("cd /tmp; echo a > f; ln -s f g; cat g; echo b > g; cat f; readlink g", "a\nb\nf\n", "", id="ln"),
        pytest.param("cd /tmp; ln -s f g; test -e g || test -L g && echo dangling", "dangling\n", "", id="dangling"),
        pytest.param("cd /tmp; ln -s f g; cat g", "", "cat: can't open 'g': No such file or directory\n", id="nothing"),
        pytest.param("cd /tmp; ln -s b a; ln -s a b; cat a", "", "cat: can't open 'a': No such file or directory\n",
                     id="a loop"),
        pytest.param("cd /tmp; ln -s x g; ln -s y g", "", "ln: /tmp/g: File exists\n", id="ln twice"),
        pytest.param("cd /tmp; ln -s x g; ln -sf y g; readlink g", "y\n", "", id="ln -f"),
        pytest.param("cd /tmp; echo a > f; ln -s f g; rm g; ls; cat f", "f\na\n", "", id="rm takes the link"),
        pytest.param("mkdir /tmp/d; ln -s /tmp/d /l; echo x > /l/f; cat /tmp/d/f; ls /l; ls -d /l", "x\nf\n/l\n", "",
                     id="of a directory"),
        pytest.param("ls -a / >/dev/null; echo /tm*/.; echo .* | wc -w", "/tmp/.\n1\n", "", id="patterns and dots"),
    ],
)  # fmt: skip
def test_a_shell_goes_by_symbolic_links(script: str, out: str, err: str) -> None:
    ran = sh(script)
    assert (ran.out, ran.err) == (out, err)
