"""Patches: JSON Patch, JSON Merge Patch and strategic merge patch, and the patches that kubectl makes.

All are pure: what they are given is never changed. Server-side apply, the fourth kind, is `engine.api.apply`.
"""

from engine.api.patch.json_patch import json_patch, json_patched
from engine.api.patch.merge_patch import merge_patch, merge_patched, three_way_merge_patch, two_way_merge_patch
from engine.api.patch.strategic_diff import (
    PatchConflictError,
    PreconditionFailedError,
    key_unchanged,
    metadata_key_unchanged,
    three_way_strategic_patch,
    two_way_strategic_patch,
)
from engine.api.patch.strategic_merge import strategic_merge_patch

__all__ = [
    "PatchConflictError",
    "PreconditionFailedError",
    "json_patch",
    "json_patched",
    "key_unchanged",
    "merge_patch",
    "merge_patched",
    "metadata_key_unchanged",
    "strategic_merge_patch",
    "three_way_merge_patch",
    "three_way_strategic_patch",
    "two_way_merge_patch",
    "two_way_strategic_patch",
]
