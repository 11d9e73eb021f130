"""`config set-cluster|set-credentials|set-context|set|unset|delete-*|rename-context`: kubeconfig files changed.

An entry is changed in the file that holds it; a new one goes into the first file.

Source of the behaviour: kubectl pkg/cmd/config and client-go tools/clientcmd/config.go (ModifyConfig).
"""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

from engine.client.kubeconfig import KEYS, SECTIONS, KubeConfig, read_document, write
from engine.kubectl.command import Command
from engine.kubectl.errors import CommandError, UsageError
from engine.kubectl.flags import Flag, Type
from engine.kubectl.session import Session


def config_of(session: Session) -> KubeConfig:
    if session.kubeconfig is None:
        return KubeConfig.load(session.flags.text("kubeconfig"), environment=session.environment)
    return session.kubeconfig


class _File:
    """The document of one file, changed and written back."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.document: dict[str, Any] = read_document(path) or {"apiVersion": "v1", "kind": "Config"}

    def entries(self, section: str) -> list[dict[str, Any]]:
        if not self.document.get(section):
            self.document[section] = []
        entries: list[dict[str, Any]] = self.document[section]
        return entries

    def entry(self, section: str, name: str) -> dict[str, Any]:
        """The value of an entry; a new one where there is none."""
        key = KEYS[section]
        found = next((e for e in self.entries(section) if e.get("name") == name), None)
        if found is None:
            found = {key: {}, "name": name}
            self.entries(section).append(found)
            self.entries(section).sort(key=lambda e: str(e["name"]))
        if not found.get(key):
            found[key] = {}
        value: dict[str, Any] = found[key]
        return value

    def remove(self, section: str, name: str) -> None:
        self.document[section] = [e for e in self.entries(section) if e.get("name") != name]

    def save(self) -> None:
        write(self.path, self.document)


def _file_of(config: KubeConfig, section: str, name: str) -> _File:
    return _File(config.origins.get((section, name)) or config.files[0])


def _name(session: Session) -> str:
    if len(session.arguments) != 1:
        raise UsageError(f"Unexpected args: [{' '.join(session.arguments)}]")
    return session.arguments[0]


def _put(value: dict[str, Any], key: str, given: Any) -> None:
    """Set a value; an empty one is left out of the file."""
    if given in ("", None, False, []):
        value.pop(key, None)
    else:
        value[key] = given


def _put_file(session: Session, value: dict[str, Any], key: str) -> None:
    """A file by its path, or with --embed-certs its content."""
    if not session.flags.given(key):
        return
    path = session.flags.text(key)
    value.pop(f"{key}-data", None)
    value.pop(key, None)
    if path and session.flags.on("embed-certs"):
        try:
            value[f"{key}-data"] = base64.b64encode(Path(path).read_bytes()).decode()
        except OSError as error:
            why = (error.strerror or "").lower()
            raise CommandError(f"could not read {key} data from {path}: open {path}: {why}") from error
    elif path:
        value[key] = str(Path(path).absolute())


async def set_cluster(session: Session) -> None:
    name, config, flags = _name(session), config_of(session), session.flags
    file = _file_of(config, "clusters", name)
    value = file.entry("clusters", name)
    for key in ("server", "tls-server-name", "proxy-url"):
        if flags.given(key):
            _put(value, key, flags.text(key))
    if flags.given("insecure-skip-tls-verify"):
        _put(value, "insecure-skip-tls-verify", flags.on("insecure-skip-tls-verify"))
        if flags.on("insecure-skip-tls-verify"):
            value.pop("certificate-authority", None)
            value.pop("certificate-authority-data", None)
    if flags.text("certificate-authority") or flags.text("tls-server-name"):
        value.pop("insecure-skip-tls-verify", None)
    _put_file(session, value, "certificate-authority")
    file.save()
    session.out(f'Cluster "{name}" set.')


async def set_credentials(session: Session) -> None:
    name, config, flags = _name(session), config_of(session), session.flags
    file = _file_of(config, "users", name)
    value = file.entry("users", name)
    _put_file(session, value, "client-certificate")
    _put_file(session, value, "client-key")
    if flags.given("token"):
        _put(value, "token", flags.text("token"))
        for key in ("username", "password") if flags.text("token") else ():
            value.pop(key, None)
    for key in ("username", "password"):
        if flags.given(key):
            _put(value, key, flags.text(key))
            if flags.text(key):
                value.pop("token", None)
    _set_exec(session, value)
    file.save()
    session.out(f'User "{name}" set.')


def _set_exec(session: Session, value: dict[str, Any]) -> None:
    flags = session.flags
    if not any(flags.given(f"exec-{name}") for name in ("command", "api-version", "arg", "env")):
        return
    plugin = value.setdefault("exec", {})
    for key, flag in (("command", "exec-command"), ("apiVersion", "exec-api-version")):
        if flags.given(flag):
            plugin[key] = flags.text(flag)
    if flags.given("exec-arg"):
        plugin["args"] = flags.many("exec-arg")
    plugin.setdefault("args", None)
    plugin.setdefault("provideClusterInfo", False)
    env = {e["name"]: e["value"] for e in plugin.get("env") or ()}
    for text in flags.many("exec-env"):
        key, equals, given = text.partition("=")
        if equals:
            env[key] = given
        else:
            env.pop(key.removesuffix("-"), None)
    plugin["env"] = [{"name": key, "value": given} for key, given in env.items()] or None


async def set_context(session: Session) -> None:
    config, flags = config_of(session), session.flags
    if flags.on("current"):
        if session.arguments:
            raise CommandError("you cannot specify both a context name and --current")
        name = config.current_context
        if not name:
            raise CommandError("no current context is set")
    else:
        name = _name(session)
    known = name in config.contexts
    file = _file_of(config, "contexts", name)
    value = file.entry("contexts", name)
    value.setdefault("cluster", "")
    value.setdefault("user", "")
    for key in ("cluster", "user"):
        if flags.given(key):
            value[key] = flags.text(key)
    if flags.given("namespace"):
        _put(value, "namespace", flags.text("namespace"))
    file.save()
    session.out(f'Context "{name}" {"modified" if known else "created"}.')


def _remover(section: str, noun: str) -> Any:
    async def run(session: Session) -> None:
        if len(session.arguments) != 1:
            raise UsageError(f"Unexpected args: [{' '.join(session.arguments)}]")
        name, config = session.arguments[0], config_of(session)
        entries: dict[str, Any] = getattr(config, section)
        if name not in entries:
            raise CommandError(f"cannot delete {noun} {name}, not in {config.files[0]}")
        if section == "contexts" and name == config.current_context:
            session.err(
                "warning: this removed your active context, use "
                f'"{session.program} config use-context" to select a different one'
            )
        file = _file_of(config, section, name)
        file.remove(section, name)
        file.save()
        session.out(f"deleted {noun} {name} from {config.files[0]}")

    return run


async def rename_context(session: Session) -> None:
    if len(session.arguments) != 2:
        raise UsageError(f"Unexpected args: [{' '.join(session.arguments)}]")
    (old, new), config = session.arguments, config_of(session)
    if old not in config.contexts:
        raise CommandError(f'cannot rename the context "{old}", it\'s not in {config.files[0]}')
    if new in config.contexts:
        raise CommandError(
            f'cannot rename the context "{old}", the context "{new}" already exists in {config.files[0]}'
        )
    file = _file_of(config, "contexts", old)
    value = file.entry("contexts", old)
    file.remove("contexts", old)
    file.entry("contexts", new).update(value)
    if file.document.get("current-context") == old:
        file.document["current-context"] = new
    file.save()
    session.out(f'Context "{old}" renamed to "{new}".')


# -- single properties


async def set_property(session: Session) -> None:
    if len(session.arguments) != 2:
        raise UsageError(f"Unexpected args: [{' '.join(session.arguments)}]")
    path, given = session.arguments
    _change(session, path, given)
    session.out(f'Property "{path}" set.')


async def unset_property(session: Session) -> None:
    if len(session.arguments) != 1:
        raise UsageError(f"Unexpected args: [{' '.join(session.arguments)}]")
    _change(session, session.arguments[0], None)
    session.out(f'Property "{session.arguments[0]}" unset.')


def _change(session: Session, path: str, given: str | None) -> None:
    """Set or take away what a path such as `clusters.NAME.server` names. Raises CommandError."""
    config, parts = config_of(session), path.split(".")
    if parts[0] == "current-context":
        file = _File(config.files[0])
        file.document["current-context"] = given or ""
        file.save()
        return
    if parts[0] not in SECTIONS:
        raise CommandError(f"unable to parse {path} after [] at api.Config")
    known: dict[str, Any] = getattr(config, parts[0])
    if len(parts) == 1:
        if given is not None:
            raise CommandError("can't set a map to a value")
        for name in list(known):
            file = _file_of(config, parts[0], name)
            file.remove(parts[0], name)
            file.save()
        return
    name, *rest = _named(parts[1:], known)
    file = _file_of(config, parts[0], name)
    if not rest:
        file.remove(parts[0], name)
    elif given is None:
        file.entry(parts[0], name).pop(rest[0], None)
    else:
        value = file.entry(parts[0], name)
        if parts[0] == "contexts":
            value.setdefault("cluster", "")
            value.setdefault("user", "")
        elif parts[0] == "clusters":
            value.setdefault("server", "")
        value[rest[0]] = given == "true" if rest[0] == "insecure-skip-tls-verify" else given
    file.save()


def _named(parts: list[str], known: dict[str, Any]) -> list[str]:
    """An entry's name, which may hold dots itself, and what follows it."""
    for end in range(len(parts), 0, -1):
        if (name := ".".join(parts[:end])) in known:
            return [name, *parts[end:]]
    return [".".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts


_EMBED = Flag("embed-certs", Type.BOOL, help="Put the files' content into the kubeconfig.")
CHANGES = (
    Command(name="delete-cluster", short="Delete the specified cluster from the kubeconfig", usage="NAME",
            run=_remover("clusters", "cluster")),
    Command(name="delete-context", short="Delete the specified context from the kubeconfig", usage="NAME",
            run=_remover("contexts", "context")),
    Command(name="delete-user", short="Delete the specified user from the kubeconfig", usage="NAME",
            run=_remover("users", "user")),
    Command(name="rename-context", short="Rename a context from the kubeconfig file",
            usage="CONTEXT_NAME NEW_NAME", run=rename_context),
    Command(name="set", short="Set an individual value in a kubeconfig file", usage="PROPERTY_NAME PROPERTY_VALUE",
            run=set_property),
    Command(name="set-cluster", short="Set a cluster entry in kubeconfig", usage="NAME [--server=server]",
            run=set_cluster, flags=(_EMBED, Flag("proxy-url", help="A proxy to go through."))),
    Command(name="set-context", short="Set a context entry in kubeconfig", usage="[NAME | --current]",
            run=set_context, flags=(Flag("current", Type.BOOL, help="Change the current context."),)),
    Command(
        name="set-credentials", short="Set a user entry in kubeconfig", usage="NAME", run=set_credentials,
        flags=(
            _EMBED,
            Flag("exec-api-version", help="The API version of the credential plugin."),
            Flag("exec-arg", Type.STRINGS, help="An argument of the credential plugin."),
            Flag("exec-command", help="The command of the credential plugin."),
            Flag("exec-env", Type.ARRAY, help="A variable of the credential plugin's environment."),
        ),
    ),
    Command(name="unset", short="Unset an individual value in a kubeconfig file", usage="PROPERTY_NAME",
            run=unset_property),
)  # fmt: skip
