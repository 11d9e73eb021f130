"""The patch that a client-side apply sends, made of what was applied last, what is wanted and what is there.

Source of the behaviour: kubectl pkg/cmd/apply/patcher.go (patchSimple).
"""

from __future__ import annotations

from collections.abc import Callable

from engine.api.errors import ApiError
from engine.api.patch import (
    PatchConflictError,
    PreconditionFailedError,
    key_unchanged,
    merge_patch,
    metadata_key_unchanged,
    strategic_merge_patch,
    three_way_merge_patch,
    three_way_strategic_patch,
)
from engine.api.types import Object
from engine.api.wire import MERGE_PATCH, STRATEGIC_PATCH
from engine.kubectl import last_applied, yaml
from engine.kubectl.errors import CommandError
from engine.kubectl.schemas import schema_of
from engine.kubectl.selection import Info

# Upstream asks one after the other which fields merge; only what the last one says is an error.
_SOURCES = ("openapi v3 spec", "openapi spec")


def difference(
    info: Info, modified: Object, current: Object, *, overwrite: bool, warn: Callable[[str], None]
) -> tuple[Object, str]:
    """The patch and its content type. Raises CommandError."""
    original = last_applied.original(current) or {}
    schema = schema_of(info.resource.gvk)
    if schema is None:
        return three_way_merge_patch(original, modified, current), MERGE_PATCH
    kept = [key_unchanged("apiVersion"), key_unchanged("kind"), metadata_key_unchanged("name")]
    try:
        patch = three_way_strategic_patch(original, modified, current, schema, overwrite=overwrite, preconditions=kept)
    except PreconditionFailedError as error:
        raise CommandError("At least one of apiVersion, kind and name was changed") from error
    except PatchConflictError as error:
        text = _conflicting(error)
        for source in _SOURCES:
            warn(f"warning: error calculating patch from {source}: {text}")
        raise _creating(original, modified, current, text.removesuffix("\n")) from error
    except ApiError as error:
        raise _creating(original, modified, current, error.message) from error
    return patch, STRATEGIC_PATCH


def merged(current: Object, patch: Object, content_type: str, info: Info) -> Object:
    """What a dry run of the client alone shows: the object as it is, with the patch, seen by no server."""
    if content_type == MERGE_PATCH:
        return merge_patch(current, patch)
    return strategic_merge_patch(current, patch, schema_of(info.resource.gvk))


def _conflicting(error: PatchConflictError) -> str:
    patch, changed = yaml.dump(error.patch), yaml.dump(error.changed)
    return f"patch:\n{patch}\nconflicts with changes made from original to current:\n{changed}\n"


def _creating(original: Object, modified: Object, current: Object, text: str) -> CommandError:
    shown = [f"{last_applied.compact(each)}\n" for each in (original, modified, current)]
    return CommandError(
        f"creating patch with:\noriginal:\n{shown[0]}\nmodified:\n{shown[1]}\ncurrent:\n{shown[2]}\nfor: {text}"
    )
