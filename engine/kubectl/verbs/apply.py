"""`apply`: make objects as a manifest says, on the client side (three-way merge) or the server side.

Source of the behaviour: kubectl pkg/cmd/apply (apply.go, patcher.go).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.api.errors import ApiError
from engine.api.patch import (
    PreconditionFailedError,
    key_unchanged,
    metadata_key_unchanged,
    three_way_merge_patch,
    three_way_strategic_patch,
)
from engine.api.types import Object
from engine.api.wire import APPLY_PATCH, MERGE_PATCH, STRATEGIC_PATCH
from engine.kubectl import last_applied
from engine.kubectl.command import Command
from engine.kubectl.deletion import delete_and_wait
from engine.kubectl.errors import CommandError, UsageError, with_source
from engine.kubectl.flags import Flag, Type
from engine.kubectl.flagsets import ALL, DRY_RUN, PRINT, SELECTOR, VALIDATE, deletion, field_manager, filename
from engine.kubectl.printers.objects import result_printer, structured_printer, without_managed_fields
from engine.kubectl.schemas import schema_of
from engine.kubectl.selection import Info, Selection, visit
from engine.kubectl.session import Session

CLIENT_SIDE = "kubectl-client-side-apply"
SERVER_SIDE = "kubectl"
RETRIES = 5
BACK_OFF_AFTER = 1
BACK_OFF_SECONDS = 1.0
CONFLICT_HELP = """
Please review the fields above--they currently have other managers. Here
are the ways you can resolve this warning:
* If you intend to manage all of these fields, please re-run the apply
  command with the `--force-conflicts` flag.
* If you do not intend to manage all of the fields, please edit your
  manifest to remove references to the fields that should keep their
  current managers.
* You may co-own fields by updating your manifest to match the existing
  value; in this case, you'll become the manager if the other manager(s)
  stop managing the field (remove it from their configuration).
See https://kubernetes.io/docs/reference/using-api/server-side-apply/#conflicts"""


@dataclass(slots=True)
class Applier:
    """Applies one object after another. What `-o json|yaml` prints waits in `shown` until all are done."""

    session: Session
    dry_run: str
    validation: str
    server_side: bool
    manager: str
    shown: list[Object] = field(default_factory=list)

    async def __call__(self, info: Info) -> None:
        metadata = info.object.get("metadata") or {}
        if not metadata.get("name") and metadata.get("generateName"):
            raise CommandError(f"from {metadata['generateName']}: cannot use generate name with apply")
        if self.server_side:
            await self._server_side(info)
        else:
            await self._client_side(info)

    # -- server side

    async def _server_side(self, info: Info) -> None:
        try:
            applied = await self.session.patch(
                info.resource,
                info.name,
                info.namespace,
                info.object,
                APPLY_PATCH,
                subresource=self.session.flags.text("subresource"),
                fieldManager=self.manager,
                force=self.session.flags.on("force-conflicts"),
                fieldValidation=self.validation,
                dryRun="All" if self.dry_run == "server" else None,
            )
        except ApiError as error:
            if error.reason == "Conflict":
                raise CommandError(f"{error.message}{CONFLICT_HELP}") from error
            raise
        info.refresh(applied)
        self._report(info, "serverside-applied")

    # -- client side

    async def _client_side(self, info: Info) -> None:
        modified = last_applied.modified(info.object)
        try:
            current = await self.session.get(
                info.resource, info.name, info.namespace, subresource=self.session.flags.text("subresource")
            )
        except ApiError as error:
            if error.reason != "NotFound":
                raise _retrieving(error, info) from error
            await self._create(info, modified)
            return
        if last_applied.original(current) is None:
            self.session.err(
                f"Warning: resource {info.resource.plural}/{info.name} is missing the {last_applied.ANNOTATION} "
                f"annotation which is required by {self.session.program} apply. {self.session.program} apply should "
                f"only be used on resources created declaratively by either {self.session.program} create "
                f"--save-config or {self.session.program} apply. The missing annotation will be patched automatically."
            )
        await self._patch(info, modified, current)

    async def _create(self, info: Info, modified: Object) -> None:
        if self.dry_run != "client":
            path = self.session.path_of(info.resource, info.namespace)
            try:
                created = await self.session.request("POST", path, query=self._query(), body=modified)
            except ApiError as error:
                raise with_source(error, "creating", info.source) from error
            info.refresh(created)
        else:
            info.object = modified
        self._report(info, "created")

    async def _patch(self, info: Info, modified: Object, current: Object) -> None:
        patch: Object = {}
        for attempt in range(RETRIES + 1):
            patch, content_type = self._difference(info, modified, current)
            if not patch:
                info.refresh(current)
                break
            if self.dry_run == "client":
                info.object = modified
                break
            try:
                patched = await self.session.patch(
                    info.resource, info.name, info.namespace, patch, content_type, **self._query()
                )
            except ApiError as error:
                if error.reason == "Conflict" and attempt < RETRIES:
                    if attempt >= BACK_OFF_AFTER:
                        await self.session.clock.sleep(BACK_OFF_SECONDS)
                    current = await self.session.get(info.resource, info.name, info.namespace)
                    continue
                if self.session.flags.on("force") and error.reason in ("Conflict", "Invalid"):
                    patched = await self._recreate(info, modified)
                else:
                    raise _applying(error, info, patch) from error
            info.refresh(patched)
            break
        self._report(info, "configured" if patch else "unchanged")

    def _difference(self, info: Info, modified: Object, current: Object) -> tuple[Object, str]:
        """The patch from what was applied last, what is wanted and what is there, and its content type."""
        original = last_applied.original(current) or {}
        schema = schema_of(info.resource.gvk)
        kept = [key_unchanged("apiVersion"), key_unchanged("kind"), metadata_key_unchanged("name")]
        try:
            if schema is not None:
                overwrite = self.session.flags.on("overwrite")
                patch = three_way_strategic_patch(
                    original, modified, current, schema, overwrite=overwrite, preconditions=kept
                )
                return patch, STRATEGIC_PATCH
            return three_way_merge_patch(original, modified, current), MERGE_PATCH
        except PreconditionFailedError as error:
            raise CommandError("At least one of apiVersion, kind and name was changed") from error

    async def _recreate(self, info: Info, modified: Object) -> Object:
        """Delete the object and create it anew (`--force`)."""
        await delete_and_wait(self.session, info, grace=self.session.flags.number("grace-period"))
        path = self.session.path_of(info.resource, info.namespace)
        created: Object = await self.session.request("POST", path, query=self._query(), body=modified)
        return created

    def _query(self) -> dict[str, str]:
        return {
            "dryRun": "All" if self.dry_run == "server" else "",
            "fieldManager": self.manager,
            "fieldValidation": self.validation,
        }

    # -- telling

    def _report(self, info: Info, operation: str) -> None:
        if self.session.flags.text("output") in ("", "name"):
            result_printer(self.session, operation, dry_run=self.dry_run)(info.object, info.resource)
        else:
            self.shown.append(info.object)

    def finish(self) -> None:
        """Print what `-o` asked for: the one object, or all in a List."""
        if not self.shown:
            return
        printer = structured_printer(self.session)
        assert printer is not None
        keep = self.session.flags.on("show-managed-fields")
        shown = [obj if keep else without_managed_fields(obj) for obj in self.shown]
        if len(shown) == 1:
            printer(shown[0])
        else:
            printer({"apiVersion": "v1", "kind": "List", "metadata": {}, "items": shown})


def describe_info(info: Info) -> str:
    """An object as error texts name it (Info.String of cli-runtime)."""
    gvr, kind = info.resource.gvr, info.resource.kind
    group_version = f"{gvr.group}/{gvr.version}"
    return (
        f'Resource: "{group_version}, Resource={gvr.resource}", GroupVersionKind: "{group_version}, Kind={kind}"\n'
        f'Name: "{info.name}", Namespace: "{info.namespace}"'
    )


def _retrieving(error: ApiError, info: Info) -> Exception:
    message = f"error when retrieving current configuration of:\n{describe_info(info)}\nfrom server for: "
    if not info.source:
        return error
    return ApiError(error.code, error.reason, f'{message}"{info.source}": {error.message}', details=error.details)


def _applying(error: ApiError, info: Info, patch: Object) -> Exception:
    """What was sent to what, and what the server said."""
    inner = with_source(error, "patching", info.source)
    verb = f"applying patch:\n{last_applied.compact(patch)}\nto:\n{describe_info(info)}\nfor:"
    return with_source(inner, verb, info.source)


async def run(session: Session) -> None:
    flags = session.flags
    server_side = flags.on("server-side")
    if not flags.many("filename") and not flags.text("kustomize"):
        raise CommandError("must specify one of -f and -k")
    if session.arguments:
        raise UsageError(f"Unexpected args: [{' '.join(session.arguments)}]")
    if flags.on("force-conflicts") and not server_side:
        raise CommandError("--force-conflicts only works with --server-side")
    dry_run = session.dry_run()
    if dry_run == "client" and server_side:
        raise CommandError("--dry-run=client doesn't work with --server-side (did you mean --dry-run=server instead?)")
    if flags.on("force") and server_side:
        raise CommandError("--force cannot be used with --server-side")
    manager = flags.text("field-manager") if flags.given("field-manager") or not server_side else SERVER_SIDE
    result_printer(session, "")  # an unknown format is told before anything is sent
    applier = Applier(session, dry_run, session.field_validation(), server_side, manager)
    selection = Selection.of_flags(session, verb="apply")
    selection.fetch = False
    selection.validate = "" if applier.validation == "Ignore" else applier.validation
    try:
        count = await visit(session, selection, applier)
    finally:
        applier.finish()
    if not count:
        raise CommandError("no objects passed to apply")


COMMAND = Command(
    name="apply",
    short="Apply a configuration to a resource by file name or stdin",
    usage="(-f FILENAME)",
    run=run,
    flags=(
        *filename(),
        *PRINT,
        *SELECTOR,
        *ALL,
        *DRY_RUN,
        *VALIDATE,
        *field_manager(CLIENT_SIDE),
        *deletion(wait=False),
        Flag("force-conflicts", Type.BOOL, help="Take over fields that other managers own (server-side only)."),
        Flag("openapi-patch", Type.BOOL, default=True, help="Merge by the published schema."),
        Flag("overwrite", Type.BOOL, default=True, help="Resolve conflicts with the live object by the manifest."),
        Flag("server-side", Type.BOOL, help="Let the server merge."),
        Flag("subresource", help="The subresource to apply to."),
    ),
    examples=("apply -f web.yaml", "apply -f . -R", "apply --server-side -f web.yaml"),
)
