"""`kustomize`: what a folder's kustomization makes, as YAML.

Source of the behaviour: kustomize kustomize/commands/build (build.go, flagloadrestrictor.go).
"""

from __future__ import annotations

from pathlib import Path

from engine.kubectl.command import Command
from engine.kubectl.errors import CommandError
from engine.kubectl.flags import Flag, Type
from engine.kubectl.kustomize.build import build, text
from engine.kubectl.session import Session

REORDER = "use the new 'sortOptions' field in kustomization.yaml instead."
_ROOT_ONLY, _NONE = "LoadRestrictionsRootOnly", "LoadRestrictionsNone"


async def run(session: Session) -> None:
    flags = session.flags
    if len(session.arguments) > 1:
        raise CommandError("specify one path to kustomization.yaml")
    restrictor = flags.text("load-restrictor")
    if restrictor not in ("", _ROOT_ONLY, _NONE):
        raise CommandError(f"illegal flag value --load-restrictor {restrictor}; legal values: [{_ROOT_ONLY} {_NONE}]")
    if flags.given("reorder") and (given := flags.text("reorder")) not in ("legacy", "none"):
        raise CommandError(f"illegal flag value --reorder {given}; legal values: [legacy none]")
    folder = session.arguments[0] if session.arguments else "."
    order = "fifo" if flags.text("reorder") == "none" else "legacy"
    objects = build(folder, restricted=restrictor != _NONE, order=order, warn=session.err, log=session.log)
    made = text(objects)
    if not (output := flags.text("output")):
        session.stdout.write(made)
        return
    _write(output, made)


def _write(path: str, made: str) -> None:
    try:
        Path(path).write_text(made)
    except OSError as error:
        raise CommandError(f"open {path}: {(error.strerror or '').lower()}") from error


COMMAND = Command(
    name="kustomize",
    short="Build a kustomization target from a directory or URL",
    usage="DIR [flags]",
    run=run,
    connects=False,
    flags=(
        Flag("as-current-user", Type.BOOL, help="Run functions as the one who runs the command."),
        Flag("enable-alpha-plugins", Type.BOOL, help="Enable plugins."),
        Flag("enable-helm", Type.BOOL, help="Enable charts of helm."),
        Flag("env", Type.STRINGS, short="e", help="Environment variables for functions."),
        Flag("helm-api-versions", Type.STRINGS, help="API versions that charts are told of."),
        Flag("helm-command", default="helm", help="The helm command."),
        Flag("helm-debug", Type.BOOL, help="Debug output of charts."),
        Flag("helm-kube-version", help="Kubernetes version that charts are told of."),
        Flag("load-restrictor", default=_ROOT_ONLY, help="Whether files may come from outside of the folder."),
        Flag("mount", Type.STRINGS, help="Storage for functions."),
        Flag("network", Type.BOOL, help="Network for functions that ask for it."),
        Flag("network-name", default="bridge", help="The network of functions."),
        Flag("reorder", default="unspecified", help="Legacy or none.", hidden=True, deprecated=REORDER),
        Flag("output", short="o", help="The file to write; standard output if none."),
    ),
    examples=("kustomize /home/config/production",),
)
