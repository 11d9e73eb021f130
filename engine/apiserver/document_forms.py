"""In which of its forms a document is shown (kube-openapi pkg/handler and pkg/handler3, by goautoneg)."""

from __future__ import annotations

from collections.abc import Sequence


def liked_form(accept: str, forms: Sequence[str]) -> str:
    """The form that the Accept header likes best, "" for none (goautoneg: by q, and what says more comes first)."""
    clauses = []
    for clause in (accept or "*/*").split(","):
        kind, *parameters = (part.strip() for part in clause.split(";"))
        share = next((part[2:] for part in parameters if part.startswith("q=")), "1")
        main, _, detail = kind.partition("/")
        clauses.append((-_share(share), main == "*", detail == "*", main, detail))
    for _, _, _, main, detail in sorted(clauses, key=lambda clause: clause[:3]):
        for form in forms:
            of, _, name = form.partition("/")
            if main in ("*", of) and detail in ("*", name):
                return form
    return ""


def _share(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 1.0
