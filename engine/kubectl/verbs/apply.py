"""`apply`: make objects as a manifest says, on the client side (three-way merge) or the server side.

Source of the behaviour: kubectl pkg/cmd/apply (apply.go, patcher.go).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.api.errors import ApiError
from engine.api.types import Object
from engine.api.wire import APPLY_PATCH
from engine.kubectl import apply_sets, last_applied, migration, pruning
from engine.kubectl.apply_patch import difference, merged
from engine.kubectl.change_cause import RECORD, recorded
from engine.kubectl.command import Command
from engine.kubectl.deletion import delete_unwatched, propagation
from engine.kubectl.errors import Aggregate, CommandError, FlagError, NamespaceError, UsageError, of, with_source
from engine.kubectl.flags import Flag, Type
from engine.kubectl.flagsets import ALL, DRY_RUN, PRINT, SELECTOR, VALIDATE, deletion, field_manager, filename
from engine.kubectl.printers.objects import (
    PLAIN,
    result_printer,
    split_format,
    structured_printer,
    unknown_format,
    without_managed_fields,
)
from engine.kubectl.selection import Info, Selection, collect
from engine.kubectl.session import Session
from engine.kubectl.verbs import last_applied_commands

CLIENT_SIDE = "kubectl-client-side-apply"
SERVER_SIDE = "kubectl"
RETRIES = 5
BACK_OFF_AFTER = 1
BACK_OFF_SECONDS = 1.0
NOT_RESTORED = (
    "An error occurred force-replacing the existing object with the newly provided one:\n\n{}.\n\n"
    "Additionally, an error occurred attempting to restore the original object:\n\n{}"
)
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
    seen: dict[str, None] = field(default_factory=dict)  # uids
    namespaces: dict[str, None] = field(default_factory=dict)

    async def __call__(self, info: Info) -> None:
        info.object = recorded(self.session, info.object)
        metadata = info.object.get("metadata") or {}
        if not metadata.get("name") and metadata.get("generateName"):
            raise CommandError(f"from {metadata['generateName']}: cannot use generate name with apply")
        if not info.name:
            why = "resource name may not be empty"
            raise CommandError(why if self.server_side else _failed_to_retrieve(info, why))
        if info.resource.namespaced:
            self.namespaces[info.namespace] = None
        if self.server_side:
            await self._server_side(info)
        else:
            await self._client_side(info)

    # -- server side

    async def _server_side(self, info: Info) -> None:
        applied = info.object
        try:
            info.refresh(await self._send_apply(info, applied))
        except ApiError as error:
            if error.reason == "Conflict":
                raise CommandError(f"{error.message}{CONFLICT_HELP}") from error
            raise
        await self._take_over(info, applied)
        self._warn_if_deleting(info)
        self._report(info, "serverside-applied")

    @property
    def _dry_run_on_server(self) -> str | None:
        return "All" if self.dry_run == "server" else None

    async def _send_apply(self, info: Info, applied: Object) -> Object:
        return await self.session.patch(
            info.resource,
            info.name,
            info.namespace,
            applied,
            APPLY_PATCH,
            subresource=self.session.flags.text("subresource"),
            fieldManager=self.manager,
            force=self.session.flags.on("force-conflicts"),
            fieldValidation=self.validation,
            dryRun=self._dry_run_on_server,
        )

    async def _take_over(self, info: Info, applied: Object) -> None:
        """Take over the fields of client-side applies. A failure is a warning only: the next apply tries again.

        A dry run fails where the server would have kept another annotation."""
        if self.session.flags.text("subresource"):
            return
        dry_run = self._dry_run_on_server
        trouble = "failed to migrate kubectl.kubernetes.io/last-applied-configuration for Server-Side Apply"
        try:
            await migration.save_annotation(self.session, info, self.manager, dry_run)
            trouble = "server rejected managed fields migration to Server-Side Apply"
            migrated = await migration.migrate(self.session, info, self.manager, dry_run)
            trouble = "failed to re-apply configuration after performing Server-Side Apply migration"
            if migrated:
                info.refresh(await self._send_apply(info, applied))
        except ApiError as error:
            self.session.err(
                f"Warning: {trouble}. This is non-fatal and will be retried next time you apply. Error: {error.message}"
            )

    def _warn_if_deleting(self, info: Info) -> None:
        if info.object["metadata"].get("deletionTimestamp"):
            self.session.err(f"Warning: Detected changes to resource {info.name} which is currently being deleted.")

    # -- client side

    async def _client_side(self, info: Info) -> None:
        modified = last_applied.modified(info.object)
        try:
            current = await self.session.get(
                info.resource, info.name, info.namespace, subresource=self.session.flags.text("subresource")
            )
        except NamespaceError as error:
            raise CommandError(_failed_to_retrieve(info, str(error))) from error
        except ApiError as error:
            if error.reason != "NotFound":
                raise _retrieving(error, info) from error
            await self._create(info, last_applied.without_nulls(modified))
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
            try:
                created = await self.session.create(info.resource, info.namespace, modified, **self._query())
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
                info.object = merged(current, patch, content_type, info)
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
                    patched = await self._recreate(info, modified, current)
                else:
                    raise _applying(error, info, patch) from error
            info.refresh(patched)
            self._warn_if_deleting(info)
            break
        self._report(info, "configured" if patch else "unchanged")

    def _difference(self, info: Info, modified: Object, current: Object) -> tuple[Object, str]:
        """Raises CommandError."""
        overwrite = self.session.flags.on("overwrite")
        try:
            return difference(info, modified, current, overwrite=overwrite, warn=self.session.err)
        except CommandError as error:
            if self.dry_run == "client":
                raise with_source(error, _verb(info, ""), info.source) from error
            raise _applying(error, info, None) from error

    async def _recreate(self, info: Info, modified: Object, current: Object) -> Object:
        """Delete the object and create it anew (`--force`). What cannot be made is told, and the old one put back."""
        session, verb = self.session, _verb(info, last_applied.compact(modified) + "\n")
        try:
            await delete_unwatched(session, info, policy=propagation(session))
            return await session.create(info.resource, info.namespace, modified, **self._query())
        except CommandError as error:
            raise with_source(error, verb, info.source) from error
        except ApiError as error:
            try:
                await session.create(info.resource, info.namespace, current, **self._query())
            except ApiError as second:
                raise with_source(
                    CommandError(NOT_RESTORED.format(error.message, second.message)), verb, info.source
                ) from error
            raise with_source(error, verb, info.source) from error

    def _query(self) -> dict[str, str]:
        return {
            "dryRun": "All" if self.dry_run == "server" else "",
            "fieldManager": self.manager,
            "fieldValidation": self.validation,
        }

    # -- telling

    def _report(self, info: Info, operation: str) -> None:
        self.seen[info.object["metadata"].get("uid", "")] = None
        if self.session.flags.text("output") in ("", "name"):
            result_printer(self.session, operation, dry_run=self.dry_run)(info.object, info.resource)
        else:
            self.shown.append(info.object)

    def finish(self) -> None:
        """Print what `-o` asked for: the one object, or all in a List."""
        if not self.shown:
            return
        output, _ = split_format(self.session)
        printer = structured_printer(self.session, typed=len(self.shown) > 1)
        if printer is None:  # which is told when all has been done
            raise unknown_format(self.session.flags.text("output"))
        keep = self.session.flags.on("show-managed-fields") or output not in PLAIN
        shown = [obj if keep else without_managed_fields(obj) for obj in self.shown]
        if len(shown) == 1:
            printer(shown[0])
        else:
            printer({"kind": "List", "apiVersion": "v1", "metadata": {}, "items": shown})


def describe_info(info: Info) -> str:
    """An object as error texts name it (Info.String of cli-runtime)."""
    gvr, kind = info.resource.gvr, info.resource.kind
    group_version = f"{gvr.group}/{gvr.version}"
    return (
        f'Resource: "{group_version}, Resource={gvr.resource}", GroupVersionKind: "{group_version}, Kind={kind}"\n'
        f'Name: "{info.name}", Namespace: "{info.namespace}"'
    )


def _retrieving(error: ApiError, info: Info) -> Exception:
    if not info.source:
        return error
    return ApiError(error.code, error.reason, _failed_to_retrieve(info, error.message), details=error.details)


def _failed_to_retrieve(info: Info, why: str) -> str:
    where = f"{describe_info(info)}\nfrom server for: "
    return f'error when retrieving current configuration of:\n{where}"{info.source}": {why}'


def _applying(error: Exception, info: Info, patch: Object | None) -> Exception:
    """What was sent to what, and what the server said; or why nothing was sent."""
    text = "" if patch is None else last_applied.compact(patch)
    return with_source(with_source(error, "patching", info.source), _verb(info, text), info.source)


def _verb(info: Info, patch: str) -> str:
    return f"applying patch:\n{patch}\nto:\n{describe_info(info)}\nfor:"


def _check(session: Session, dry_run: str) -> None:
    """Flags that do not go together. Raises CommandError."""
    flags = session.flags
    server_side, prune, selector = flags.on("server-side"), flags.on("prune"), flags.text("selector")
    if flags.on("force-conflicts") and not server_side:
        raise CommandError("--force-conflicts only works with --server-side")
    if dry_run == "client" and server_side:
        raise CommandError("--dry-run=client doesn't work with --server-side (did you mean --dry-run=server instead?)")
    if flags.on("force") and server_side:
        raise CommandError("--force cannot be used with --server-side")
    if flags.on("force") and dry_run == "server":
        raise CommandError("--dry-run=server cannot be used with --force")
    if flags.on("all") and selector:
        raise CommandError("cannot set --all and --selector at the same time")
    if flags.text("applyset") and not prune:
        raise CommandError("--applyset requires --prune")
    if prune:
        _check_pruning(session)


def _check_pruning(session: Session) -> None:
    flags = session.flags
    if flags.on("force"):
        raise CommandError("--force cannot be used with --prune")
    if flags.text("applyset"):
        for name in ("all", "selector", "prune-allowlist"):
            if flags.given(name):
                raise CommandError(f"--{name} is incompatible with --applyset")
        return
    if not flags.on("all") and not flags.text("selector"):
        raise CommandError(
            "all resources selected for prune without explicitly passing --all. To prune all resources, pass the "
            "--all flag. If you did not mean to prune all resources, specify a label selector"
        )
    if flags.on("server-side"):
        raise CommandError("--prune is in alpha and doesn't currently work on objects created by server-side apply")


async def run(session: Session) -> None:
    flags = session.flags
    server_side = flags.on("server-side")
    if flags.given("applyset") and not apply_sets.enabled(session):
        raise FlagError("unknown flag: --applyset")
    if session.arguments:
        raise UsageError(f"Unexpected args: [{' '.join(session.arguments)}]")
    if not session.from_files:
        raise CommandError("must specify one of -f and -k")
    if flags.text("subresource") and not server_side:
        raise CommandError("--subresource can only be specified for --server-side")
    dry_run = session.dry_run()
    allowed = await pruning.allowed(session, flags.many("prune-allowlist")) if flags.on("prune") else []
    group = await apply_sets.ApplySet.of_flag(session, ref) if (ref := flags.text("applyset")) else None
    _check(session, dry_run)
    if group is not None:
        await group.check()
    manager = flags.text("field-manager") if flags.given("field-manager") or not server_side else SERVER_SIDE
    applier = Applier(session, dry_run, session.field_validation(), server_side, manager)
    await _apply(session, applier, group)
    session.log("apply.go:546", "Running apply post-processor function", level=4)
    applier.finish()
    if not flags.on("prune"):
        return
    report = result_printer(session, "pruned", dry_run=dry_run)
    if group is not None:
        await group.prune(seen=applier.seen, dry_run=dry_run, validation=applier.validation, report=report)
    else:
        await pruning.prune(
            session, allowed, namespaces=applier.namespaces, seen=applier.seen, dry_run=dry_run, report=report
        )


async def _apply(session: Session, applier: Applier, group: apply_sets.ApplySet | None) -> None:
    """Apply all that can be; what could not is raised at the end."""
    if session.namespace_given:
        applier.namespaces[session.namespace] = None
    selection = Selection.of_flags(session, verb="apply")
    selection.fetch = False
    selection.validate = "" if applier.validation == "Ignore" else applier.validation
    infos, unread = await collect(session, selection)
    if not infos and not unread:
        raise CommandError("no objects passed to apply")
    if group is not None:
        group.label(infos)
        await group.begin(infos, dry_run=applier.dry_run, validation=applier.validation)
    errors: list[Exception] = []
    for info in infos:
        session.working_on(info.resource, info.name, info.namespace)
        try:
            await applier(info)
        except (ApiError, CommandError) as error:
            errors.append(error)
    if unread and errors:  # all that is wrong with manifests counts as one
        raise Aggregate([Aggregate(unread), *errors])
    if unread or errors:
        raise of(unread or errors)


COMMAND = Command(
    name="apply",
    short="Apply a configuration to a resource by file name or stdin",
    usage="(-f FILENAME | -k DIRECTORY)",
    run=run,
    flags=(
        *filename(),
        *PRINT,
        *SELECTOR,
        *ALL,
        *DRY_RUN,
        *VALIDATE,
        *field_manager(CLIENT_SIDE),
        *RECORD,
        *deletion(wait=False),
        Flag("applyset", hidden=True, help="What keeps track of the set (alpha: KUBECTL_APPLYSET)."),
        Flag("force-conflicts", Type.BOOL, help="Take over fields that other managers own (server-side only)."),
        Flag("openapi-patch", Type.BOOL, default=True, help="Merge by the published schema."),
        Flag("overwrite", Type.BOOL, default=True, help="Resolve conflicts with the live object by the manifest."),
        Flag("prune", Type.BOOL, help="Delete what was applied before and is in the manifests no more."),
        Flag("prune-allowlist", Type.ARRAY, help="A kind to prune, GROUP/VERSION/KIND; by default the usual ones."),
        Flag("server-side", Type.BOOL, help="Let the server merge."),
        Flag("subresource", help="The subresource to apply to."),
    ),
    children=(last_applied_commands.EDIT, last_applied_commands.SET, last_applied_commands.VIEW),
    examples=("apply -f web.yaml", "apply -f . -R", "apply --server-side -f web.yaml"),
)
