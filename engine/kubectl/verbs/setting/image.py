"""`set image`: change the images of a Pod template.

Source of the behaviour: kubectl pkg/cmd/set/set_image.go.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.api.types import Object
from engine.kubectl.arguments import split_changes
from engine.kubectl.change_cause import RECORD
from engine.kubectl.command import Command
from engine.kubectl.errors import CommandError
from engine.kubectl.printers.objects import result_printer
from engine.kubectl.selection import Info
from engine.kubectl.session import Session
from engine.kubectl.verbs.setting.change import FLAGS, change, require_pod_spec


async def run(session: Session) -> None:
    result_printer(session, "image updated", dry_run=session.dry_run(), typed=True)
    resources, words = split_changes(session.arguments, "image")
    if wrong := [word for word in words if "=" not in word]:
        raise CommandError(f"invalid image format: {', '.join(wrong)}")
    images = dict(word.split("=", 1) for word in words)
    missing: list[Exception] = []

    def check(_: Sequence[Info]) -> None:
        if not images:
            raise CommandError("at least one image update is required")

    def alter(info: Info, obj: Object) -> None:
        spec = require_pod_spec(info, obj)
        for name, image in images.items():
            found = [
                container
                for key in ("initContainers", "containers")
                for container in spec.get(key) or ()
                if name in ("*", container["name"])
            ]
            if not found:  # the others are changed all the same
                missing.append(CommandError(f'error: unable to find container named "{name}"'))
            for container in found:
                if image:
                    container["image"] = image
                else:
                    container.pop("image", None)

    failing = "failed to patch image update to pod template:"
    await change(session, resources, alter, done="image updated", failing=failing, check=check, problems=missing)


IMAGE = Command(
    name="image",
    short="Update the image of a pod template",
    usage="(-f FILENAME | TYPE NAME) CONTAINER_NAME_1=CONTAINER_IMAGE_1 ... CONTAINER_NAME_N=CONTAINER_IMAGE_N",
    run=run,
    flags=(*FLAGS, *RECORD),
    examples=("set image deployment/web nginx=nginx:1.28",),
)
