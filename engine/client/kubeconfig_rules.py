"""What is wrong with the cluster or the user of a kubeconfig, all of it (client-go tools/clientcmd/validation.go)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from engine.api.golang import url as go_url
from engine.api.golang.text import quoted

_MODES = ("Never", "IfAvailable", "Always")
_PROXIES = ("http", "https", "socks5")


def cluster_problems(name: str, cluster: Mapping[str, Any]) -> Iterator[str]:
    if (proxy := cluster.get("proxy-url")) and (why := proxy_problem(proxy)):
        yield f"invalid 'proxy-url' {quoted(proxy)} for cluster {quoted(name)}: {why}"
    authority = cluster.get("certificate-authority")
    if authority and cluster.get("certificate-authority-data"):
        yield (
            f"certificate-authority-data and certificate-authority are both specified for {name}. "
            "certificate-authority-data will override."
        )
    yield from _unreadable("certificate-authority", authority, name)


def proxy_problem(url: str) -> str:
    try:
        scheme = go_url.parse(url).scheme
    except ValueError:
        return f"could not parse: {url}"
    return "" if scheme in _PROXIES else f"unsupported scheme {quoted(scheme)}, must be http, https, or socks5"


def user_problems(name: str, user: Mapping[str, Any]) -> Iterator[str]:
    yield from _certificate_problems(name, user)
    if (plugin := user.get("exec")) is not None:
        yield from _plugin_problems(name, plugin, user)
    if user.get("token") and (user.get("username") or user.get("password")):
        yield (f"more than one authentication method found for {name}; found [token basicAuth], only one is allowed")
    if not user.get("as") and any(user.get(field) for field in ("as-groups", "as-user-extra", "as-uid")):
        yield f"requesting uid, groups or user-extra for {name} without impersonating a user"


def _certificate_problems(name: str, user: Mapping[str, Any]) -> Iterator[str]:
    file, data = user.get("client-certificate"), user.get("client-certificate-data")
    key, key_data = user.get("client-key"), user.get("client-key-data")
    if not file and not data:
        return
    if file and data:
        yield f"client-cert-data and client-cert are both specified for {name}. client-cert-data will override."
    if key and key_data:
        yield f"client-key-data and client-key are both specified for {name}; client-key-data will override"
    if not key and not key_data:
        yield (
            f"client-key-data or client-key must be specified for {name} to use the clientCert authentication method."
        )
    yield from _unreadable("client-cert", file, name)
    yield from _unreadable("client-key", key, name)


def _unreadable(what: str, file: str | None, name: str) -> Iterator[str]:
    if not file:
        return
    try:
        open(file, "rb").close()
    except IsADirectoryError:
        return  # Go opens folders too
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        yield f"unable to read {what} {file} for {name} due to open {file}: {why}"


def _plugin_problems(name: str, plugin: Mapping[str, Any], user: Mapping[str, Any]) -> Iterator[str]:
    if user.get("auth-provider") is not None:
        yield f"authProvider cannot be provided in combination with an exec plugin for {name}"
    for field in ("command", "apiVersion"):
        if not plugin.get(field):
            yield f"{field} must be specified for {name} to use exec authentication plugin"
    for variable in plugin.get("env") or ():
        if not variable.get("name"):
            yield f"env variable name must be specified for {name} to use exec authentication plugin"
    mode = plugin.get("interactiveMode")
    if not mode:
        yield f"interactiveMode must be specified for {name} to use exec authentication plugin"
    elif mode not in _MODES:
        yield f"invalid interactiveMode for {name}: {quoted(mode)}"
