"""What a Pod may ask for, after upstream's tables (TestValidatePod, TestValidatePodSpec and those of their parts)."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.types import Object
from engine.api.validation import text
from tests.api.objects import POD, container, pod, problems

SUBDOMAIN_TEXT = text.dns_subdomain("")[0]


def annotated(annotations: dict[str, str], **spec: Any) -> Object:
    value = pod(**spec)
    value["metadata"]["annotations"] = annotations
    return value


CASES: dict[str, tuple[Object, list[str]]] = {
    "Windows' options on Linux": (
        pod(os={"name": "linux"}, securityContext={"windowsOptions": {"runAsUserName": "a"}}),
        ["spec.securityContext.windowsOptions: Forbidden: windows options cannot be set for a linux pod"],
    ),
    "Linux' options on Windows": (
        pod(
            os={"name": "windows"},
            securityContext={"fsGroup": 1, "sysctls": [{"name": "a", "value": "b"}]},
            hostPID=True,
        ),
        [
            "spec.hostPID: Forbidden: cannot be set for a windows pod",
            "spec.securityContext.fsGroup: Forbidden: cannot be set for a windows pod",
            "spec.securityContext.sysctls: Forbidden: cannot be set for a windows pod",
        ],
    ),
    "a system that there is not": (
        pod(os={"name": "dos"}),
        ['spec.os: Unsupported value: "dos": supported values: "linux", "windows"'],
    ),
    "a process of the host without its network": (
        pod(securityContext={"windowsOptions": {"hostProcess": True}}),
        [
            (
                "spec.hostNetwork: Invalid value: false: hostNetwork must be true if pod contains any hostProcess"
                " containers"
            )
        ],
    ),
    "a kernel parameter twice, and one that is none": (
        pod(
            securityContext={
                "sysctls": [
                    {"name": "kernel.shmmax", "value": "1"},
                    {"name": "kernel.shmmax", "value": "1"},
                    {"name": "A b", "value": ""},
                ]
            }
        ),
        [
            'spec.securityContext.sysctls[1].name: Duplicate value: "kernel.shmmax"',
            (
                'spec.securityContext.sysctls[2].name: Invalid value: "A b": must have at most 253 characters and'
                " match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$"
            ),
        ],
    ),
    "kernel parameters of what the host shares": (
        pod(
            hostNetwork=True,
            hostIPC=True,
            securityContext={
                "sysctls": [{"name": "net.core.somaxconn", "value": "1"}, {"name": "kernel.shmmax", "value": "1"}]
            },
        ),
        [
            (
                'spec.securityContext.sysctls[0].name: Invalid value: "net.core.somaxconn": may not be specified '
                "when 'hostNetwork' is true"
            ),
            (
                'spec.securityContext.sysctls[1].name: Invalid value: "kernel.shmmax": may not be specified when '
                "'hostIPC' is true"
            ),
        ],
    ),
    "an unmasked /proc for users of the host": (
        pod(hostUsers=True, containers=[{"name": "a", "image": "b", "securityContext": {"procMount": "Unmasked"}}]),
        [
            (
                'spec.containers[0].securityContext.procMount: Invalid value: "Unmasked": `hostUsers` must be '
                "false to use `Unmasked`"
            )
        ],
    ),
    "a way to mount /proc that there is not": (
        pod(hostUsers=True, containers=[{"name": "a", "image": "b", "securityContext": {"procMount": "Odd"}}]),
        [
            (
                'spec.containers[0].securityContext.procMount: Unsupported value: "Odd": supported values: '
                '"Default", "Unmasked"'
            )
        ],
    ),
    "a local profile without a file": (
        pod(securityContext={"seccompProfile": {"type": "Localhost"}}),
        [
            (
                "spec.securityContext.seccompProfile.localhostProfile: Required value: must be set when seccomp "
                "type is Localhost"
            )
        ],
    ),
    "a file for a profile that is not local": (
        pod(
            securityContext={
                "seccompProfile": {"type": "RuntimeDefault", "localhostProfile": "a"},
                "appArmorProfile": {"type": "Odd"},
            }
        ),
        [
            (
                "spec.securityContext.seccompProfile.localhostProfile: Invalid value: "
                '{"Type":"RuntimeDefault","LocalhostProfile":"a"}: can only be set when seccomp type is Localhost'
            ),
            (
                'spec.securityContext.appArmorProfile.type: Unsupported value: "Odd": supported values: '
                '"Localhost", "RuntimeDefault", "Unconfined"'
            ),
        ],
    ),
    "a profile for a container that there is not": (
        annotated({"container.apparmor.security.beta.kubernetes.io/nobody": "odd"}),
        [
            (
                "metadata.annotations[container.apparmor.security.beta.kubernetes.io/nobody]: Invalid value: "
                '"nobody": container not found'
            ),
            (
                "metadata.annotations[container.apparmor.security.beta.kubernetes.io/nobody]: Invalid value: "
                '"odd": invalid AppArmor profile name: "odd"'
            ),
        ],
    ),
    "a static Pod with claims": (
        annotated({"kubernetes.io/config.mirror": "x"}, nodeName="n", resourceClaims=[{"name": "A"}, {"name": "b"}]),
        ["[]: Forbidden: static pods do not support resource claims"] * 2,
    ),
    "a mirror of no node": (
        annotated({"kubernetes.io/config.mirror": "x"}),
        [
            (
                'metadata.annotations[kubernetes.io/config.mirror]: Invalid value: "x": must set spec.nodeName if'
                " mirror pod annotation is set"
            )
        ],
    ),
    "a cost of deletion with a sign": (
        annotated({"controller.kubernetes.io/pod-deletion-cost": "+5"}),
        [
            (
                'metadata.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: "+5": must be a'
                " 32bit integer"
            )
        ],
    ),
    "rules of restart without a policy": (
        container(restartPolicyRules=[{"action": "Restart", "exitCodes": {"operator": "In", "values": [1]}}]),
        [("spec.containers[0].restartPolicy: Required value: must specify restartPolicy when restart rules are used")],
    ),
    "rules of restart that there are not": (
        container(
            restartPolicy="Never",
            restartPolicyRules=[{"action": "Odd", "exitCodes": {"operator": "Odd", "values": []}}],
        ),
        [
            (
                'spec.containers[0].restartPolicyRules[0].action: Unsupported value: "Odd": supported values: '
                '"Restart", "RestartAllContainers"'
            ),
            (
                'spec.containers[0].restartPolicyRules[0].exitCodes.operator: Unsupported value: "Odd": supported'
                ' values: "In", "NotIn"'
            ),
        ],
    ),
    "a part of a huge page": (
        container(resources={"limits": {"hugepages-2Mi": "3Mi", "cpu": "1"}, "requests": {"hugepages-2Mi": "3Mi"}}),
        [
            (
                'spec.containers[0].resources.limits[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive '
                "integer multiple of hugepages-2Mi"
            ),
            (
                'spec.containers[0].resources.requests[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive '
                "integer multiple of hugepages-2Mi"
            ),
        ],
    ),
    "huge pages alone": (
        container(resources={"limits": {"hugepages-2Mi": "2Mi"}}),
        ["spec.containers[0].resources: Forbidden: HugePages require cpu or memory"],
    ),
    "claims that there are not": (
        container(resources={"claims": [{"name": "a"}, {"name": "a"}, {"name": ""}]}),
        [
            (
                'spec.containers[0].resources.claims[0]: Not found: "a": must be one of the names in '
                "pod.spec.resourceClaims which is empty"
            ),
            'spec.containers[0].resources.claims[1]: Duplicate value: "a"',
            (
                'spec.containers[0].resources.claims[1]: Not found: "a": must be one of the names in '
                "pod.spec.resourceClaims which is empty"
            ),
            "spec.containers[0].resources.claims[2]: Required value",
        ],
    ),
    "overhead of what there is not": (
        pod(overhead={"odd": "1"}),
        [
            ('spec.overhead.limits[odd]: Invalid value: "odd": must be a standard resource type or fully qualified'),
            'spec.overhead.limits[odd]: Invalid value: "odd": must be a standard resource for containers',
        ],
    ),
    "less for the Pod than for its containers": (
        pod(
            resources={"requests": {"cpu": "1"}},
            containers=[{"name": "a", "image": "b", "resources": {"requests": {"cpu": "2"}}}],
        ),
        [
            (
                'spec.resources.requests[cpu]: Invalid value: "1": must be greater than or equal to aggregate '
                "container requests of 2"
            )
        ],
    ),
    "keys without a selector, and keys of it": (
        pod(
            topologySpreadConstraints=[
                {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "matchLabelKeys": ["a"]},
                {
                    "maxSkew": 1,
                    "topologyKey": "zone",
                    "whenUnsatisfiable": "DoNotSchedule",
                    "labelSelector": {
                        "matchLabels": {"a": "b"},
                        "matchExpressions": [{"key": "a", "operator": "Exists"}],
                    },
                    "matchLabelKeys": ["a", "a b"],
                },
            ]
        ),
        [
            (
                'spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: Duplicate value: "{zone, '
                'DoNotSchedule}"'
            ),
            (
                "spec.topologySpreadConstraints[0].matchLabelKeys: Forbidden: must not be specified when "
                "labelSelector is not set"
            ),
            (
                'spec.topologySpreadConstraints[1].matchLabelKeys[1]: Invalid value: "a b": name part must '
                "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric"
                " character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
                "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
            ),
            (
                'spec.topologySpreadConstraints[1][0]: Invalid value: "a": exists in both '
                "matchLabelKeys and labelSelector"
            ),
        ],
    ),
    "a key that the selector has by itself, and that the Pod has no label for": (
        pod(
            topologySpreadConstraints=[
                {
                    "maxSkew": 1,
                    "topologyKey": "zone",
                    "whenUnsatisfiable": "DoNotSchedule",
                    "labelSelector": {"matchLabels": {"a": "b"}},
                    "matchLabelKeys": ["a"],
                }
            ]
        ),
        [],
    ),
    "another host name beside the node's, too long and none; an account; a system of no name": (
        pod(hostnameOverride="A" * 65, hostNetwork=True, setHostnameAsFQDN=True, serviceAccountName="a_b", os={}),
        [
            "spec.hostnameOverride: Forbidden: may not be specified when setHostnameAsFQDN is true",
            "spec.hostnameOverride: Forbidden: may not be specified when hostNetwork is true",
            "spec.hostnameOverride: Too long: may not be more than 64 bytes",
            f'spec.hostnameOverride: Invalid value: "{"A" * 65}": {SUBDOMAIN_TEXT}',
            f'spec.serviceAccountName: Invalid value: "a_b": {SUBDOMAIN_TEXT}',
            "spec.os.name: Required value",
        ],
    ),
    "what the Pod as a whole does not ask for is its containers' affair": (
        pod(
            containers=[
                {"name": "a", "image": "a", "resources": {"requests": {"cpu": "2", "memory": "2Gi", "e.io/d": "1"}}}
            ],
            resources={"requests": {"cpu": "1"}, "limits": {"cpu": "3"}, "claims": [{"name": "c"}]},
            resourceClaims=[{"name": "c", "resourceClaimName": "c"}],
        ),
        [
            "spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources",
            "spec.resources.claims: Forbidden: claims may not be set for Resources at pod-level",
            'spec.resources.requests[cpu]: Invalid value: "1": must be greater than or equal to aggregate container '
            "requests of 2",
        ],
    ),
    "a restart to resize where nothing restarts": (
        pod(
            restartPolicy="Never",
            containers=[
                {
                    "name": "a",
                    "image": "a",
                    "resizePolicy": [{"resourceName": "cpu", "restartPolicy": "RestartContainer"}],
                }
            ],
        ),
        [
            "spec.containers[0].resizePolicy: Invalid value: \"RestartContainer\": must be 'NotRequired' when pod "
            "`restartPolicy` is 'Never'"
        ],
    ),
    "tolerations by numbers, which are off by default": (
        pod(tolerations=[{"key": "a", "operator": "Gt", "value": "1"}, {"key": "a", "operator": "Near"}]),
        [
            'spec.tolerations[0].operator: Unsupported value: "Gt": supported values: "Equal", "Exists", "Lt", "Gt"',
            'spec.tolerations[1].operator: Unsupported value: "Near": supported values: "Equal", "Exists"',
        ],
    ),
    "no DNS and no configuration of it": (
        pod(dnsPolicy="None"),
        ["spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None"],
    ),
    "the host's namespaces without its users": (
        pod(hostUsers=False, hostNetwork=True, hostPID=True),
        [
            "spec.hostNetwork: Forbidden: when `hostUsers` is false",
            "spec.HostPID: Forbidden: when `hostUsers` is false",
        ],
    ),
    "devices without the host's users": (
        pod(
            hostUsers=False,
            volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}],
            containers=[{"name": "a", "image": "i", "volumeDevices": [{"name": "v", "devicePath": "/dev/v"}]}],
        ),
        ["spec.containers[0].volumeDevices: Forbidden: when `hostUsers` is false"],
    ),
    "an init container that a resize would start anew": (
        pod(
            initContainers=[
                {
                    "name": "b",
                    "image": "i",
                    "resizePolicy": [{"resourceName": "cpu", "restartPolicy": "RestartContainer"}],
                }
            ]
        ),
        [
            'spec.initContainers[0].resizePolicy[0].restartPolicy: Invalid value: "RestartContainer": must not be set '
            "to 'RestartContainer' for non-sidecar initContainers"
        ],
    ),
    "ways to resize that there are not": (
        container(
            resizePolicy=[
                {"resourceName": "cpu", "restartPolicy": "Odd"},
                {"resourceName": "odd", "restartPolicy": "NotRequired"},
                {"resourceName": "cpu", "restartPolicy": "NotRequired"},
            ]
        ),
        [
            (
                'spec.containers[0].resizePolicy: Unsupported value: "Odd": supported values: "NotRequired", '
                '"RestartContainer"'
            ),
            'spec.containers[0].resizePolicy: Unsupported value: "odd": supported values: "cpu", "memory"',
            'spec.containers[0].resizePolicy[2]: Duplicate value: "cpu"',
        ],
    ),
    "a gate twice": (
        pod(schedulingGates=[{"name": "a"}, {"name": "a"}, {"name": ""}]),
        [
            'spec.schedulingGates[1]: Duplicate value: "a"',
            'spec.schedulingGates[2]: Invalid value: "": name part must be non-empty',
            (
                'spec.schedulingGates[2]: Invalid value: "": name part must consist of alphanumeric characters, '
                "'-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or "
                "'my.name',  or '123-abc', regex used for validation is "
                "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
            ),
        ],
    ),
    "claims of none and of two": (
        pod(
            resourceClaims=[
                {"name": "a"},
                {"name": "a", "resourceClaimName": "x", "resourceClaimTemplateName": "y"},
                {"name": "A"},
            ]
        ),
        [
            (
                "spec.resourceClaims[0]: Invalid value: "
                '{"Name":"a","ResourceClaimName":null,"ResourceClaimTemplateName":null}: must specify one of: '
                "`resourceClaimName`, `resourceClaimTemplateName`"
            ),
            'spec.resourceClaims[1].name: Duplicate value: "a"',
            (
                "spec.resourceClaims[1]: Invalid value: "
                '{"Name":"a","ResourceClaimName":"x","ResourceClaimTemplateName":"y"}: at most one of '
                "`resourceClaimName` or `resourceClaimTemplateName` may be specified"
            ),
            (
                'spec.resourceClaims[2].name: Invalid value: "A": a lowercase RFC 1123 label must consist of '
                "lower case alphanumeric characters or '-', and must start and end with an alphanumeric character"
                " (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
            ),
            (
                "spec.resourceClaims[2]: Invalid value: "
                '{"Name":"A","ResourceClaimName":null,"ResourceClaimTemplateName":null}: must specify one of: '
                "`resourceClaimName`, `resourceClaimTemplateName`"
            ),
        ],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_wrong_with_a_pod(name: str) -> None:
    value, expected = CASES[name]
    assert problems(POD, value) == expected
