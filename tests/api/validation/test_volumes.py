"""Volumes of Pods, source by source, after upstream's TestValidateVolumes."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.types import Object
from tests.api.objects import POD, pod, problems

AT = "spec.volumes[0]"
MODE = "must be a number between 0 and 0777 (octal), both inclusive"
ONE_TO_255 = "must be between 1 and 255, inclusive"
REGISTRY = "must be a host:port pair or multiple pairs separated by commas"
IQN = "iqn.2015-02.example.com:test"
CLAIM: Object = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}

# source -> what is told of it, below the volume
ROWS: dict[str, tuple[Object, list[str]]] = {
    "emptyDir of a negative size": (
        {"emptyDir": {"sizeLimit": "-1Gi"}},
        [".emptyDir.sizeLimit: Forbidden: SizeLimit field must be a valid resource quantity"],
    ),
    "hostPath without a path": ({"hostPath": {"path": ""}}, [".hostPath.path: Required value"]),
    "hostPath back": (
        {"hostPath": {"path": "/foo/../bar"}},
        [".hostPath.path: Invalid value: \"/foo/../bar\": must not contain '..'"],
    ),
    "gitRepo out of its directory": (
        {"gitRepo": {"repository": "x", "directory": "/dots/../here"}},
        [
            '.gitRepo.directory: Invalid value: "/dots/../here": must be a relative path',
            ".gitRepo.directory: Invalid value: \"/dots/../here\": must not contain '..'",
        ],
    ),
    "gcePersistentDisk partition": (
        {"gcePersistentDisk": {"pdName": "x", "partition": 256}},
        [f".persistentDisk.partition: Invalid value: 256: {ONE_TO_255}"],
    ),
    "awsElasticBlockStore without a volume": (
        {"awsElasticBlockStore": {"volumeID": "", "partition": -1}},
        [
            ".awsElasticBlockStore.volumeID: Required value",
            f".awsElasticBlockStore.partition: Invalid value: -1: {ONE_TO_255}",
        ],
    ),
    "secret with a bad mode and items": (
        {"secret": {"secretName": "s", "defaultMode": 512, "items": [{"key": "", "path": "../x", "mode": -1}]}},
        [
            f".secret.defaultMode: Invalid value: 512: {MODE}",
            ".secret.items[0].key: Required value",
            ".secret.items[0].path: Invalid value: \"../x\": must not contain '..'",
            f".secret.items[0].mode: Invalid value: -1: {MODE}",
        ],
    ),
    "configMap path of the kubelet's": (
        {"configMap": {"name": "c", "items": [{"key": "k", "path": "..data"}]}},
        [".configMap.items[0].path: Invalid value: \"..data\": must not start with '..'"],
    ),
    "nfs relative": (
        {"nfs": {"server": "s", "path": "x"}},
        ['.nfs.path: Invalid value: "x": must be an absolute path'],
    ),
    "iscsi of no known form": (
        {"iscsi": {"targetPortal": "1.2.3.4", "iqn": "foo", "lun": 256, "chapAuthSession": True}},
        [
            '.iscsi.iqn: Invalid value: "foo": must be valid format starting with iqn, eui, or naa',
            ".iscsi.lun: Invalid value: 256: must be between 0 and 255, inclusive",
            ".iscsi.secretRef: Required value",
        ],
    ),
    "iscsi in the wrong form": (
        {"iscsi": {"targetPortal": "1.2.3.4", "iqn": "iqn.14-02.example.com:a", "lun": 1, "initiatorName": "eui.12"}},
        [
            '.iscsi.iqn: Invalid value: "iqn.14-02.example.com:a": must be valid format',
            '.iscsi.initiatorname: Invalid value: "eui.12": must be valid format',
        ],
    ),
    "iscsi of too long a name": (
        {"iscsi": {"targetPortal": "p" * 64, "iqn": IQN, "lun": 1, "initiatorName": IQN}},
        [
            '.name: Invalid value: "v": Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters '
            "if iscsi.initiatorName is specified."
        ],
    ),
    "glusterfs": ({"glusterfs": {"endpoints": "", "path": "p"}}, [".glusterfs.endpoints: Required value"]),
    "flocker of two": (
        {"flocker": {"datasetName": "a/b", "datasetUUID": "u"}},
        [
            '.flocker: Invalid value: "resource": datasetName and datasetUUID can not be specified simultaneously',
            ".flocker.datasetName: Invalid value: \"a/b\": must not contain '/'",
        ],
    ),
    "rbd": (
        {"rbd": {"monitors": [], "image": ""}},
        [".rbd.monitors: Required value", ".rbd.image: Required value"],
    ),
    "cinder with a secret of no name": (
        {"cinder": {"volumeID": "v", "secretRef": {}}},
        [".cinder.secretRef.name: Required value"],
    ),
    "quobyte without a port": (
        {"quobyte": {"registry": "registry", "volume": "v"}},
        [f'.quobyte.registry: Invalid value: "registry": {REGISTRY}'],
    ),
    "quobyte with a long tenant": (
        {"quobyte": {"registry": "r:1", "volume": "", "tenant": "t" * 65}},
        [
            ".quobyte.tenant: Required value: must be a UUID and may not exceed a length of 64 characters",
            ".quobyte.volume: Required value",
        ],
    ),
    "downwardAPI item by the volume's path": (
        {"downwardAPI": {"items": [{"path": "", "fieldRef": {"fieldPath": "spec.nodeName"}}]}},
        [
            ".downwardAPI.path: Required value",
            '.downwardAPI.fieldRef.fieldPath: Unsupported value: "spec.nodeName": supported values: '
            '"metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"',
        ],
    ),
    "downwardAPI of nothing": (
        {"downwardAPI": {"items": [{"path": "a"}]}},
        [".downwardAPI: Required value: one of fieldRef and resourceFieldRef is required"],
    ),
    "fc of neither": (
        {"fc": {}},
        [".fc.targetWWNs: Required value: must specify either targetWWNs or wwids, but not both"],
    ),
    "fc of both, without lun": (
        {"fc": {"targetWWNs": ["a"], "wwids": ["b"]}},
        [
            '.fc.targetWWNs: Invalid value: ["a"]: targetWWNs and wwids can not be specified simultaneously',
            ".fc.lun: Required value: lun is required if targetWWNs is specified",
        ],
    ),
    "flexVolume with reserved options": (
        {"flexVolume": {"driver": "d", "options": {"sub.k8s.io/x": "1"}}},
        [
            '.flexVolume.options[sub.k8s.io/x]: Invalid value: "sub.k8s.io/x": '
            "kubernetes.io and k8s.io namespaces are reserved"
        ],
    ),
    "azureDisk that is not managed": (
        {"azureDisk": {"diskName": "d", "diskURI": "blob", "kind": "Managed"}},
        [
            '.azureDisk.diskURI: Unsupported value: "blob": supported values: '
            '"/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"'
        ],
    ),
    "storageos names": (
        {"storageos": {"volumeName": "v1", "volumeNamespace": "a.b"}},
        ['.storageos.volumeNamespace: Invalid value: "a.b": must not contain dots'],
    ),
    "scaleIO": (
        {"scaleIO": {"gateway": "", "system": "s", "secretRef": {}, "volumeName": ""}},
        [".scaleIO.gateway: Required value", ".scaleIO.volumeName: Required value"],
    ),
    "csi with a long driver": (
        {"csi": {"driver": "d" * 64}},
        [".csi.driver: Too long: may not be more than 63 bytes"],
    ),
    "csi with a secret of no name": (
        {"csi": {"driver": "d.io", "nodePublishSecretRef": {}}},
        [".csi.nodePublishSecretRef.name: Required value"],
    ),
    "ephemeral without a template": ({"ephemeral": {}}, [".ephemeral.volumeClaimTemplate: Required value"]),
    "ephemeral claim without modes": (
        {"ephemeral": {"volumeClaimTemplate": {"metadata": {"name": "no"}, "spec": {}}}},
        [
            ".ephemeral.volumeClaimTemplate.metadata.name: Forbidden: cannot be set",
            ".ephemeral.volumeClaimTemplate.spec.accessModes: Required value: at least 1 access mode is required",
            ".ephemeral.volumeClaimTemplate.spec.resources[storage]: Required value",
        ],
    ),
    "image without a reference": ({"image": {}}, [".image.reference: Required value"]),
    "two sources, the second in upstream's spelling": (
        {"emptyDir": {}, "downwardAPI": {}},
        [".downwarAPI: Forbidden: may not specify more than 1 volume type"],
    ),
}


def volume_problems(*volumes: Object, **spec: Any) -> list[str]:
    return problems(POD, pod(volumes=list(volumes), serviceAccountName="default", **spec))


@pytest.mark.parametrize("name", ROWS)
def test_what_is_wrong_with_a_source(name: str) -> None:
    source, expected = ROWS[name]
    assert volume_problems({"name": "v", **source}) == [f"{AT}{each}" for each in expected]


SIGNER = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
PROJECTIONS: dict[str, tuple[list[Object], list[str]]] = {
    "a file twice": (
        [
            {"secret": {"name": "s", "items": [{"key": "k", "path": "a"}]}},
            {"configMap": {"name": "c", "items": [{"key": "k", "path": "a"}]}},
        ],
        [': Invalid value: "c": conflicting duplicate paths'],
    ),
    "two kinds in one": (
        [{"secret": {"name": "s"}, "configMap": {"name": "c"}}],
        [".sources[0]: Forbidden: may not specify more than 1 volume type per source"],
    ),
    "a token for too short, and nowhere": (
        [{"serviceAccountToken": {"expirationSeconds": 599, "path": ""}}],
        [
            ".sources[0].serviceAccountToken.expirationSeconds: Invalid value: 599: "
            "may not specify a duration less than 10 minutes",
            ".path: Required value",
        ],
    ),
    "a bundle by name and by signer": (
        [{"clusterTrustBundle": {"name": "a", "signerName": "b.io/c", "path": "p"}}],
        [
            '.sources[0].clusterTrustBundle: Invalid value: {"Name":"a","SignerName":"b.io/c","LabelSelector":null,'
            '"Optional":null,"Path":"p"}: only one of name and signerName may be used'
        ],
    ),
    "a bundle of nobody": (
        [{"clusterTrustBundle": {"path": ""}}],
        [
            ".sources[0].clusterTrustBundle: Required value: either name or signerName must be specified",
            ".sources[0].clusterTrustBundle.path: Required value",
        ],
    ),
    "a bundle of a signer that is none": (
        [{"clusterTrustBundle": {"signerName": "nobody", "path": "p"}}],
        [f'.sources[0].clusterTrustBundle.signerName: Invalid value: "nobody": {SIGNER}'],
    ),
    "a certificate of no file and key": (
        [{"podCertificate": {"signerName": "a.io/b", "keyType": "DSA", "maxExpirationSeconds": 60}}],
        [
            '.sources[0].podCertificate.keyType: Unsupported value: "DSA": supported values: "RSA3072", '
            '"RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"',
            ".sources[0].podCertificate.maxExpirationSeconds: Invalid value: 60: "
            "if provided, maxExpirationSeconds must be >= 3600",
            ".sources[0].podCertificate: Required value: specify at least one of credentialBundlePath, keyPath, and "
            "certificateChainPath",
        ],
    ),
    "a certificate for longer than Kubernetes gives one, with words of no domain": (
        [
            {
                "podCertificate": {
                    "signerName": "kubernetes.io/kube-apiserver-client-pod",
                    "keyType": "ED25519",
                    "maxExpirationSeconds": 86_401,
                    "keyPath": "key.pem",
                    "userAnnotations": {"example.com/Word": "a", "word": "b"},
                }
            }
        ],
        [
            '.sources[0].podCertificate.userAnnotations: Invalid value: "word": must be a domain-prefixed key (such as '
            '"acme.io/foo")',
            ".sources[0].podCertificate.maxExpirationSeconds: Invalid value: 86401: "
            "if provided, maxExpirationSeconds must be <= 86400",
        ],
    ),
}


@pytest.mark.parametrize("name", PROJECTIONS)
def test_what_is_wrong_with_a_projection(name: str) -> None:
    sources, expected = PROJECTIONS[name]
    found = volume_problems({"name": "v", "projected": {"sources": sources}})
    assert found == [f"{AT}.projected{each}" for each in expected]


def test_an_ephemeral_volume_makes_a_claim_of_its_own() -> None:
    ephemeral = {"name": "e", "ephemeral": {"volumeClaimTemplate": {"spec": CLAIM}}}
    assert volume_problems(ephemeral, {"name": "c", "persistentVolumeClaim": {"claimName": "web-e"}}) == [
        'spec.volumes[1].persistentVolumeClaim.claimName: Invalid value: "web-e": '
        "must not reference a PVC that gets created for an ephemeral volume"
    ]


def test_a_template_says_the_image_of_a_volume_too() -> None:
    from tests.api.objects import DEPLOYMENT, deployment

    obj = deployment()
    obj["spec"]["template"]["spec"] = pod(volumes=[{"name": "v", "image": {}}])["spec"]
    assert problems(DEPLOYMENT, obj) == ["spec.template.spec.volumes[0].image.reference: Required value"]
