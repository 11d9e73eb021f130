"""textual-serve's server as `ktui web` needs it: reached by any name, by pages of its own alone, and by many at once.

A visit is a process of ktui. One that ends, or never comes up, ends the page's session too: the page says so, and has
a button to begin again.
"""

from __future__ import annotations

import copy
import re
from urllib.parse import urlsplit

from aiohttp import web
from textual_serve.app_service import AppService
from textual_serve.server import Server, to_int

from ktui.numerals import numerals_face

HEARTBEAT_SECONDS = 60.0  # a browser that has not answered after half of it is gone; on a busy machine it may take long


# A page that waits for a click before it takes keys needs a mouse.
TAKES_KEYS = """<script>
new MutationObserver((changes, observer) => {
  const keys = document.querySelector(".xterm-helper-textarea");
  if (keys) { keys.focus(); observer.disconnect(); }
}).observe(document.documentElement, { childList: true, subtree: true });
</script>
"""
# The family that the terminal asks for first: the numbers of the hops are in it also where it is not installed.
# They are loaded before anything is drawn, for a glyph that was drawn once is kept.
TERMINAL_FAMILY = "Roboto Mono"
NUMERALS = f"""<style>
    @font-face {{ font-family: "{TERMINAL_FAMILY}"; src: local("{TERMINAL_FAMILY}"), local("RobotoMono-Regular"); }}
{numerals_face(TERMINAL_FAMILY)}</style>
<script>
document.fonts.load('16px "{TERMINAL_FAMILY}"', "\u2460");
document.fonts.load('bold 16px "{TERMINAL_FAMILY}"', "\u2460");
</script>
"""
FONT_FROM_ELSEWHERE = re.compile(r"<link[^>]*fonts\.googleapis\.com[^>]*>")


def _ready_for_keys(page: str) -> str:
    """The page takes keys as soon as the terminal is there, and has the glyphs that it draws; nothing of it waits for
    another site to answer."""
    return FONT_FROM_ELSEWHERE.sub("", page).replace("</head>", f"{NUMERALS}{TAKES_KEYS}</head>", 1)


class Visit(AppService):
    """The process of one browser."""

    async def run(self) -> None:
        """Until the process ends, however it does."""
        try:
            await super().run()
        finally:
            await self.remote_close()


class WebServer(Server):
    """Links of its pages go where the browser came from; behind another server that may be another name, or TLS."""

    async def handle_index(self, request: web.Request) -> web.StreamResponse:
        here = copy.copy(self)
        here.public_url = f"{request.headers.get('X-Forwarded-Proto', request.scheme)}://{request.host}"
        page = await Server.handle_index(here, request)
        assert isinstance(page, web.Response)
        page.text = _ready_for_keys(page.text or "")
        return page

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        """The terminal of one visit. Pages of other sites may not have it: who types there is the cluster's admin."""
        origin = request.headers.get("Origin", "")
        if origin and urlsplit(origin).netloc != request.host:
            raise web.HTTPForbidden(text=f"a page of {origin} may not use this terminal")
        websocket = web.WebSocketResponse(heartbeat=HEARTBEAT_SECONDS)
        await websocket.prepare(request)

        async def close() -> None:
            await websocket.close()

        visit = Visit(
            self.command,
            write_bytes=websocket.send_bytes,
            write_str=websocket.send_str,
            close=close,
            download_manager=self.download_manager,
            debug=self.debug,
        )
        await visit.start(to_int(request.query.get("width", "80"), 80), to_int(request.query.get("height", "24"), 24))
        try:
            await self._process_messages(websocket, visit)
        finally:
            await visit.stop()
        return websocket
