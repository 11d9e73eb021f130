"""`config set-cluster|set-credentials|set-context|delete-*|rename-context`: kubeconfig files changed.

An entry is changed in the file that holds it; a new one goes into the first file.

Source of the behaviour: kubectl pkg/cmd/config and client-go tools/clientcmd/config.go (ModifyConfig).
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from engine.kubectl.command import Command
from engine.kubectl.errors import CommandError, MisusedError, UsageError
from engine.kubectl.flags import Flag, Type
from engine.kubectl.session import Session
from engine.kubectl.verbs.config_files import config_of, file_of


def _name(session: Session, noun: str, *, wrong: str = "Unexpected args") -> str:
    if len(session.arguments) != 1:
        raise MisusedError(f"{wrong}: [{' '.join(session.arguments)}]")
    if not session.arguments[0]:
        raise CommandError(f"you must specify a non-empty {noun} name")
    return session.arguments[0]


def _check_files(session: Session, *keys: str) -> None:
    """With --embed-certs there must be a file, and one that can be read. Raises CommandError."""
    if not session.flags.on("embed-certs"):
        return
    given = {key: path for key in keys if (path := session.flags.text(key))}
    if not given:
        raise CommandError(f"you must specify a {' or '.join(f'--{key}' for key in keys)} to embed")
    for key, path in given.items():
        try:
            Path(path).stat()
        except OSError as error:
            why = (error.strerror or "").lower()
            raise CommandError(f"could not stat {key} file {path}: stat {path}: {why}") from error


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
    else:
        value[key] = str(Path(path).absolute())  # an empty one is the folder that one is in


async def set_cluster(session: Session) -> None:
    name, config, flags = _name(session, "cluster"), config_of(session), session.flags
    if flags.on("insecure-skip-tls-verify") and flags.text("certificate-authority"):
        raise CommandError("you cannot specify a certificate authority and insecure mode at the same time")
    _check_files(session, "certificate-authority")
    file = file_of(config, "clusters", name)
    value = file.entry("clusters", name)
    for key in ("server", "tls-server-name", "proxy-url"):
        if flags.given(key):
            _put(value, key, flags.text(key))
    value.setdefault("server", "")
    if flags.given("server") and not flags.given("tls-server-name"):
        value.pop("tls-server-name", None)
    _put(value, "insecure-skip-tls-verify", flags.on("insecure-skip-tls-verify"))
    if flags.on("insecure-skip-tls-verify"):
        value.pop("certificate-authority", None)
        value.pop("certificate-authority-data", None)
    _put_file(session, value, "certificate-authority")
    file.save(relative=True)
    session.out(f'Cluster "{name}" set.')


async def set_credentials(session: Session) -> None:
    _check_credentials(session)
    name, config, flags = session.arguments[0], config_of(session), session.flags
    file = file_of(config, "users", name)
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
    _set_provider(session, value)
    _set_exec(session, value)
    file.save(relative=True)
    session.out(f'User "{name}" set.')


def _check_credentials(session: Session) -> None:
    """What is wrong with the flags, before anything is changed. Raises CommandError."""
    flags = session.flags
    if flags.given("exec-interactive-mode") and flags.text("exec-interactive-mode") not in _MODES:
        raise CommandError(f"invalid interactive mode type, can be only {', '.join(_MODES)}")
    for flag in ("auth-provider-arg", "exec-env"):
        for text in flags.many(flag):
            if "=" not in text and not text.endswith("-"):
                raise MisusedError(f"invalid {flag} format: {text}")
    _name(session, "user", wrong="unexpected args")
    if flags.text("token") and (flags.text("username") or flags.text("password")):
        raise CommandError(
            "you cannot specify more than one authentication method at the same time: --token, --username/--password"
        )
    _check_files(session, "client-certificate", "client-key")


def _set_provider(session: Session, value: dict[str, Any]) -> None:
    """The auth provider; arguments alone are for one that is there."""
    name = session.flags.text("auth-provider")
    if session.flags.given("auth-provider") and (value.get("auth-provider") or {}).get("name") != name:
        value["auth-provider"] = {"config": {}, "name": name}
    if provider := value.get("auth-provider"):
        settings = dict(provider.get("config") or {})
        for text in session.flags.many("auth-provider-arg"):
            key, equals, given = text.partition("=")
            if equals:
                settings[key] = given
            else:
                settings.pop(text.removesuffix("-"), None)
        if session.flags.given("auth-provider-arg"):
            provider["config"] = settings


def _set_exec(session: Session, value: dict[str, Any]) -> None:
    """The credential plugin: a command makes one, or takes the place of the one there is and its arguments."""
    flags = session.flags
    if flags.given("exec-command"):
        value.setdefault("exec", {}).update(command=flags.text("exec-command"), args=None)
    plugin = value.get("exec")
    if not plugin:
        return
    plugin.setdefault("env", None)
    plugin.setdefault("provideClusterInfo", False)
    for key, flag in (("apiVersion", "exec-api-version"), ("interactiveMode", "exec-interactive-mode")):
        if flags.given(flag):
            plugin[key] = flags.text(flag)
    if flags.given("exec-provide-cluster-info"):
        plugin["provideClusterInfo"] = flags.on("exec-provide-cluster-info")
    if flags.given("exec-arg"):
        plugin["args"] = flags.many("exec-arg")
    if flags.given("exec-env"):
        plugin["env"] = _environment(plugin["env"] or (), flags.many("exec-env"))


def _environment(present: Sequence[dict[str, str]], changes: Sequence[str]) -> list[dict[str, str]]:
    env = {one["name"]: one["value"] for one in present}
    for text in changes:
        key, equals, given = text.partition("=")
        if equals:
            env[key] = given
        else:
            env.pop(text.removesuffix("-"), None)
    return [{"name": key, "value": given} for key, given in env.items()]


async def set_context(session: Session) -> None:
    config, flags = config_of(session), session.flags
    if flags.on("current"):
        if session.arguments:
            raise CommandError("you cannot specify both a context name and --current")
        name = config.current_context
        if not name:
            raise CommandError("no current context is set")
    else:
        if len(session.arguments) > 1:
            raise MisusedError(f"Unexpected args: [{' '.join(session.arguments)}]")
        name = session.arguments[0] if session.arguments else ""
        if not name:
            raise CommandError("you must specify a non-empty context name or --current")
    known = name in config.contexts
    file = file_of(config, "contexts", name)
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
            if noun == "user":
                raise UsageError("user to delete is required")
            session.out(f"Usage:\n  {session.path} NAME [options]")  # which is no failure to kubectl
            return
        name, config = session.arguments[0], config_of(session)
        entries: dict[str, Any] = getattr(config, section)
        if name not in entries:
            raise CommandError(f"cannot delete {noun} {name}, not in {config.default_file}")
        if section == "contexts" and name == config.current_context:
            session.err(
                "warning: this removed your active context, use "
                f'"{session.program} config use-context" to select a different one'
            )
        file = file_of(config, section, name)
        file.remove(section, name)
        file.save()
        session.out(f"deleted {noun} {name} from {config.default_file}")

    return run


async def rename_context(session: Session) -> None:
    if len(session.arguments) != 2:
        raise MisusedError(f"Unexpected args: [{' '.join(session.arguments)}]")
    (old, new), config = session.arguments, config_of(session)
    if old not in config.contexts:
        raise CommandError(f'cannot rename the context "{old}", it\'s not in {config.default_file}')
    if new in config.contexts:
        raise CommandError(
            f'cannot rename the context "{old}", the context "{new}" already exists in {config.default_file}'
        )
    file = file_of(config, "contexts", old)
    value = file.entry("contexts", old)
    file.remove("contexts", old)
    file.entry("contexts", new).update(value)
    if config.current_context == old == file.document.get("current-context"):
        file.document["current-context"] = new
    file.save()
    session.out(f'Context "{old}" renamed to "{new}".')


_SET_CLUSTER = (
    "NAME [--server=server] [--certificate-authority=path/to/certificate/authority] "
    "[--insecure-skip-tls-verify=true] [--tls-server-name=example.com]"
)
_SET_CONTEXT = "[NAME | --current] [--cluster=cluster_nickname] [--user=user_nickname] [--namespace=namespace]"
_SET_CREDENTIALS = (
    "NAME [--client-certificate=path/to/certfile] [--client-key=path/to/keyfile] [--token=bearer_token] "
    "[--username=basic_user] [--password=basic_password] [--auth-provider=provider_name] "
    "[--auth-provider-arg=key=value] [--exec-command=exec_command] [--exec-api-version=exec_api_version] "
    "[--exec-arg=arg] [--exec-env=key=value]"
)
_MODES = ("IfAvailable", "Never", "Always")
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
    Command(name="set-cluster", short="Set a cluster entry in kubeconfig", usage=_SET_CLUSTER,
            run=set_cluster, flags=(_EMBED, Flag("proxy-url", help="A proxy to go through."))),
    Command(name="set-context", short="Set a context entry in kubeconfig", usage=_SET_CONTEXT,
            run=set_context, flags=(Flag("current", Type.BOOL, help="Change the current context."),)),
    Command(
        name="set-credentials", short="Set a user entry in kubeconfig", usage=_SET_CREDENTIALS,
        run=set_credentials,
        flags=(
            _EMBED,
            Flag("exec-api-version", help="The API version of the credential plugin."),
            Flag("auth-provider", help="The auth provider of the user."),
            Flag("auth-provider-arg", Type.STRINGS, help="An argument of the auth provider, KEY=VALUE or KEY-."),
            Flag("exec-interactive-mode", help="When the plugin may ask: Never, IfAvailable or Always."),
            Flag("exec-provide-cluster-info", Type.BOOL, help="Tell the plugin of the cluster."),
            Flag("exec-arg", Type.STRINGS, help="An argument of the credential plugin."),
            Flag("exec-command", help="The command of the credential plugin."),
            Flag("exec-env", Type.ARRAY, help="A variable of the credential plugin's environment."),
        ),
    ),
)  # fmt: skip
