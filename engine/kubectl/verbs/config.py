"""`config`: look at kubeconfig files and choose a context.

Source of the behaviour: kubectl pkg/cmd/config.
"""

from __future__ import annotations

import base64
import copy
from dataclasses import replace
from typing import Any

from engine.client.kubeconfig import KubeConfig
from engine.kubectl.command import Command
from engine.kubectl.errors import CommandError, MisusedError, UsageError, of
from engine.kubectl.flags import Flag, Type
from engine.kubectl.flagsets import PRINT
from engine.kubectl.printers.objects import structured_printer, unknown_format
from engine.kubectl.printers.tabwriter import ColumnWriter
from engine.kubectl.session import Session
from engine.kubectl.verbs.config_changes import CHANGES
from engine.kubectl.verbs.config_files import config_of
from engine.kubectl.verbs.config_properties import PROPERTIES

SECRET = ("certificate-authority-data", "client-certificate-data", "client-key-data")


async def view(session: Session) -> None:
    if session.arguments:
        raise UsageError(f"unexpected arguments: [{' '.join(session.arguments)}]")
    if not session.flags.on("merge") and not session.flags.text("kubeconfig"):
        raise CommandError("if merge==false a precise file must be specified")
    if session.flags.text("template") and not session.flags.given("output"):
        session.flags.preset("output", "go-template")
    printer = structured_printer(session, typed=True)
    if printer is None and session.flags.text("output") != "name":
        raise unknown_format(session.flags.text("output"))
    config, flatten = config_of(session), session.flags.on("flatten")
    document = copy.deepcopy(config.document())
    if context := session.flags.text("context"):
        document["current-context"] = context
    if session.flags.on("minify"):
        document = _minified(document)
    if flatten:
        _embed(document, config)
    elif not session.flags.on("raw"):
        _hide(document)
    if printer is None:
        session.out("config/<unknown>")  # a configuration has no name
        return
    printer(document)


def _minified(document: dict[str, Any]) -> dict[str, Any]:
    """Only what the current context uses."""
    contexts = {entry["name"]: entry["context"] for entry in document["contexts"] or ()}
    current = document["current-context"]
    if not current:
        raise CommandError("current-context must exist in order to minify")
    if current not in contexts:
        raise CommandError(f"cannot locate context {current}")
    used = {"contexts": current, "clusters": contexts[current].get("cluster"), "users": contexts[current].get("user")}
    for section, name in used.items():
        document[section] = [entry for entry in document[section] or () if name and entry["name"] == name] or None
        if name and document[section] is None:
            raise CommandError(f"cannot locate {section.removesuffix('s')} {name}")
    return document


def _embed(document: dict[str, Any], config: KubeConfig) -> None:
    """The content of files in their place (clientcmd's FlattenConfig). Raises CommandError."""
    for section, key in (("users", "user"), ("clusters", "cluster")):
        for entry in document[section] or ():
            values = entry[key]
            for data in SECRET:
                path = values.get(data.removesuffix("-data"))
                if path and values.get(data):
                    raise CommandError("cannot have values for both path and contents")
                if not path:
                    continue
                path = config.origins[section, entry["name"]].parent / path
                try:
                    values[data] = base64.b64encode(path.read_bytes()).decode()
                except OSError as error:
                    raise CommandError(f"open {path}: {(error.strerror or '').lower()}") from error
                del values[data.removesuffix("-data")]


def _hide(document: dict[str, Any]) -> None:
    for section, key in (("clusters", "cluster"), ("users", "user")):
        for entry in document[section] or ():
            values = entry[key]
            for name in SECRET:
                if values.get(name):
                    values[name] = "DATA+OMITTED"
            for name in ("token", "password"):
                if values.get(name):
                    values[name] = "REDACTED"


async def get_contexts(session: Session) -> None:
    output = session.flags.text("output")
    if output not in ("", "name"):
        raise CommandError(
            f"--output {output} is not available in {session.program} config get-contexts; "
            "resetting to default output format"
        )
    config = config_of(session)
    names = session.arguments or sorted(config.contexts)
    known = [name for name in names if name in config.contexts]
    if output == "name":
        for name in known:
            session.out(name)
    else:
        rows = [_row(config, name) for name in known]
        if not session.flags.on("no-headers"):
            rows.insert(0, ["CURRENT", "NAME", "CLUSTER", "AUTHINFO", "NAMESPACE"])
        for line in ColumnWriter().lines(rows):
            session.out(line)
    missing = [name for name in names if name not in config.contexts]
    if missing:
        raise of([CommandError(f"context {name} not found") for name in missing])


def _row(config: KubeConfig, name: str) -> list[str]:
    context = config.contexts[name]
    current = "*" if name == config.current_context else ""
    values = [str(context.get(key) or "") for key in ("cluster", "user", "namespace")]
    return [current, name, *values]


async def use_context(session: Session) -> None:
    if len(session.arguments) != 1:
        raise MisusedError(f"Unexpected args: [{' '.join(session.arguments)}]")
    name = session.arguments[0]
    if not name:
        raise CommandError("empty context names are not allowed")
    config_of(session).use_context(name)
    session.out(f'Switched to context "{name}".')


async def current_context(session: Session) -> None:
    name = config_of(session).current_context
    if not name:
        raise CommandError("current-context is not set")
    session.out(name)


async def _names(session: Session, names: list[str]) -> None:
    session.out("NAME")
    for name in sorted(names):
        session.out(name)


async def get_clusters(session: Session) -> None:
    await _names(session, list(config_of(session).clusters))


async def get_users(session: Session) -> None:
    await _names(session, list(config_of(session).users))


_GROUP = Command(
    name="config",
    short="Modify kubeconfig files",
    usage="SUBCOMMAND",
    children=(
        Command(name="current-context", usage="[flags]", short="Display the current-context", run=current_context),
        Command(
            name="get-clusters", usage="[flags]", short="Display clusters defined in the kubeconfig", run=get_clusters
        ),
        Command(
            name="get-contexts",
            short="Describe one or many contexts",
            usage="[(-o|--output=)name)]",
            run=get_contexts,
            flags=(
                Flag("no-headers", Type.BOOL, help="Leave out the headers."),
                Flag("output", short="o", help='"name" or nothing.'),
            ),
        ),
        Command(name="get-users", usage="[flags]", short="Display users defined in the kubeconfig", run=get_users),
        Command(
            name="use-context",
            short="Set the current-context in a kubeconfig file",
            usage="CONTEXT_NAME",
            run=use_context,
            aliases=("use",),
        ),
        *CHANGES,
        *PROPERTIES,
        Command(
            name="view",
            usage="[flags]",
            short="Display merged kubeconfig settings or a specified kubeconfig file",
            run=view,
            flags=(
                *(flag for flag in PRINT if flag.name != "output"),
                Flag("output", default="yaml", short="o", help="Output format: yaml, json, jsonpath, ..."),
                Flag("flatten", Type.BOOL, help="Put the content of files in their place."),
                Flag("merge", Type.BOOL, default=True, help="Merge all files."),
                Flag("minify", Type.BOOL, help="Only what the current context uses."),
                Flag("raw", Type.BOOL, help="Show certificates and secrets."),
            ),
        ),
    ),
)
_BY_NAME = sorted(_GROUP.children, key=lambda child: child.name)  # as they are listed
COMMAND = replace(_GROUP, children=tuple(replace(child, connects=False) for child in _BY_NAME))
