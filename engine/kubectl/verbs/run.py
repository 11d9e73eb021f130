"""`run`: one Pod from an image.

Source of the behaviour: kubectl pkg/cmd/run/run.go, pkg/generate/versioned/run.go.
"""

from __future__ import annotations

import re

from engine.api.patch import merge_patch
from engine.api.types import Object
from engine.kubectl import yaml
from engine.kubectl.command import Command
from engine.kubectl.errors import CommandError, UsageError
from engine.kubectl.flags import Flag, Type
from engine.kubectl.flagsets import DRY_RUN, PRINT, SAVE_CONFIG, field_manager
from engine.kubectl.session import Session
from engine.kubectl.verbs.create import create_built

# The syntax of distribution/reference: a host, a path, a tag, a digest.
_PART = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_IMAGE = (
    rf"(?:(?:[a-zA-Z0-9][-a-zA-Z0-9.]*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?/)?{_PART}(?:/{_PART})*"
    r"(?::\w[\w.-]{0,127})?(?:@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?"
)


async def run(session: Session) -> None:
    flags = session.flags
    before = session.arguments if session.dash < 0 else session.arguments[: session.dash]
    words = session.arguments[1:] if session.dash < 0 else session.arguments[session.dash :]
    if (len(before) != 1 and session.dash >= 0) or not before:
        raise UsageError("NAME is required for run")
    if not flags.text("image"):
        raise CommandError("--image is required")
    _check(session)
    if flags.text("restart") not in ("", "Always", "OnFailure", "Never"):
        raise CommandError(
            f"invalid restart policy: {flags.text('restart')}, valid values are: Always, OnFailure, Never"
        )
    if flags.on("expose") and not flags.text("port"):
        raise CommandError("--port must be set when exposing a service")
    pod = _pod(session, before[0], words)
    if overrides := flags.text("overrides"):
        pod = merge_patch(pod, yaml.load(overrides))
    await create_built(session, pod)
    if flags.on("expose"):
        await create_built(session, _service(session, before[0], pod))


def _check(session: Session) -> None:
    flags = session.flags
    if not re.fullmatch(_IMAGE, flags.text("image")):
        raise CommandError(f'invalid image name "{flags.text("image")}": invalid reference format')
    policy = flags.text("image-pull-policy")
    if policy not in ("", "Always", "IfNotPresent", "Never"):
        raise CommandError(f"invalid image pull policy: {policy}, valid values are: Always, IfNotPresent, Never")
    if (kind := flags.text("override-type")) not in ("json", "merge", "strategic"):
        raise CommandError(f"invalid override type: {kind}")
    if (port := flags.text("port")) and not re.fullmatch(r"[+-]?\d+", port):
        raise CommandError("--port must be a number")


def _pod(session: Session, name: str, words: list[str]) -> Object:
    flags = session.flags
    container: Object = {"image": flags.text("image"), "name": name, "resources": {}}
    if words:
        container["command" if flags.on("command") else "args"] = words
    if environment := flags.many("env"):
        container["env"] = [_variable(text) for text in environment]
    if port := flags.text("port"):
        container["ports"] = [{"containerPort": int(port)}]
    if policy := flags.text("image-pull-policy"):
        container["imagePullPolicy"] = policy
    if flags.on("privileged"):
        container["securityContext"] = {"privileged": True}
    labels = _pairs(flags.text("labels")) if flags.text("labels") else {"run": name}
    metadata: Object = {"labels": labels, "name": name}
    if annotations := flags.many("annotations"):
        metadata["annotations"] = dict(_annotation(text) for text in annotations)
    spec = {"containers": [container], "dnsPolicy": "ClusterFirst", "restartPolicy": flags.text("restart") or "Always"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": {}}


def _variable(text: str) -> Object:
    name, equals, value = text.partition("=")
    if not equals or not re.fullmatch(r"[-._a-zA-Z][-._a-zA-Z0-9]*", name):
        raise CommandError(f"invalid env: {text}")
    return {"name": name, "value": value}


def _pairs(text: str) -> dict[str, str]:
    return dict(_pair(part) for part in text.split(","))


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
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
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name},
        "spec": {
            "ports": [{"port": port, "protocol": "TCP", "targetPort": port}],
            "selector": pod["metadata"]["labels"],
        },
        "status": {"loadBalancer": {}},
    }


COMMAND = Command(
    name="run",
    short="Run a particular image on the cluster",
    usage='NAME --image=image [--env="key=value"] [--port=port] [--command] -- [COMMAND] [args...]',
    run=run,
    flags=(
        *PRINT,
        *DRY_RUN,
        *SAVE_CONFIG,
        *field_manager("kubectl-run"),
        Flag("annotations", Type.ARRAY, help="Annotations of the Pod, KEY=VALUE."),
        Flag("command", Type.BOOL, help="Take the words after -- as the command, not as its arguments."),
        Flag("env", Type.ARRAY, help="A variable, NAME=VALUE."),
        Flag("expose", Type.BOOL, help="Also create a Service."),
        Flag("image", required=True, help="The image to run."),
        Flag("image-pull-policy", help="When to pull the image."),
        Flag("labels", short="l", help="Labels of the Pod, KEY=VALUE,..."),
        Flag("override-type", default="merge", help="How overrides are applied."),
        Flag("overrides", help="JSON that is merged over the Pod."),
        Flag("port", help="The port of the container."),
        Flag("privileged", Type.BOOL, help="Run the container privileged."),
        Flag("restart", default="Always", help="Always, OnFailure or Never."),
    ),
    examples=("run web --image=nginx:1.27",),
)
