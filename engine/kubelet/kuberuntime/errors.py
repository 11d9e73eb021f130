"""Why a container could not be started: the reasons that its waiting state shows (container/sync_result.go,
images/types.go)."""

from __future__ import annotations

ERR_IMAGE_PULL = "ErrImagePull"
IMAGE_PULL_BACK_OFF = "ImagePullBackOff"
ERR_IMAGE_NEVER_PULL = "ErrImageNeverPull"
INVALID_IMAGE_NAME = "InvalidImageName"
CRASH_LOOP_BACK_OFF = "CrashLoopBackOff"
CREATE_CONTAINER_CONFIG_ERROR = "CreateContainerConfigError"
CREATE_CONTAINER_ERROR = "CreateContainerError"
RUN_CONTAINER_ERROR = "RunContainerError"
POST_START_HOOK_ERROR = "PostStartHookError"

BACK_OFFS = (IMAGE_PULL_BACK_OFF, CRASH_LOOP_BACK_OFF)


class StartError(Exception):
    """`reason` is one of the above, `message` what the waiting state says; `retry_after` is set for a back-off."""

    def __init__(self, reason: str, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(f"{reason}: {message}")
        self.reason = reason
        self.message = message
        self.retry_after = retry_after


class ConfigError(Exception):
    """A container's configuration refers to something that is not there."""
