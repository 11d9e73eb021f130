"""Names of certificate signers and of the trust bundles that belong to them (core validation, names.go)."""

from __future__ import annotations

from engine.api.validation import text
from engine.api.validation.problems import Problems

_FORM = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
_SEGMENTS = "should be a domain with at least two segments separated by dots"
_NO_COLON = 'ClusterTrustBundle without signer name must not have ":" in its name'
_NAME_LENGTH = text.SUBDOMAIN_LENGTH + 1 + text.SUBDOMAIN_LENGTH + text.LABEL_LENGTH + 1


def signer_name(name: str, path: str, problems: Problems) -> None:
    if not name:
        problems.required(path)
        return
    domain, slash, rest = name.partition("/")
    if not slash or "/" in rest:
        problems.invalid(path, name, _FORM)
        return
    if len(domain) > text.SUBDOMAIN_LENGTH:
        problems.too_long(path, text.SUBDOMAIN_LENGTH)
    _labels(domain, path, problems, subdomains=False)
    if "." not in domain:
        problems.invalid(path, domain, _SEGMENTS)
    _labels(rest, path, problems, subdomains=True)
    if len(name) > _NAME_LENGTH:
        problems.too_long(path, _NAME_LENGTH)


def _labels(value: str, path: str, problems: Problems, *, subdomains: bool) -> None:
    """Only the first bad one is told."""
    for label in value.split("."):
        wrong = text.dns_subdomain(label) if subdomains else text.dns_label(label)
        if wrong:
            problems.all_invalid(path, value, (f'validating label "{label}": {why}' for why in wrong))
            return


def bundle_name(name: str, signer: str | None = None) -> tuple[str, ...]:
    """What is wrong with a ClusterTrustBundle's name; without a `signer` the one that the name speaks of is taken."""
    if signer is None:
        signer = name.rpartition(":")[0].replace(":", "/")
    if not signer:
        return (_NO_COLON,) if ":" in name else text.dns_subdomain(name)
    prefix = signer.replace("/", ":") + ":"
    if not name.startswith(prefix):
        return (f"ClusterTrustBundle for signerName {signer} must be named with prefix {prefix}",)
    return text.dns_subdomain(name.removeprefix(prefix))


def any_name(_: str) -> tuple[str, ...]:
    """The rule for the name alone, where it takes the signer to tell whether it is right."""
    return ()
