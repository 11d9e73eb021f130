"""The query parameters of requests, checked (apimachinery pkg/apis/meta/v1/validation and internalversion)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from engine.api.errors import (
    Cause,
    bad_request,
    field_forbidden,
    field_not_supported,
    field_required,
    invalid,
)
from engine.api.golang.integer import parse_int
from engine.api.types import GVK
from engine.api.validation.metadata import MANAGER_LENGTH, field_manager
from engine.api.validation.problems import Problems
from engine.api.wire import APPLY_PATCH, Request
from engine.apiserver.registry.resource_versions import Continue, parse_resource_version

VALIDATIONS = ("Ignore", "Strict", "Warn")
_OPTIONS = {"create": "CreateOptions", "update": "UpdateOptions", "patch": "PatchOptions"}


def flag(request: Request, name: str) -> bool | None:
    """A boolean of the query, None where it is not given: all but 0 and false is true, no value at all too
    (apimachinery pkg/runtime conversion.go)."""
    values = request.query.get(name)
    return values[0].lower() not in ("0", "false") if values else None


def refuse_export(request: Request) -> None:
    """An object can no longer be asked for without what is the cluster's of it (handlers/get.go GetResource). Raises
    ApiError 400."""
    if request.query and flag(request, "export"):
        raise bad_request("the export parameter, deprecated since v1.14, is no longer supported")


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """`manager` is what the write is recorded under in managedFields."""

    dry_run: bool = False
    manager: str = ""
    validation: str = "Warn"
    force: bool = False

    @classmethod
    def of(cls, request: Request, verb: str) -> WriteOptions:
        """Raises ApiError 422."""
        if verb == "create" and not request.query:
            return _plain(request.headers.get("user-agent", ""))
        causes = Problems()
        manager = request.parameter("fieldManager")
        force = flag(request, "force")
        if verb == "patch":
            applying = request.headers.get("content-type", "").split(";")[0].strip() == APPLY_PATCH
            if applying and not manager:
                causes.append(field_required("fieldManager", "is required for apply patch"))
            if not applying and force is not None:
                causes.append(field_forbidden("force", "may not be specified for non-apply patch"))
        field_manager(manager, "fieldManager", causes)
        causes += dry_run_causes(request.query.get("dryRun", []))
        validation = request.parameter("fieldValidation") or "Warn"
        if validation not in VALIDATIONS:
            causes.append(field_not_supported("fieldValidation", validation, ("", *VALIDATIONS)))
        if causes:
            raise invalid(GVK("meta.k8s.io", "v1", _OPTIONS.get(verb, "CreateOptions")), "", causes)
        return cls(
            dry_run="dryRun" in request.query,
            manager=manager or manager_of(request.headers.get("user-agent", "")),
            validation=validation,
            force=bool(force),
        )


@lru_cache(maxsize=256)
def _plain(user_agent: str) -> WriteOptions:
    """Of a request that asks for nothing special."""
    return WriteOptions(manager=manager_of(user_agent))


def dry_run_causes(values: list[str]) -> list[Cause]:
    return [field_not_supported("dryRun", values, ("All",)) for value in values if value != "All"][:1]


@lru_cache(maxsize=256)
def manager_of(user_agent: str) -> str:
    """The manager of a client that names none: the first word of its user agent (handlers/create.go)."""
    word = "".join(letter for letter in user_agent.split("/")[0] if letter.isprintable())
    return word.encode()[:MANAGER_LENGTH].decode(errors="ignore") or "unknown"


@dataclass(frozen=True, slots=True)
class ListOptions:
    """`version` is the resourceVersion as it was given, `resource_version` what it means: None where it is not given, 0
    for "0"; `initial_events` is what a watch begins with, `single` that one key alone can be listed."""

    version: str = ""
    resource_version: int | None = None
    match: str = ""
    limit: int = 0
    continue_: str = ""
    bookmarks: bool = False
    initial_events: bool | None = None
    timeout: float | None = None
    single: bool = False

    @property
    def lists(self) -> bool:
        """Whether a watch begins with a list, whose end it tells."""
        return bool(self.initial_events and self.bookmarks)

    @property
    def exact(self) -> bool:
        """Whether a list is of its resourceVersion alone; for a page without a match that is so of old."""
        return self.match == "Exact" or (self.limit > 0 and not self.match and not self.single)

    @classmethod
    def of(cls, request: Request, *, watching: bool) -> ListOptions:
        """The options as far as they are read before the selectors are looked at. Raises ApiError 400, 422."""
        match = request.parameter("resourceVersionMatch")
        version = request.parameter("resourceVersion")
        token = request.parameter("continue")
        initial = flag(request, "sendInitialEvents")
        timeout, limit = integer(request, "timeoutSeconds"), integer(request, "limit")
        if watching and initial is None and not match and version in ("", "0"):
            # A watch from nowhere begins with what is there (internalversion defaults.go SetListOptionsDefaults).
            initial, match = True, "NotOlderThan"
        causes = (
            _watch_causes(match=match, token=token, initial=initial)
            if watching
            else _list_causes(match=match, version=version, token=token, initial=initial)
        )
        if causes:
            raise invalid(GVK("meta.k8s.io", "v1", "ListOptions"), "", causes)
        return cls(
            version=version,
            match=match,
            limit=max(limit or 0, 0),
            continue_=token,
            bookmarks=bool(flag(request, "allowWatchBookmarks")),
            initial_events=initial,
            timeout=float(timeout) if timeout else None,
        )

    def when(self) -> ListOptions:
        """The options of a watch with the resourceVersion that it begins at. Raises ApiError 500."""
        return replace(self, resource_version=parse_resource_version(self.version) if self.version else None)

    def where(self, *, single: bool) -> ListOptions:
        """The options of a list with the resourceVersion that it is of (storage util.go ValidateListOptions).

        One that goes on is of no single key (MatchesSingle). Raises ApiError 400.
        """
        revision = parse_resource_version(self.version, listing=True) if self.version else None
        if self.continue_:
            Continue.decode(self.continue_)
            if revision:
                raise bad_request("specifying resource version is not allowed when using continue")
        return replace(self, resource_version=revision, single=single and not self.continue_)


def integer(request: Request, name: str) -> int | None:
    """Raises ApiError 400, for no value at all too."""
    if not request.query.get(name):
        return None
    text = request.parameter(name)
    try:
        return parse_int(text)
    except ValueError as error:
        raise bad_request(str(error)) from None


def _list_causes(*, match: str, version: str, token: str, initial: bool | None) -> list[Cause]:
    causes = []
    if match:
        if not version:
            causes.append(
                field_forbidden(
                    "resourceVersionMatch",
                    "resourceVersionMatch is forbidden unless resourceVersion is provided",
                )
            )
        if token:
            causes.append(_match_with_continue())
        if match not in ("Exact", "NotOlderThan"):
            causes.append(field_not_supported("resourceVersionMatch", match, ("Exact", "NotOlderThan", "")))
        elif match == "Exact" and version == "0":
            causes.append(
                field_forbidden(
                    "resourceVersionMatch",
                    'resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
                )
            )
    if initial is not None:
        causes.append(field_forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"))
    return causes


def _watch_causes(*, match: str, token: str, initial: bool | None) -> list[Cause]:
    causes = []
    if initial is not None and match != "NotOlderThan":
        causes.append(
            field_forbidden(
                "resourceVersionMatch", "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
            )
        )
    if match:
        if initial is None:
            causes.append(
                field_forbidden(
                    "resourceVersionMatch",
                    "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
                )
            )
        if match != "NotOlderThan":
            causes.append(field_not_supported("resourceVersionMatch", match, ("NotOlderThan",)))
        if token:
            causes.append(_match_with_continue())
    return causes


def _match_with_continue() -> Cause:
    return field_forbidden("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided")
