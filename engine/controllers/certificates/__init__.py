"""CertificateSigningRequests: approved where kubelets ask for their own, signed, and cleaned up."""

from engine.controllers.certificates.approving import CertificateApprover
from engine.controllers.certificates.cleaning import CertificateCleaner
from engine.controllers.certificates.signing import CertificateSigner

__all__ = ["CertificateApprover", "CertificateCleaner", "CertificateSigner"]
