"""`run`: one Pod from an image.

Source of the behaviour: kubectl pkg/cmd/run/run.go, pkg/generate/versioned/run.go.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import NamedTuple

from engine.api.types import Object
from engine.kubectl import overrides
from engine.kubectl.change_cause import RECORD
from engine.kubectl.command import Command
from engine.kubectl.deletion import propagation
from engine.kubectl.discovery import Resource
from engine.kubectl.errors import CommandError
from engine.kubectl.flags import Flag, Flags, Type
from engine.kubectl.flagsets import DRY_RUN, PRINT, SAVE_CONFIG, deletion, field_manager, filename
from engine.kubectl.image_names import is_image_name
from engine.kubectl.printers.objects import result_printer
from engine.kubectl.session import Session
from engine.kubectl.verbs.create import create_built
from engine.kubectl.verbs.exec import DETACH_KEYS
from engine.kubectl.verbs.run_attached import attend

_IGNORED = "it is ignored by kubectl run and will be removed in a future release"


async def run(session: Session) -> None:
    told = _told(session)
    _check_before(session)
    flags = session.flags
    if not session.arguments:
        raise CommandError("NAME is required for run")
    name, *words = session.arguments
    _check(session)
    pod = _pod(session, name, words, told)
    attached = _attached(flags)
    if flags.on("rm") and not attached:
        raise CommandError("--rm should only be used for attached containers")
    if attached and session.dry_run() != "none":
        raise CommandError(
            "--dry-run=[server|client] can't be used with attached containers options (--attach, --stdin, or --tty)"
        )
    pod = overrides.overridden(session, pod)
    printer = _say_nothing if attached else result_printer(session, "created", dry_run=session.dry_run(), typed=True)
    made = [await create_built(session, pod, printer, mapped=True)]
    if flags.on("expose"):
        made.append(await create_built(session, _service(session, name, pod), printer, mapped=True))
    if attached:
        await attend(session, made)


class _Told(NamedTuple):
    """What flags that hold pairs say; no labels where none are given."""

    annotations: dict[str, str]
    labels: dict[str, str]
    environment: list[Object]


def _told(session: Session) -> _Told:
    """Raises CommandError, before anything else is looked at."""
    flags = session.flags
    annotations = dict(_annotation(text) for text in flags.many("annotations"))
    labels = _pairs(text) if (text := flags.text("labels")) else {}
    return _Told(annotations, labels, [_variable(text) for text in flags.many("env")])


def _check_before(session: Session) -> None:
    """What is looked at before the name and the image are. Raises CommandError."""
    flags = session.flags
    if (restart := flags.text("restart")) not in ("", "Always", "OnFailure", "Never"):
        raise CommandError(f"invalid restart policy: {restart}, valid values are: Always, OnFailure, Never")
    if (policy := flags.text("image-pull-policy")) not in ("", "Always", "IfNotPresent", "Never"):
        raise CommandError(f"invalid image pull policy: {policy}, valid values are: Always, IfNotPresent, Never")
    if flags.seconds("pod-running-timeout") <= 0:
        raise CommandError("--pod-running-timeout must be higher than zero")
    result_printer(session, "created", dry_run=session.dry_run(), typed=True)
    propagation(session)


def _attached(flags: Flags) -> bool:
    return flags.on("attach") if flags.given("attach") else flags.on("stdin")


def _say_nothing(obj: Object, resource: Resource) -> None:
    """Who talks to the container is not told that there is one."""


def _check(session: Session) -> None:
    """Raises CommandError."""
    flags = session.flags
    if not flags.text("image"):
        raise CommandError("--image is required")
    if not is_image_name(flags.text("image")):
        raise CommandError(f'invalid image name "{flags.text("image")}": invalid reference format')
    if flags.on("tty") and not flags.on("stdin"):
        raise CommandError("-i/--stdin is required for containers with -t/--tty=true")
    if flags.on("expose") and not flags.text("port"):
        raise CommandError("--port must be set when exposing a service")


def _pod(session: Session, name: str, words: list[str], told: _Told) -> Object:
    """Raises CommandError."""
    flags = session.flags
    port = flags.text("port")
    if port and not re.fullmatch(r"[+-]?[0-9]+", port):
        raise CommandError("--port must be a number")
    container: Object = {"image": flags.text("image"), "name": name, "resources": {}}
    if words:
        container["command" if flags.on("command") else "args"] = words
    if told.environment:
        container["env"] = told.environment
    if port:
        container["ports"] = [{"containerPort": int(port)}]
    if policy := flags.text("image-pull-policy"):
        container["imagePullPolicy"] = policy
    if flags.on("stdin"):
        container |= {"stdin": True} if flags.on("leave-stdin-open") else {"stdin": True, "stdinOnce": True}
    if flags.on("tty"):
        container["tty"] = True
    if flags.on("privileged"):
        container["securityContext"] = {"privileged": True}
    metadata: Object = {"labels": told.labels or {"run": name}, **({"name": name} if name else {})}
    if told.annotations:
        metadata["annotations"] = told.annotations
    spec = {"containers": [container], "dnsPolicy": "ClusterFirst", "restartPolicy": flags.text("restart") or "Always"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": {}}


def _variable(text: str) -> Object:
    name, equals, value = text.partition("=")
    if not equals or not re.fullmatch(r"[-._a-zA-Z][-._a-zA-Z0-9]*", name):
        raise CommandError(f"invalid env: {text}")
    return {"name": name, "value": value} if value else {"name": name}


def _pairs(text: str) -> dict[str, str]:
    return dict(_pair(part) for part in text.split(","))


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not key:
        raise CommandError("unexpected empty label key")
    if not equals or "=" in value:
        raise CommandError(f"unexpected label spec: {text}")
    return key, value


def _annotation(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals:
        raise CommandError(f"invalid annotations format: {text}")
    return key, value


def _service(session: Session, name: str, pod: Object) -> Object:
    port = int(session.flags.text("port"))
    labels = {"labels": _pairs(text)} if (text := session.flags.text("labels")) else {}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, **labels},
        "spec": {
            "ports": [{"port": port, "protocol": "TCP", "targetPort": port}],
            "selector": pod["metadata"]["labels"],
        },
        "status": {"loadBalancer": {}},
    }


COMMAND = Command(
    name="run",
    short="Run a particular image on the cluster",
    usage=(
        'NAME --image=image [--env="key=value"] [--port=port] [--dry-run=server|client] [--overrides=inline-json] '
        "[--command] -- [COMMAND] [args...]"
    ),
    run=run,
    flags=(
        *PRINT,
        *DRY_RUN,
        *SAVE_CONFIG,
        *field_manager("kubectl-run"),
        *RECORD,
        *deletion(wait=False),
        *overrides.FLAGS,
        DETACH_KEYS,
        *(
            replace(flag, deprecated=_IGNORED, short_deprecated=_IGNORED) if flag.name == "filename" else flag
            for flag in filename()
        ),
        Flag("annotations", Type.ARRAY, help="Annotations of the Pod, KEY=VALUE."),
        Flag("attach", Type.BOOL, help="Attach once the container runs; so with -i."),
        Flag("command", Type.BOOL, help="Take the words after -- as the command, not as its arguments."),
        Flag("env", Type.ARRAY, help="A variable, NAME=VALUE."),
        Flag("expose", Type.BOOL, help="Also create a Service."),
        Flag("image", required=True, help="The image to run."),
        Flag("image-pull-policy", help="When to pull the image."),
        Flag("labels", short="l", help="Labels of the Pod, KEY=VALUE,..."),
        Flag("leave-stdin-open", Type.BOOL, help="Leave the container's input open after the first session."),
        Flag("pod-running-timeout", Type.DURATION, default=60.0, help="How long to wait for a running Pod."),
        Flag("port", help="The port of the container."),
        Flag("privileged", Type.BOOL, help="Run the container privileged."),
        Flag("quiet", Type.BOOL, short="q", help="Print the container's output only."),
        Flag("restart", default="Always", help="Always, OnFailure or Never."),
        Flag("rm", Type.BOOL, help="Delete what was made when the session ends; only with --attach or -i."),
        Flag("stdin", Type.BOOL, short="i", help="Pass what is typed to the container."),
        Flag("tty", Type.BOOL, short="t", help="The container's input is a terminal."),
    ),
    examples=("run web --image=nginx:1.27", "run -it --rm shell --image=busybox --restart=Never -- sh"),
)
