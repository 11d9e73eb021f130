"""CertificateSigningRequests: approved where kubelets ask for their own, signed, and cleaned up; what Pods ask for is
cleaned up too, and the CA of the API servers is published."""

from engine.controllers.certificates.approving import CertificateApprover
from engine.controllers.certificates.cleaning import CertificateCleaner
from engine.controllers.certificates.pod_requests import PodCertificateRequestCleaner
from engine.controllers.certificates.signing import CertificateSigner
from engine.controllers.certificates.trust_bundles import ClusterTrustBundlePublisher

__all__ = [
    "CertificateApprover",
    "CertificateCleaner",
    "CertificateSigner",
    "ClusterTrustBundlePublisher",
    "PodCertificateRequestCleaner",
]
