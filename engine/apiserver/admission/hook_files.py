"""Which files webhooks and policies are configured by: credentials for webhooks, and folders with manifests.

Source: apiserver pkg/admission/plugin/webhook/config kubeconfig.go, plugin/policy/config config.go and
plugin/manifest/validation.go (ValidateStaticManifestsDir).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from engine.api.errors import field_forbidden, field_invalid
from engine.api.golang.forms import STRING, Struct, UnmarshalError, check

_V1, _V1ALPHA1 = "apiserver.config.k8s.io/v1", "apiserver.config.k8s.io/v1alpha1"
_SINCE, _ON_SINCE = (1, 36), (1, 37)
_GATE = "staticManifestsDir requires the ManifestBasedAdmissionControlConfig feature gate to be enabled"
_TYPE = {"apiVersion": STRING, "kind": STRING}
_FOLDER = {"staticManifestsDir": STRING}


class HookFilesError(Exception):
    """A plugin's part is none that a server would start with."""


class HookFiles(NamedTuple):
    """Of one plugin. `credentials` is a kubeconfig; None for what is not configured."""

    credentials: Path | None = None
    manifests: Path | None = None


def hook_files(plugin: str, part: Any, release: tuple[int, int]) -> HookFiles:
    """Raises HookFilesError."""
    kinds = _kinds(plugin, release)
    said = (part.get("apiVersion") or "", part.get("kind") or "") if isinstance(part, dict) else ("", "")
    if said not in kinds:
        raise HookFilesError(f'no kind "{said[1]}" is registered for version "{said[0]}"')
    try:
        unknown = check(part, kinds[said])
    except UnmarshalError as error:
        raise HookFilesError(str(error)) from error
    if unknown:
        told = ", ".join(f'unknown field "{path}"' for path in unknown)
        raise HookFilesError(f"strict decoding error: {told}")
    credentials, folder = part.get("kubeConfigFile") or "", part.get("staticManifestsDir") or ""
    if credentials and not credentials.startswith("/"):
        raise HookFilesError(str(field_invalid("kubeConfigFile", credentials, "must be an absolute file path")))
    if folder:
        _check_folder(folder, release)
    return HookFiles(Path(credentials) if credentials else None, Path(folder) if folder else None)


def _kinds(plugin: str, release: tuple[int, int]) -> dict[tuple[str, str], Struct]:
    """What configures a plugin, by version and kind."""
    folder = _FOLDER if release >= _SINCE else {}
    if plugin.endswith("Policy"):
        kind = f"{plugin}Configuration"
        return {(_V1, kind): Struct(kind, {**_TYPE, **folder})} if folder else {}
    fields = {**_TYPE, "kubeConfigFile": STRING, **folder}
    older = {} if folder else {(_V1ALPHA1, "WebhookAdmission"): Struct("WebhookAdmission", fields)}
    kind = "WebhookAdmissionConfiguration"
    return {(_V1, kind): Struct(kind, fields), **older}


def _check_folder(folder: str, release: tuple[int, int]) -> None:
    """Raises HookFilesError."""
    name = "staticManifestsDir"
    if release < _ON_SINCE:
        raise HookFilesError(str(field_forbidden(name, _GATE)))
    if not folder.startswith("/"):
        raise HookFilesError(str(field_invalid(name, folder, "must be an absolute file path")))
    try:
        Path(folder).stat()
    except OSError as error:
        why = f"unable to read: stat {folder}: {(error.strerror or str(error)).lower()}"
        raise HookFilesError(str(field_invalid(name, folder, why))) from error
    if not Path(folder).is_dir():
        raise HookFilesError(str(field_invalid(name, folder, "must be a directory")))
