"""The names in the certificate of a server that is not who it should be, as Go tells of them (x509.HostnameError).

OpenSSL says only that they do not match: the server is asked once more, without a question who it is.
"""

from __future__ import annotations

import asyncio
import ssl
from ipaddress import ip_address

from engine.clock import Clock

MISMATCHES = frozenset((62, 64))  # X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH
_PATIENCE = 5.0


async def mismatch(host: str, port: int, wanted: str, clock: Clock) -> str:
    """What is wrong with the certificate of a server that was reached by another name than its own."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    async with clock.timeout(_PATIENCE):
        _, writer = await asyncio.open_connection(host, port, ssl=context)
    try:
        certificate = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    finally:
        writer.close()
    return explained(certificate, wanted)


def explained(certificate: bytes, wanted: str) -> str:
    # Loaded for what has failed only: it takes as long as all else that a command loads.
    from cryptography import x509

    try:
        names = x509.load_der_x509_certificate(certificate).extensions.get_extension_for_class(
            x509.SubjectAlternativeName
        )
    except x509.ExtensionNotFound:
        names = None
    of_hosts = names.value.get_values_for_type(x509.DNSName) if names is not None else []
    addresses = [str(each) for each in names.value.get_values_for_type(x509.IPAddress)] if names is not None else []
    try:
        ip_address(wanted)
    except ValueError:
        if not of_hosts:
            return f"certificate is not valid for any names, but wanted to match {wanted}"
        return f"certificate is valid for {', '.join(of_hosts)}, not {wanted}"
    if not addresses:
        return f"cannot validate certificate for {wanted} because it doesn't contain any IP SANs"
    return f"certificate is valid for {', '.join(addresses)}, not {wanted}"
