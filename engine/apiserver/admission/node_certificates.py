"""Certificates for kubelets: in the name of their own node, or for Pods that run on it as they say.

Source: plugin/pkg/admission/noderestriction/admission.go (admitCSR, admitPodCertificateRequest,
validateNodePodCertificateSigner).
"""

from __future__ import annotations

from base64 import b64decode

from cryptography import x509
from cryptography.x509.oid import NameOID

from engine.api.errors import ApiError
from engine.api.types import NODES, PODS, SERVICE_ACCOUNTS, Object
from engine.api.validation.certificate_requests import request_error
from engine.apiserver.admission.attributes import Attributes, Operation, denied
from engine.apiserver.admission.node_pods import MIRROR
from engine.apiserver.authorization import Attributes as Question
from engine.apiserver.authorization import UnionAuthorizer, Verdict
from engine.apiserver.lookup import Lookup

_SIGNERS = frozenset(("kubernetes.io/kubelet-serving", "kubernetes.io/kube-apiserver-client-kubelet"))
_VERB = "request-serviceaccounts-podcertificate-signer"
_SIGNERS_SINCE = (1, 37)


class NodeCertificates:
    def __init__(self, lookup: Lookup, authorizer: UnionAuthorizer) -> None:
        self._lookup = lookup
        self._authorizer = authorizer

    @staticmethod
    def admit_signing_request(attributes: Attributes, node: str) -> None:
        spec = (attributes.object or {}).get("spec") or {}
        if attributes.operation is not Operation.CREATE or spec.get("signerName") not in _SIGNERS:
            return
        if wrong := request_error(spec.get("request", "")):
            raise denied(attributes, f"unable to parse csr: {wrong}")
        subject = x509.load_pem_x509_csr(b64decode(spec["request"])).subject
        names = [str(each.value) for each in subject.get_attributes_for_oid(NameOID.COMMON_NAME)]
        if names[-1:] != [f"system:node:{node}"]:
            raise denied(attributes, f"can only create a node CSR with CN=system:node:{node}")

    async def admit_pod_request(self, attributes: Attributes, node: str) -> None:
        """What may be told too early, before the news has come, is no 403: a kubelet asks again."""
        if attributes.operation is not Operation.CREATE or attributes.object is None:
            raise denied(attributes, f"unexpected operation {attributes.operation}")
        spec = attributes.object.get("spec") or {}
        where = f'"{attributes.namespace}/{spec.get("podName", "")}"'
        await self._node(attributes, spec, node, where)
        pod = await self._pod(attributes, spec, node, where)
        await self._account(attributes, spec, pod, where)
        if attributes.resource.release >= _SIGNERS_SINCE:
            await self._signer(attributes, spec, pod)

    async def _node(self, attributes: Attributes, spec: Object, node: str, where: str) -> None:
        named = spec.get("nodeName", "")
        if named != node:
            why = f'PodCertificateRequest.Spec.NodeName="{named}", which is not the requesting node "{node}"'
            raise denied(attributes, why)
        found = await self._lookup.find(NODES, "", node)
        if found is None:
            raise _early(f'while retrieving node "{node}" named in the PodCertificateRequest: node "{node}" not found')
        uid, expected = found["metadata"]["uid"], spec.get("nodeUID", "")
        if uid != expected:
            raise _early(
                f'PodCertificateRequest for pod {where} names node UID "{expected}", inconsistent with the running '
                f'node ("{uid}")'
            )

    async def _pod(self, attributes: Attributes, spec: Object, node: str, where: str) -> Object:
        name = spec.get("podName", "")
        pod = await self._lookup.find(PODS, attributes.namespace, name)
        if pod is None:
            raise _early(f'while retrieving pod {where} named in the PodCertificateRequest: pod "{name}" not found')
        uid, expected = pod["metadata"]["uid"], spec.get("podUID", "")
        if uid != expected:
            raise _early(
                f'PodCertificateRequest for pod {where} contains pod UID ("{expected}") which differs from running '
                f'pod "{uid}"'
            )
        if pod["spec"].get("nodeName") != node:
            why = f'pod {where} is not running on node "{node}" named in the PodCertificateRequest'
            raise denied(attributes, why)
        if MIRROR in (pod["metadata"].get("annotations") or {}):
            raise denied(attributes, f"pod {where} is a mirror pod")
        return pod

    async def _account(self, attributes: Attributes, spec: Object, pod: Object, where: str) -> None:
        name, used = spec.get("serviceAccountName", ""), pod["spec"].get("serviceAccountName", "")
        if name != used:
            raise denied(
                attributes,
                f'PodCertificateRequest for pod {where} contains serviceAccountName ("{name}") that differs from '
                f'running pod ("{used}")',
            )
        account = await self._lookup.find(SERVICE_ACCOUNTS, attributes.namespace, name)
        if account is None:
            raise _early(
                f'while retrieving service account "{attributes.namespace}/{name}" named in the '
                f'PodCertificateRequest: serviceaccount "{name}" not found'
            )
        uid, expected = account["metadata"]["uid"], spec.get("serviceAccountUID", "")
        if uid != expected:
            raise _early(
                f'PodCertificateRequest for pod {where} names service account UID "{expected}", which differs from '
                f'the running service account ("{uid}")'
            )

    async def _signer(self, attributes: Attributes, spec: Object, pod: Object) -> None:
        """The Pod mounts a certificate of the signer, or the node may have any of it for the account."""
        signer = spec.get("signerName", "")
        for volume in pod["spec"].get("volumes") or ():
            for source in (volume.get("projected") or {}).get("sources") or ():
                if (source.get("podCertificate") or {}).get("signerName") == signer:
                    return
        user, namespace, group = attributes.user, attributes.namespace, attributes.resource.gvr.group
        resource, name = signer.replace("/", ":"), spec.get("serviceAccountName", "")
        question = Question(user, _VERB, group, "v1", resource, namespace=namespace, name=name)
        if (await self._authorizer.authorize(question)).decision.verdict is not Verdict.ALLOW:
            raise denied(
                attributes,
                f'signer "{signer}" not found in pod spec volume, {user.name} is not authorized to request '
                "certificates from this signer",
            )


def _early(message: str) -> ApiError:
    return ApiError(500, "", message)
