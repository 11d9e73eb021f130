"""Rows of containers and Pods after upstream's tables (TestValidateVolumeMounts, TestValidateSecurityContext, …).

Only what the other tables of this folder do not have: mounts, hooks, privileges, Windows accounts, aliases of hosts.
"""

from __future__ import annotations

import pytest

from engine.api.types import Object
from tests.api.objects import POD, container, pod, problems

AT = "spec.containers[0]"
MOUNT = {"name": "data", "mountPath": "/data"}
OF_POD = "spec.securityContext"
SLEEP = f"{AT}.lifecycle.preStop.sleep: Invalid value: {{}}: must be non-negative and less than "


def mounted(*, privileged: bool | None = None, **fields: object) -> Object:
    context = {} if privileged is None else {"securityContext": {"privileged": privileged}}
    made = container(volumeMounts=[{**MOUNT, **fields}], **context)
    made["spec"]["volumes"] = [{"name": "data", "hostPath": {"path": "/srv"}}]
    return made


def secured(**context: object) -> Object:
    return container(securityContext=context)


def sleeping(seconds: int) -> Object:
    return container(lifecycle={"preStop": {"sleep": {"seconds": seconds}}})


ROWS: dict[str, tuple[Object, list[str]]] = {
    "a mount that is shared to the container": (mounted(mountPropagation="HostToContainer"), []),
    "a mount that is shared both ways": (mounted(privileged=True, mountPropagation="Bidirectional"), []),
    "a mount that is shared both ways without the privilege": (
        mounted(privileged=False, mountPropagation="Bidirectional"),
        [
            f"{AT}.volumeMounts.mountPropagation: Forbidden: Bidirectional mount propagation is available only to "
            "privileged containers"
        ],
    ),
    "a mount that is shared somehow": (
        mounted(mountPropagation="Both"),
        [
            f'{AT}.volumeMounts.mountPropagation: Unsupported value: "Both": supported values: "Bidirectional", '
            '"HostToContainer", "None"'
        ],
    ),
    "a mount read only all the way down": (mounted(readOnly=True, recursiveReadOnly="Enabled"), []),
    "a mount that is written, read only below": (
        mounted(recursiveReadOnly="IfPossible"),
        [f"{AT}.volumeMounts.recursiveReadOnly: Forbidden: may only be specified when readOnly is true"],
    ),
    "a mount read only all the way down, where more may be mounted": (
        mounted(readOnly=True, recursiveReadOnly="Enabled", mountPropagation="HostToContainer"),
        [
            f"{AT}.volumeMounts.recursiveReadOnly: Forbidden: may only be specified when mountPropagation is None or "
            "not specified"
        ],
    ),
    "a path of a Windows drive": (mounted(mountPath="G:\\mount"), []),
    "a path in a volume that begins with dots": (mounted(subPath="..data"), []),
    "a path in a volume that leaves it": (
        mounted(subPath="./.."),
        [f"{AT}.volumeMounts.subPath: Invalid value: \"./..\": must not contain '..'"],
    ),
    "a hook that sleeps not at all": (sleeping(0), []),
    "a hook that sleeps as long as the Pod has": (sleeping(30), []),
    "a hook that sleeps for longer": (
        sleeping(31),
        [f"{SLEEP.format(31)}terminationGracePeriodSeconds (30)"],
    ),
    "a hook that sleeps less than not at all": (
        sleeping(-1),
        [f"{SLEEP.format(-1)}terminationGracePeriodSeconds (30)"],
    ),
    "groups of which one is none": (
        pod(securityContext={"supplementalGroups": [1, -1], "supplementalGroupsPolicy": "All"}),
        [
            f"{OF_POD}.supplementalGroups[1]: Invalid value: -1: must be between 0 and 2147483647, inclusive",
            f'{OF_POD}.supplementalGroupsPolicy: Unsupported value: "All": supported values: "Merge", "Strict"',
        ],
    ),
    "a Windows account's specification of nothing": (
        secured(windowsOptions={"gmsaCredentialSpec": ""}),
        [
            f'{AT}.securityContext.windowsOptions.gmsaCredentialSpec: Invalid value: "": '
            "gmsaCredentialSpec cannot be an empty string"
        ],
    ),
    "a Windows account's specification of the largest size": (
        secured(windowsOptions={"gmsaCredentialSpec": "a" * 64 * 1024}),
        [],
    ),
    "aliases of hosts": (pod(hostAliases=[{"ip": "10.0.0.1", "hostnames": ["a.example", "b"]}]), []),
    "aliases of no host": (
        pod(hostAliases=[{"ip": "10.0.0.256", "hostnames": ["A"]}]),
        [
            'spec.hostAliases[0].ip: Invalid value: "10.0.0.256": must be a valid IP address, (e.g. 10.9.8.7 or '
            "2001:db8::ffff)",
            'spec.hostAliases[0].hostnames[0]: Invalid value: "A": a lowercase RFC 1123 subdomain must consist of '
            "lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character "
            "(e.g. 'example.com', regex used for validation is "
            "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        ],
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_what_a_new_pod_is_told(name: str) -> None:
    value, expected = ROWS[name]
    assert problems(POD, value) == expected


def test_a_privilege_that_escalates_is_not_kept_from_escalating() -> None:
    found = problems(POD, secured(allowPrivilegeEscalation=False, capabilities={"add": ["CAP_SYS_ADMIN"]}))
    assert len(found) == 1
    assert found[0].startswith(f"{AT}.securityContext: Invalid value: ")
    assert found[0].endswith("cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN")
