"""What is told of how the server was built, at /version and in the figures (apimachinery pkg/version, Info).

There is no build: no commit and no Go. Those fields are there and empty, the date is what upstream's builds have that
were not given one, and the compiler is who plays the server.
"""

from __future__ import annotations

from engine.api.types import Object


def version_info(version: str) -> Object:
    """`version` is the Kubernetes version that the server plays, as in 1.37.0."""
    major, minor = version.split(".")[:2]
    return {
        "major": major,
        "minor": minor,
        "emulationMajor": major,
        "emulationMinor": minor,
        "minCompatibilityMajor": major,
        "minCompatibilityMinor": str(max(int(minor) - 1, 0)),
        "gitVersion": f"v{version}",
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": "ktui",
        "platform": "linux/amd64",
    }


def build_labels(version: str) -> dict[str, str]:
    """The labels of the metric kubernetes_build_info (component-base metrics/version.go)."""
    info = version_info(version)
    return {
        "build_date": info["buildDate"],
        "compiler": info["compiler"],
        "git_commit": info["gitCommit"],
        "git_tree_state": info["gitTreeState"],
        "git_version": info["gitVersion"],
        "go_version": info["goVersion"],
        "major": info["major"],
        "minor": info["minor"],
        "platform": info["platform"],
    }
