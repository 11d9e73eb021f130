"""The pages that simulated web servers have. Each says that it is simulated."""

from __future__ import annotations

LABEL = "This answer is simulated by ktui: no real server runs in the container."


def html(title: str, body: str) -> str:
    return (
        f"<!DOCTYPE html>\n<html>\n<head><title>{title}</title></head>\n<body>\n{body}\n"
        f"<p><em>{LABEL}</em></p>\n</body>\n</html>\n"
    )


NGINX = html("Welcome to nginx!", "<h1>Welcome to nginx!</h1>")
HTTPD = f"<html><body><h1>It works!</h1></body></html>\n<!-- {LABEL} -->\n"
