"""The words of `ktui store` before any of its commands sees them: flags that stand in front, and what is none.

etcdctl takes its global flags in front of a command too, and says in cobra's words what it does not know. Commands of
etcdctl that mean nothing for this store say so, and where to go instead.
"""

from __future__ import annotations

from typing import Any, NoReturn, cast

import typer
from typer.core import TyperGroup

from ktui.store.client import BAD_FEATURE, EtcdctlError
from ktui.store.command_line import FlagError, switch

# click's, which typer keeps in one place or another: what is wrong with the words of a command line.
_UsageError = cast("type[Exception]", typer.BadParameter.__mro__[1])
_IN_FRONT = ("--write-out", "-w", "--name")
_SWITCHES = {
    *(
        "--cluster",
        "--count-only",
        "--from-key",
        "--hex",
        "--ignore-lease",
        "--ignore-value",
        "--interactive",
        "--keys",
    ),
    *("--keys-only", "--once", "--physical", "--prefix", "--prev-kv", "--print-value-only", "--progress-notify"),
}

_RBAC = "the store has no users of its own: who may look into it is decided by RBAC, for the path /debug/ktui/store/*"
_MEMBERS = "who keeps the store is decided at the start (ktui up --etcd-members 1|3|5), or is a real etcd's own affair"
_LOCKS = "the store gives no locks: what elects a leader among programs is a Lease (kubectl get leases)"
_MEANINGLESS = {
    "store auth": _RBAC,
    "store user": _RBAC,
    "store role": _RBAC,
    "store lock": _LOCKS,
    "store elect": _LOCKS,
    "store make-mirror": "a copy is made with ktui store snapshot save, and kept up with ktui store watch -w json",
    "store check": "how long commits take is told by the Store screen and /debug/ktui/store/status",
    "store migrate": "there is no older store to come from",
    "store downgrade": "the store has one version",
    "store version": "ktui --version prints ktui's",
    "store completion": "there is no completion for etcdctl's words",
    "store member add": _MEMBERS,
    "store member remove": _MEMBERS,
    "store member update": _MEMBERS,
    "store member promote": _MEMBERS,
}
_OF_A_CONNECTION = {
    *("--cacert", "--cert", "--command-timeout", "--debug", "--dial-timeout", "--discovery-srv", "--endpoints"),
    *("--discovery-srv-name", "--insecure-discovery", "--insecure-skip-tls-verify", "--insecure-transport", "--key"),
    *("--keepalive-time", "--keepalive-timeout", "--password", "--user"),
}


class EtcdctlGroup(TyperGroup):
    """`ktui store`: what is wrong anywhere below it is told as etcdctl tells it."""

    def make_context(self, info_name: Any, args: list[str], parent: Any = None, **extra: Any) -> Any:
        try:
            return super().make_context(info_name, _as_pflag_takes(args), parent=parent, **extra)
        except _UsageError as error:
            _tell(error)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except _UsageError as error:
            _tell(error)


def _as_pflag_takes(args: list[str]) -> list[str]:
    """The words in the form in which click takes them. Raises EtcdctlError."""
    end = args.index("--") if "--" in args else len(args)
    ahead = [form for word in args[:end] for form in _forms(word)]
    return _front_to_back([*ahead, *args[end:]])


def _forms(word: str) -> list[str]:
    """A switch may be given its value, and a short flag's may stand behind `=`."""
    flag, given, value = word.partition("=")
    if given and flag == "-w":
        return [flag, value]
    if not given or flag not in _SWITCHES:
        return [word]
    try:
        return [flag] if switch(flag[2:], value) else []
    except FlagError as error:
        raise EtcdctlError(str(error)) from None


def _front_to_back(args: list[str]) -> list[str]:
    """Flags in front of a command behind its words, where it looks for them."""
    flags: list[str] = []
    rest = list(args)
    while rest and rest[0].startswith(_IN_FRONT):
        count = 2 if rest[0] in _IN_FRONT else 1
        flags, rest = flags + rest[:count], rest[count:]
    if not rest:
        return args
    end = rest.index("--") if "--" in rest else len(rest)
    return [*rest[:end], *flags, *rest[end:]]


def _tell(error: Any) -> NoReturn:
    """Raises EtcdctlError; of a word that only stands before others the help is printed, as etcdctl does."""
    if type(error).__name__ == "NoArgsIsHelpError":
        typer.echo(error.ctx.get_help())
        raise typer.Exit
    path = "ktui " + _path(error.ctx)
    option = getattr(error, "option_name", None)
    command = error.message.partition("No such command '")[2].partition("'")[0]
    if command:
        words = f"{_path(error.ctx)} {command}"
        if words in _MEANINGLESS:
            its_own = words.removeprefix("store ")
            raise EtcdctlError(f"etcdctl's {its_own} means nothing here: {_MEANINGLESS[words]}", BAD_FEATURE) from None
        message = f'unknown command "{command}" for "{path}"\nRun \'{path} --help\' for usage.'
    elif option is not None:
        message = _of_option(option, error.message)
    elif type(error).__name__ == "MissingParameter" and error.param is not None and error.param.name == "name":
        message = 'required flag(s) "name" not set'
    else:
        message = error.format_message().rstrip(".")
    raise EtcdctlError(message) from None


def _path(context: Any) -> str:
    """The words that led to a command, from `store` on."""
    words: list[str] = []
    while context is not None and context.parent is not None:
        words.insert(0, context.info_name)
        context = context.parent
    return " ".join(words)


def _of_option(option: str, message: str) -> str:
    shown = option if option.startswith("--") else f"'{option[1:2]}' in {option}"
    if "requires an argument" in message:
        return f"flag needs an argument: {shown}"
    if option in _OF_A_CONNECTION:
        return f"{option} means nothing here: ktui store asks the API server of the cluster that --name names"
    if option.startswith("--"):
        return f"unknown flag: {option}"
    return f"unknown shorthand flag: {shown}"
