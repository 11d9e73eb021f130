"""`diff`: what apply would change, as the server says.

Source of the behaviour: kubectl pkg/cmd/diff/diff.go. Exit codes: 0 for no difference, 1 for some, above for a failure.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection
from dataclasses import dataclass, field

from engine.api.errors import ApiError
from engine.api.patch import three_way_merge_patch, three_way_strategic_patch
from engine.api.types import Object, copy_object
from engine.api.wire import APPLY_PATCH, MERGE_PATCH, STRATEGIC_PATCH
from engine.kubectl import external_diff, last_applied, pruning, yaml
from engine.kubectl.command import Command
from engine.kubectl.discovery import Resource
from engine.kubectl.errors import CommandError, Exit, UsageError
from engine.kubectl.flags import Flag, Type
from engine.kubectl.flagsets import SELECTOR, field_manager, filename
from engine.kubectl.printers.objects import without_managed_fields
from engine.kubectl.schemas import schema_of
from engine.kubectl.selection import Info, Selection, is_one_file, visit
from engine.kubectl.session import Session

MASK_BEFORE, MASK_AFTER = "*** (before)", "*** (after)"
SAME = "***"
SERVER_SIDE = "kubectl"  # who applies on the server's side unless another is named


@dataclass(slots=True)
class _Differ:
    session: Session
    shown: dict[str, str] = field(default_factory=dict)
    texts: dict[str, tuple[str, str | None]] = field(default_factory=dict)  # before and after, of all that is looked at
    seen: dict[str, None] = field(default_factory=dict)  # uids
    namespaces: dict[str, None] = field(default_factory=dict)

    async def __call__(self, info: Info) -> None:
        live = await self._live(info)
        if live is not None:
            self.seen[live["metadata"]["uid"]] = None
        if info.resource.namespaced:
            self.namespaces[info.namespace] = None
        merged = await self._merged(info, live)
        if not self.session.flags.on("show-managed-fields"):
            live = without_managed_fields(live) if live is not None else None
            merged = without_managed_fields(merged)
        if info.resource.kind == "Secret" and not self.session.flags.on("show-secrets"):
            live, merged = _masked(live, merged)
            self._show(info, live, merged, absent="null\n")  # upstream masks even what is not there, and writes that
        else:
            self._show(info, live, merged)

    async def _live(self, info: Info) -> Object | None:
        try:
            return await self.session.get(info.resource, info.name, info.namespace)
        except ApiError as error:
            if error.reason != "NotFound":
                raise
            return None

    async def _merged(self, info: Info, live: Object | None) -> Object:
        """What the object would be, by a dry run."""
        flags = self.session.flags
        server_side = flags.on("server-side") and not flags.given("field-manager")
        query = {"dryRun": "All", "fieldManager": SERVER_SIDE if server_side else flags.text("field-manager")}
        if flags.on("server-side"):
            force = flags.on("force-conflicts")
            try:
                return await self.session.patch(
                    info.resource, info.name, info.namespace, info.object, APPLY_PATCH, force=force, **query
                )
            except ApiError as error:
                if error.reason == "Conflict":  # of owners, which upstream takes for one of versions, and tries again
                    gvk = info.resource.gvk
                    what = f"{gvk.group}/{gvk.version}, Kind={gvk.kind}: {info.name}"
                    self.session.warn("diff.go:723", f"Object ({what}) keeps changing, diffing without lock")
                raise
        modified = last_applied.bare(info.object)  # what changes is shown, not what is remembered of it
        if live is None:
            return await self.session.create(info.resource, info.namespace, modified, **query)
        original, schema = last_applied.original(live) or {}, schema_of(info.resource.gvk)
        if schema is None:
            patch, content_type = three_way_merge_patch(original, modified, live), MERGE_PATCH
        else:
            patch, content_type = three_way_strategic_patch(original, modified, live, schema), STRATEGIC_PATCH
        return await self.session.patch(info.resource, info.name, info.namespace, patch, content_type, **query)

    async def show_pruned(self, allowed: Collection[Resource]) -> None:
        """What apply would prune: objects that were applied, bear the labels, and are in the manifests no more."""
        for resource, obj in await pruning.candidates(self.session, allowed, self.namespaces, self.seen):
            metadata = obj["metadata"]
            info = Info(resource, metadata.get("namespace", ""), metadata["name"], object=obj)
            self._show(info, obj, None)

    def _show(self, info: Info, live: Object | None, merged: Object | None, *, absent: str = "") -> None:
        gvk = info.resource.gvk
        group = [gvk.group] if gvk.group else []
        name = ".".join([*group, gvk.version, gvk.kind, info.namespace, info.name])
        was = yaml.dump(live) if live is not None else absent
        would_be = yaml.dump(merged) if merged is not None else None
        self.texts[name] = (was, would_be)
        before, after = was.splitlines(keepends=True), (would_be or "").splitlines(keepends=True)
        lines = list(difflib.unified_diff(before, after, f"LIVE/{name}", f"MERGED/{name}"))
        if lines:
            self.shown[name] = f"diff -u -N LIVE/{name} MERGED/{name}\n{''.join(lines)}"


def _masked(live: Object | None, merged: Object) -> tuple[Object | None, Object]:
    """Secrets' data hidden, but so that one sees which of it changes."""
    merged = copy_object(merged)
    if live is None:
        merged["data"] = dict.fromkeys(merged.get("data") or {}, SAME)
        return None, merged
    live = copy_object(live)
    old, new = dict(live.get("data") or {}), dict(merged.get("data") or {})
    for key in {**old, **new}:
        changed = key in old and key in new and old[key] != new[key]
        if key in old:
            live["data"][key] = MASK_BEFORE if changed else SAME
        if key in new:
            merged["data"][key] = MASK_AFTER if changed else SAME
    return live, merged


async def run(session: Session) -> None:
    if session.arguments:
        raise UsageError(f"Unexpected args: [{' '.join(session.arguments)}]")
    if not session.from_files:
        raise CommandError("must specify one of -f and -k")
    if session.flags.on("force-conflicts") and not session.flags.on("server-side"):
        raise CommandError("--force-conflicts only works with --server-side")
    selection = Selection.of_flags(session, verb="diff")
    selection.fetch = False
    differ = _Differ(session)
    allowed: list[Resource] = []
    if session.flags.on("prune"):
        is_one_file(selection)  # what is wrong with -f is told first
        allowed = await pruning.allowed(session, session.flags.many("prune-allowlist"))
        pruning.warn_of_all_kinds(session, allowed)
    await visit(session, selection, differ, stop_at_error=True)
    if session.flags.on("prune"):
        await differ.show_pruned(allowed)
    if session.environment.get(external_diff.VARIABLE):
        await external_diff.show(session, differ.texts)
        return
    for name in sorted(differ.shown):  # as diff goes through two folders
        session.stdout.write(differ.shown[name])
    if differ.shown:
        raise Exit(1)


COMMAND = Command(
    name="diff",
    short="Diff the live version against a would-be applied version",
    usage="-f FILENAME",
    run=run,
    failure_code=2,
    flag_errors_as_usage=True,
    flags=(
        *filename(),
        *SELECTOR,
        *field_manager("kubectl-client-side-apply"),
        Flag("concurrency", Type.INT, default=1, help="How many objects at once."),
        Flag("force-conflicts", Type.BOOL, help="Take over fields that other managers own (server-side only)."),
        Flag("prune", Type.BOOL, help="Show what apply would prune, too."),
        Flag("prune-allowlist", Type.ARRAY, help="A kind to prune, GROUP/VERSION/KIND; by default the usual ones."),
        Flag("server-side", Type.BOOL, help="Let the server merge."),
        Flag("show-managed-fields", Type.BOOL, help="Keep managedFields in the comparison."),
        Flag("show-secrets", Type.BOOL, help="Show the data of Secrets."),
    ),
)
