"""`set env`: change or list the environment of a Pod template's containers.

Source of the behaviour: kubectl pkg/cmd/set/set_env.go and pkg/cmd/set/env.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence

from engine.api.errors import ApiError
from engine.api.types import Object, copy_object
from engine.kubectl.command import Command
from engine.kubectl.errors import CommandError, of
from engine.kubectl.flags import Flag, Type
from engine.kubectl.printers.objects import result_printer
from engine.kubectl.selection import Info, collect, each
from engine.kubectl.session import Session
from engine.kubectl.verbs.setting.change import (
    FLAGS,
    change,
    chosen,
    pod_spec_of,
    refuse_local_on_server,
    require_pod_spec,
    selection_of,
    unfit,
)

NAME = re.compile(r"[-._a-zA-Z][-._a-zA-Z0-9]*")
WRONG_NAME = (
    "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not "
    "start with a digit (e.g. 'my.env-name',  or 'MY_ENV.NAME',  or 'MyEnvName1', regex used for validation is "
    "'[-._a-zA-Z][-._a-zA-Z0-9]*')"
)


async def run(session: Session) -> None:
    if session.flags.on("all") and session.flags.text("selector"):
        raise CommandError("cannot set --all and --selector at the same time")
    resources, words = _split(session.arguments)
    result_printer(session, "env updated", dry_run=session.dry_run(), typed=True)
    refuse_local_on_server(session)
    if not resources and not session.flags.many("filename"):
        raise CommandError("one or more resources must be specified as <resource> <name> or <resource>/<name>")
    if session.flags.on("list") and session.flags.text("output"):
        raise CommandError("--list and --output may not be specified together")
    if session.flags.many("keys") and not session.flags.text("from"):
        raise CommandError("when specifying --keys, a configmap or secret must be provided with --from")
    variables, removed = _parse(session, [*session.flags.many("env"), *words])
    if source := session.flags.text("from"):
        variables += await _from(session, source)
    prefix = session.flags.text("prefix")
    variables = [{**variable, "name": prefix + variable["name"]} for variable in variables]
    if session.flags.on("list"):
        await _list(session, resources, variables, removed)
        return

    def alter(info: Info, obj: Object) -> None:
        spec = require_pod_spec(info, obj)
        containers = _containers(session, spec)
        if not containers:
            pattern = session.flags.text("containers") or "*"
            session.err(f'Warning: {obj["kind"]}/{info.name} does not have any containers matching "{pattern}"')
        for container in containers:
            _set(session, info, container, variables, removed)

    def sent() -> None:
        """It has been done by then: upstream asks no sooner either."""
        if not variables and not words:
            raise CommandError("at least one environment variable must be provided")

    failing = "failed to patch env update to pod template:"
    await change(session, resources, alter, done="env updated", failing=failing, files_only=False, sent=sent)


def _split(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The resources, and the variables after them. Raises CommandError."""
    resources: list[str] = []
    variables: list[str] = []
    for word in words:
        if "=" in word[1:] or word.endswith("-"):
            variables.append(word)
        elif variables:
            raise CommandError(f"all resources must be specified before environment changes: {' '.join(words)}")
        else:
            resources.append(word)
    return resources, variables


def _containers(session: Session, spec: Object) -> list[Object]:
    return chosen(
        [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())],
        session.flags.text("containers") or "*",
    )


def _parse(session: Session, words: list[str]) -> tuple[list[Object], list[str]]:
    """The variables to set and those to take away. Raises CommandError."""
    variables: list[Object] = []
    removed: list[str] = []
    named: set[str] = set()
    for word in words:
        name, equals, value = word.partition("=")
        if word == "-":
            variables += _read(session.stdin.read())
        elif equals:
            if not NAME.fullmatch(name):
                raise CommandError(f'"{name}" is not a valid key name: {WRONG_NAME}')
            variables.append({"name": name, "value": value} if value else {"name": name})
            named.add(name)
        elif word.endswith("-"):
            removed.append(word[:-1])
        else:
            raise CommandError(f"unknown environment variable: {word}")
    if named & set(removed):
        raise CommandError("can not both modify and remove the same environment variable in the same command")
    return variables, removed


def _read(text: str) -> list[Object]:
    """The variables of lines like A=b; what stands after a # and lines without a = say nothing."""
    pairs = [line.partition("#")[0].partition("=") for line in text.splitlines()]
    return [{"name": name, "value": value} if value else {"name": name} for name, equals, value in pairs if equals]


def _set(session: Session, info: Info, container: Object, variables: list[Object], removed: list[str]) -> None:
    there: list[Object] = container.get("env") or []
    wanted: dict[str, Object] = {}
    for variable in variables:
        wanted.setdefault(variable["name"], variable)
    if not session.flags.on("overwrite"):
        _keep(info, there, wanted)
    env: list[Object] = []
    done = set(removed)
    for one in there:  # a name that is there several times stays so, unless the words are about it
        if one["name"] not in done:
            env.append(dict(wanted.get(one["name"], one)))
            done |= {one["name"]} & wanted.keys()
    env += [dict(variable) for name, variable in wanted.items() if name not in done]
    if env:
        container["env"] = env
    else:
        container.pop("env", None)


def _keep(info: Info, there: list[Object], wanted: dict[str, Object]) -> None:
    """Raises UnfitError where the value of a variable that is there would change; a reference has none."""
    for one in there:
        if one["name"] in wanted and one.get("value", "") != wanted[one["name"]].get("value", ""):
            why = f"'{one['name']}' already has a value ({one.get('value', '')}), and --overwrite is false"
            raise unfit(info, why)


async def _from(session: Session, reference: str) -> list[Object]:
    """A variable for each key of a ConfigMap or Secret; with --local nobody is asked, and files count instead."""
    selection = selection_of(session, () if session.flags.on("local") else (reference,))
    selection.whole_types = False
    found, errors = await collect(session, selection)
    if errors:
        raise errors[0]
    variables: list[Object] = []
    keys = session.flags.many("keys")
    for info in found:
        selector = {"Secret": "secretKeyRef", "ConfigMap": "configMapKeyRef"}.get(info.resource.kind)
        if selector is None:
            raise CommandError("unsupported resource specified in --from")
        for key in sorted(info.object.get("data") or {}):
            if keys and key not in keys:
                continue
            name = re.sub(r"[^A-Z0-9_]", "_", key.upper())
            if name != key:
                session.err(f"Warning: key {key} transferred to {name}")
            source = {selector: {"key": key, "name": info.name}}
            variables.append({"name": name, "valueFrom": source})
    return variables


# -- listing


async def _list(session: Session, resources: list[str], variables: list[Object], removed: list[str]) -> None:
    """What there would be with what the words set and take away."""

    async def show(info: Info) -> None:
        for container in _containers(session, copy_object(pod_spec_of(info.object) or {})):
            _set(session, info, container, variables, removed)
            session.out(f"# {info.resource.kind} {info.name}, container {container['name']}")
            for variable in container.get("env") or ():
                session.out(await _listed(session, info, variable))

    found, errors = await collect(session, selection_of(session, resources))
    if errors:
        raise of(errors)
    await each(found, show)


async def _listed(session: Session, info: Info, variable: Object) -> str:
    source = variable.get("valueFrom")
    if not source:
        return f"{variable['name']}={variable.get('value', '')}"
    if session.flags.on("resolve"):
        try:
            return f"{variable['name']}={await _resolved(session, info, source)}"
        except (ApiError, CommandError) as error:
            return f"# error retrieving reference for {variable['name']}: {error}"
    return f"# {variable['name']} from {_reference(source)}"


def _reference(source: Object) -> str:
    if one := source.get("configMapKeyRef"):
        return f"configmap {one['name']}, key {one['key']}"
    if one := source.get("secretKeyRef"):
        return f"secret {one['name']}, key {one['key']}"
    if one := source.get("fieldRef"):
        return f"field path {one['fieldPath']}"
    if one := source.get("resourceFieldRef"):
        container = f"{one['containerName']}/" if one.get("containerName") else ""
        return f"resource field {container}{one['resource']}"
    return "invalid valueFrom"


async def _resolved(session: Session, info: Info, source: Object) -> str:
    for key, word in (("configMapKeyRef", "configmaps"), ("secretKeyRef", "secrets")):
        if one := source.get(key):
            obj = await session.get(await session.resolve(word), one["name"], info.namespace)
            value = (obj.get("data") or {}).get(one["key"])
            if value is None:
                raise CommandError(f"key {one['key']} not found in {word[:-1]} {one['name']}")
            return base64.b64decode(value).decode(errors="replace") if word == "secrets" else str(value)
    raise CommandError(f"cannot resolve {_reference(source)}")


ENV = Command(
    name="env",
    short="Update environment variables on a pod template",
    usage="RESOURCE/NAME KEY_1=VAL_1 ... KEY_N=VAL_N",
    run=run,
    flags=(
        *FLAGS,
        Flag("containers", short="c", default="*", help="Only these containers, by name or with a `*`."),
        Flag("env", Type.ARRAY, short="e", help="A variable, KEY=VALUE."),
        Flag("from", help="A ConfigMap or Secret to take the variables from."),
        Flag("keys", Type.STRINGS, help="Only these of its keys."),
        Flag("list", Type.BOOL, help="List the variables and change nothing."),
        Flag("overwrite", Type.BOOL, default=True, help="Change variables that are there already."),
        Flag("prefix", help="What is put before each name."),
        Flag("resolve", Type.BOOL, help="List the values of what variables refer to."),
    ),
    examples=("set env deployment/web STORAGE_DIR=/local", "set env deployment/web --list"),
)
