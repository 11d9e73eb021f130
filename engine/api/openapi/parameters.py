"""The query parameters of operations: which there are of each, their types, and what they are for.

They are the fields of the options types (meta/v1 ListOptions, CreateOptions and so on, PodExecOptions and its like), as
apiserver pkg/endpoints/installer.go AddObjectParams reads them off.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from engine.api.types import GVK


class Parameter(NamedTuple):
    type: str
    description: str


PARAMETERS: Mapping[str, Parameter] = {
    "pretty": Parameter("string", "If 'true', the output is printed for people to read."),
    "dryRun": Parameter(
        "string", "When present, nothing is persisted. Valid values are: - All: all stages are processed."
    ),
    "fieldManager": Parameter("string", "The name of the actor that makes these changes."),
    "fieldValidation": Parameter(
        "string",
        "What the server does about unknown or duplicate fields. Valid values are: - Ignore - Warn - Strict.",
    ),
    "force": Parameter("boolean", "Take over conflicting fields of other managers. Apply requests only."),
    "allowWatchBookmarks": Parameter("boolean", "Ask for watch events of type BOOKMARK."),
    "continue": Parameter("string", "Where an earlier list left off."),
    "fieldSelector": Parameter("string", "Restricts the objects by their fields."),
    "labelSelector": Parameter("string", "Restricts the objects by their labels."),
    "limit": Parameter("integer", "The greatest number of objects to return for a list call."),
    "resourceVersion": Parameter("string", "Constrains the resource versions that the request may be served from."),
    "resourceVersionMatch": Parameter("string", "How resourceVersion is applied to list calls."),
    "sendInitialEvents": Parameter("boolean", "Begin a watch with the objects that there are."),
    "shardSelector": Parameter(
        "string",
        "Restricts the objects to ranges of hashes, as shardRange(object.metadata.uid, '0x0', '0x8000000000000000'). "
        "An alpha field: without the feature gate ShardedListAndWatch it changes nothing.",
    ),
    "timeoutSeconds": Parameter("integer", "Limits the duration of the call."),
    "watch": Parameter("boolean", "Stream changes as they happen."),
    "gracePeriodSeconds": Parameter("integer", "The seconds before the object is deleted."),
    "ignoreStoreReadErrorWithClusterBreakingPotential": Parameter("boolean", "Delete an object that cannot be read."),
    "orphanDependents": Parameter("boolean", "Deprecated: use propagationPolicy."),
    "propagationPolicy": Parameter("string", "Whether and how dependents are deleted."),
    "command": Parameter("string", "The command to run, of which no shell is made."),
    "container": Parameter("string", "The container that is meant. Default: the only one of the Pod."),
    "stdin": Parameter("boolean", "Send what the client writes to the container."),
    "stdout": Parameter("boolean", "Get the container's standard output."),
    "stderr": Parameter("boolean", "Get the container's standard error."),
    "tty": Parameter("boolean", "Give the command a terminal."),
    "ports": Parameter("integer", "The ports to forward, where a WebSocket is asked for."),
    "path": Parameter("string", "The path of the request that is passed on."),
    "follow": Parameter("boolean", "Go on as the log grows."),
    "insecureSkipTLSVerifyBackend": Parameter("boolean", "Do not ask who it is that serves the log."),
    "limitBytes": Parameter("integer", "The greatest number of bytes of the log."),
    "previous": Parameter("boolean", "The log of the container's run before."),
    "sinceSeconds": Parameter("integer", "How many seconds of the log, back from now."),
    "stream": Parameter("string", "Which of the container's streams: All, Stdout or Stderr."),
    "tailLines": Parameter("integer", "How many lines from the log's end."),
    "timestamps": Parameter("boolean", "Begin each line with its time."),
}
# The release whose options types are the first to have the field. A gate that is off does not take it away: the
# types are read as they are.
_SINCE: Mapping[str, tuple[int, int]] = {
    "sendInitialEvents": (1, 27),
    "ignoreStoreReadErrorWithClusterBreakingPotential": (1, 32),
    "shardSelector": (1, 36),
}
# Those of the path itself: what each stands for, with the kind put in.
IN_PATH: Mapping[str, str] = {
    "name": "name of the {kind}",
    "namespace": "object name and auth scope, such as for teams and projects",
    "path": "path to the resource",
}
_PICK = ("continue", "fieldSelector", "labelSelector", "limit", "resourceVersion", "resourceVersionMatch")
_DELETE = (
    "dryRun",
    "gracePeriodSeconds",
    "ignoreStoreReadErrorWithClusterBreakingPotential",
    "orphanDependents",
    "propagationPolicy",
)
LIST = ("allowWatchBookmarks", *_PICK, "sendInitialEvents", "shardSelector", "timeoutSeconds", "watch", "pretty")
WRITE = ("dryRun", "fieldManager", "fieldValidation", "pretty")
PATCH = (*WRITE, "force")
DELETE = (*_DELETE, "pretty")
DELETE_COLLECTION = (*_PICK, "sendInitialEvents", "shardSelector", "timeoutSeconds", *_DELETE, "pretty")
LOG = (
    "container",
    "follow",
    "insecureSkipTLSVerifyBackend",
    "limitBytes",
    "pretty",
    "previous",
    "sinceSeconds",
    "stream",
    "tailLines",
    "timestamps",
)
_STREAMS = ("container", "stderr", "stdin", "stdout", "tty")
_CONNECT: Mapping[str, tuple[str, ...]] = {
    "PodAttachOptions": _STREAMS,
    "PodExecOptions": ("command", *_STREAMS),
    "PodPortForwardOptions": ("ports",),
}


def connect_parameters(options: GVK) -> tuple[str, ...]:
    """Of exec, attach and portforward what they say; a proxy has its path and nothing else."""
    return _CONNECT.get(options.kind, ("path",))


def of_release(names: tuple[str, ...], release: tuple[int, int]) -> tuple[str, ...]:
    """Those parameters that there are in a release."""
    return tuple(name for name in names if _SINCE.get(name, release) <= release)
