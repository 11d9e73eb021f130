"""What is in an image's file system beside its programs: the directories of its distribution, `/etc/os-release`, and
the few files of servers that people look at. All containers of an image share them; what a container writes lies above.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from engine.kubelet.kernel import SYSCTLS, sysctl_path
from engine.kubelet.runtime import pages

_COMMON = "bin dev etc home lib lib64 proc root sys tmp usr usr/bin var var/log"
_DEBIAN = "boot media mnt opt run sbin srv usr/lib usr/local usr/local/bin usr/sbin usr/share var/cache var/lib var/tmp"
_DIRECTORIES = {
    "busybox": "bin dev etc home lib lib64 proc root sys tmp usr usr/sbin var var/log var/spool var/www",
    "alpine": f"{_COMMON} {_DEBIAN}".replace(" lib64", "").replace(" boot", ""),
    "debian": f"{_COMMON} {_DEBIAN}",
    "ubuntu": f"{_COMMON} {_DEBIAN}",
    "oracle": f"{_COMMON} {_DEBIAN}",
    "scratch": "dev etc proc sys tmp var var/log",
}
# On what an image stands, where it is not Debian.
_FAMILIES = {
    "busybox": "busybox",
    "prom/prometheus": "busybox",
    "mysql": "oracle",
    **dict.fromkeys(("ubuntu", "mariadb", "mongo", "rabbitmq"), "ubuntu"),
    **dict.fromkeys(("hello-world", "registry.k8s.io/pause", "hashicorp/http-echo"), "scratch"),
}
_OS_RELEASE = {
    "debian": """PRETTY_NAME="Debian GNU/Linux 13 (trixie)"
NAME="Debian GNU/Linux"
VERSION_ID="13"
VERSION="13 (trixie)"
VERSION_CODENAME=trixie
DEBIAN_VERSION_FULL=13.1
ID=debian
HOME_URL="https://www.debian.org/"
SUPPORT_URL="https://www.debian.org/support"
BUG_REPORT_URL="https://bugs.debian.org/"
""",
    "ubuntu": """PRETTY_NAME="Ubuntu 24.04.3 LTS"
NAME="Ubuntu"
VERSION_ID="24.04"
VERSION="24.04.3 LTS (Noble Numbat)"
VERSION_CODENAME=noble
ID=ubuntu
ID_LIKE=debian
HOME_URL="https://www.ubuntu.com/"
SUPPORT_URL="https://help.ubuntu.com/"
BUG_REPORT_URL="https://bugs.launchpad.net/ubuntu/"
PRIVACY_POLICY_URL="https://www.ubuntu.com/legal/terms-and-policies/privacy-policy"
UBUNTU_CODENAME=noble
LOGO=ubuntu-logo
""",
    "alpine": """NAME="Alpine Linux"
ID=alpine
VERSION_ID=3.22.1
PRETTY_NAME="Alpine Linux v3.22"
HOME_URL="https://alpinelinux.org/"
BUG_REPORT_URL="https://gitlab.alpinelinux.org/alpine/aports/-/issues"
""",
    "oracle": """NAME="Oracle Linux Server"
VERSION="9.6"
ID="ol"
ID_LIKE="fedora"
VARIANT="Server"
VARIANT_ID="server"
VERSION_ID="9.6"
PLATFORM_ID="platform:el9"
PRETTY_NAME="Oracle Linux Server 9.6"
ANSI_COLOR="0;31"
HOME_URL="https://linux.oracle.com/"
BUG_REPORT_URL="https://github.com/oracle/oracle-linux"
""",
}
_PASSWD = """root:x:0:0:root:/root:/bin/sh
daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin
nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin
"""
_GROUP = "root:x:0:\ndaemon:x:1:\nnogroup:x:65534:\n"
_NGINX_CONF = """
user  nginx;
worker_processes  auto;

error_log  /var/log/nginx/error.log notice;
pid        /run/nginx.pid;

events {
    worker_connections  1024;
}

http {
    include       /etc/nginx/mime.types;
    default_type  application/octet-stream;
    access_log    /var/log/nginx/access.log;
    sendfile           on;
    keepalive_timeout  65;
    include /etc/nginx/conf.d/*.conf;
}
"""
_NGINX_SERVER = """server {
    listen       80;
    listen  [::]:80;
    server_name  localhost;

    location / {
        root   /usr/share/nginx/html;
        index  index.html index.htm;
    }

    error_page   500 502 503 504  /50x.html;
    location = /50x.html {
        root   /usr/share/nginx/html;
    }
}
"""
_NGINX_TYPES = """types {
    text/html                 html htm;
    text/css                  css;
    application/javascript    js;
    application/json          json;
    image/png                 png;
    text/plain                txt;
}
"""
_SERVERS: Mapping[str, Mapping[str, str]] = {
    "nginx": {
        "/etc/nginx/conf.d/default.conf": _NGINX_SERVER,
        "/etc/nginx/mime.types": _NGINX_TYPES,
        "/etc/nginx/nginx.conf": _NGINX_CONF,
        "/usr/share/nginx/html/50x.html": pages.html("Error", "<h1>An error occurred.</h1>"),
        "/usr/share/nginx/html/index.html": pages.NGINX,
    },
    "httpd": {"/usr/local/apache2/htdocs/index.html": pages.HTTPD},
}
_SERVERS = {**_SERVERS, "nginxinc/nginx-unprivileged": _SERVERS["nginx"]}


class ImageTree(NamedTuple):
    files: Mapping[str, str]  # text by absolute path
    directories: frozenset[str]


@cache
def tree_of(image: str, busybox: bool) -> ImageTree:
    """The tree of an image by its familiar name; `busybox` where its tools are those of busybox."""
    family = _FAMILIES.get(image) or ("alpine" if busybox else "debian")
    if busybox and family not in ("busybox", "alpine"):
        family = "alpine"
    directories = {f"/{name}" for name in _DIRECTORIES[family].split()}
    files = dict(_SERVERS.get(image, {}))
    if family != "scratch":
        files["/etc/passwd"], files["/etc/group"] = _PASSWD, _GROUP
    if family in _OS_RELEASE:
        files["/etc/os-release"] = files["/usr/lib/os-release"] = _OS_RELEASE[family]
    if family == "alpine":
        files["/etc/alpine-release"] = "3.22.1\n"
    elif family == "debian":
        files["/etc/debian_version"] = "13.1\n"
    files.update((sysctl_path(name), f"{value}\n") for name, value in SYSCTLS.items())
    for path in files:
        while path := path.rpartition("/")[0]:
            directories.add(path)
    return ImageTree(files, frozenset({"/", *directories}))
