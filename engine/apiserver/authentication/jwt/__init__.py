"""Tokens of other issuers, as an AuthenticationConfiguration or the --oidc-* flags say (KEP-3331).

Sources: apiserver plugin/pkg/authenticator/token/oidc, pkg/apis/apiserver, pkg/authentication/cel.
"""
