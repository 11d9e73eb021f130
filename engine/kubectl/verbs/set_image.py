"""`set image`: change the images of a Pod template.

Source of the behaviour: kubectl pkg/cmd/set/set_image.go.
"""

from __future__ import annotations

from engine.api.patch import two_way_strategic_patch
from engine.api.types import Object, copy_object
from engine.api.wire import STRATEGIC_PATCH
from engine.kubectl.command import Command
from engine.kubectl.errors import CommandError
from engine.kubectl.flags import Flag, Type
from engine.kubectl.flagsets import ALL, DRY_RUN, PRINT, SELECTOR, field_manager, filename
from engine.kubectl.printers.objects import result_printer
from engine.kubectl.schemas import schema_of
from engine.kubectl.selection import Info, Selection, visit
from engine.kubectl.session import Session


async def run(session: Session) -> None:
    resources = [word for word in session.arguments if "=" not in word]
    images = dict(word.split("=", 1) for word in session.arguments if "=" in word)
    dry_run = session.dry_run()
    printer = result_printer(session, "image updated", dry_run=dry_run)
    selection = Selection.of_flags(session, arguments=resources)
    selection.whole_types = session.flags.on("all")
    if session.flags.on("local"):
        selection.fetch = False

    async def update(info: Info) -> None:
        if not images:
            raise CommandError("at least one image update is required")
        before = info.object
        after = _updated(info, images)
        if after == before and not session.flags.on("local"):
            return
        if dry_run == "client" or session.flags.on("local"):
            info.object = after
        else:
            patch = two_way_strategic_patch(before, after, schema_of(info.resource.gvk))
            info.refresh(
                await session.patch(
                    info.resource,
                    info.name,
                    info.namespace,
                    patch,
                    STRATEGIC_PATCH,
                    fieldManager=session.flags.text("field-manager"),
                    dryRun="All" if dry_run == "server" else None,
                )
            )
        printer(info.object, info.resource)

    await visit(session, selection, update)


def pod_spec_of(obj: Object) -> Object | None:
    """The Pod spec within an object that has one; None for other kinds."""
    spec = obj.get("spec") or {}
    if obj.get("kind") == "Pod":
        found = spec
    elif obj.get("kind") == "CronJob":
        found = (((spec.get("jobTemplate") or {}).get("spec") or {}).get("template") or {}).get("spec")
    else:
        found = (spec.get("template") or {}).get("spec")
    return found if isinstance(found, dict) and "containers" in found else None


def _updated(info: Info, images: dict[str, str]) -> Object:
    after = copy_object(info.object)
    spec = pod_spec_of(after)
    if spec is None:
        where = f"{info.resource.plural}/{info.name}"
        kind = f"*{info.resource.gvr.version}.{info.resource.kind}"
        raise CommandError(f"{where} the object is not a pod or does not have a pod template: {kind}")
    for name, image in images.items():
        found = [
            container
            for key in ("initContainers", "containers")
            for container in spec.get(key) or ()
            if name in ("*", container["name"])
        ]
        if not found:
            raise CommandError(f'unable to find container named "{name}"')
        for container in found:
            container["image"] = image
    return after


IMAGE = Command(
    name="image",
    short="Update the image of a pod template",
    usage="(-f FILENAME | TYPE NAME) CONTAINER_NAME_1=CONTAINER_IMAGE_1 ... CONTAINER_NAME_N=CONTAINER_IMAGE_N",
    run=run,
    flags=(
        *filename(),
        *PRINT,
        *SELECTOR,
        *ALL,
        *DRY_RUN,
        *field_manager("kubectl-set"),
        Flag("local", Type.BOOL, help="Change the manifest here and send nothing."),
    ),
    examples=("set image deployment/web nginx=nginx:1.28",),
)
COMMAND = Command(name="set", short="Set specific features on objects", usage="SUBCOMMAND", children=(IMAGE,))
