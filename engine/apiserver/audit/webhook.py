"""Audit events for a server that a kubeconfig names (--audit-webhook-config-file).

In mode `batch` they are gathered and sent many at once; in the blocking modes each is sent before its request goes on.
Sources: apiserver plugin/pkg/audit (webhook, buffered, truncate), pkg/server/options/audit.go. When batches are sent
goes by the model's clock.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence

from engine.api.golang.json import written_in_order
from engine.api.types import Object
from engine.apiserver.audit.metrics import AuditMetrics
from engine.apiserver.audit.policy import API_VERSION, Level
from engine.apiserver.kubeconfig_webhook import KubeconfigWebhook
from engine.apiserver.webhook_client import WebhookError
from engine.clock import Clock
from engine.config import AuditWebhookConfig
from engine.tasks import Supervisor

log = logging.getLogger(__name__)

STOP_SECONDS = 1.0  # of this machine's time
BATCH, BLOCKING, STRICT = "batch", "blocking", "blocking-strict"
MODES = (BATCH, BLOCKING, STRICT)
_OF_OBJECTS = frozenset((Level.REQUEST.word, Level.REQUEST_RESPONSE.word))
_TRUNCATED = "audit.k8s.io/truncated"
_NAME, _BUFFER, _TRUNCATE = "webhook", "buffered", "truncate"


class AuditWebhook:
    """Events go in as they come; what a blocking mode has to wait for, `delivered` waits for."""

    def __init__(
        self,
        webhook: KubeconfigWebhook,
        config: AuditWebhookConfig,
        clock: Clock,
        tasks: Supervisor,
        metrics: AuditMetrics,
    ) -> None:
        self.blocks = config.mode != BATCH
        self.strict = config.mode == STRICT
        self._webhook = webhook
        self._config = config
        self._clock = clock
        self._metrics = metrics
        self._sending: dict[asyncio.Task[bool], None] = {}
        self._batches = Batches(config, clock, tasks, metrics, self._spawn)

    def write(self, event: Object) -> asyncio.Task[bool] | None:
        """Take an event. In a blocking mode the task that sends it, which says whether it has arrived."""
        if (fitting := self._fitting(event)) is None:
            return None
        item = _as_item(fitting)
        if self.blocks:
            return self._spawn([item])
        self._batches.add(item)
        return None

    async def flush(self) -> None:
        """Send what waits, and give up what has not arrived soon: a server that is away must not hold up a stop."""
        self._batches.end()
        if not self._sending:
            return
        with self._clock.hold():
            _, late = await asyncio.wait(list(self._sending), timeout=STOP_SECONDS)
        for task in late:
            task.cancel()

    def _fitting(self, event: Object) -> Object | None:
        config = self._config
        if not config.truncate_enabled or _size(event) <= config.truncate_max_event_size:
            return event
        if event["level"] in _OF_OBJECTS:
            short = {name: value for name, value in event.items() if name not in ("requestObject", "responseObject")}
            event = {**short, "annotations": {**(event.get("annotations") or {}), _TRUNCATED: "true"}}
            event["annotations"] = dict(sorted(event["annotations"].items()))
        if _size(event) <= config.truncate_max_event_size:
            return event
        self._metrics.failed(_TRUNCATE, 1, "event is too large even after truncating")
        return None

    def _spawn(self, items: Sequence[str]) -> asyncio.Task[bool]:
        task = asyncio.get_running_loop().create_task(self._send(items), name="audit webhook")
        self._sending[task] = None
        task.add_done_callback(lambda done: self._sending.pop(done, None))
        return task

    async def _send(self, items: Sequence[str]) -> bool:
        text = f'{{"kind":"EventList","apiVersion":"{API_VERSION}","metadata":{{}},"items":[{",".join(items)}]}}\n'
        try:
            await self._webhook.tell(text.encode())
        except WebhookError as error:
            self._metrics.failed(_NAME, len(items), str(error))
            return False
        return True


class Batches:
    """Events that wait to be sent together: until there are enough, or the time is over in which there were not."""

    def __init__(
        self,
        config: AuditWebhookConfig,
        clock: Clock,
        tasks: Supervisor,
        metrics: AuditMetrics,
        send: Callable[[Sequence[str]], Awaitable[bool]],
    ) -> None:
        self._config = config
        self._clock = clock
        self._tasks = tasks
        self._metrics = metrics
        self._send = send
        self._waiting: list[str] = []
        self._began = clock.monotonic()  # of the time in which the next batch is gathered
        self._enough = asyncio.Event()
        self._gathering: asyncio.Task[None] | None = None
        self._tokens, self._counted = float(config.batch_throttle_burst), self._began

    def add(self, item: str) -> None:
        if len(self._waiting) >= self._config.batch_buffer_size:
            self._metrics.failed(_BUFFER, 1, "audit buffer queue blocked")
            return
        self._waiting.append(item)
        if len(self._waiting) >= self._config.batch_max_size:
            self._enough.set()
        if self._gathering is None and not self._tasks.closed:
            self._gathering = self._tasks.spawn(self._gather(), "audit batches")

    def end(self) -> None:
        """Send what there is, at once."""
        for batch in self._taken():
            self._send(batch)

    async def _gather(self) -> None:
        try:
            while self._waiting:
                await self._enough_or_late()
                batch = next(self._taken(), None)
                self._began = self._clock.monotonic()
                if batch is not None:
                    await self._throttle()
                    self._send(batch)
        finally:
            self._gathering = None

    async def _enough_or_late(self) -> None:
        size, longest = self._config.batch_max_size, self._config.batch_max_wait
        if len(self._waiting) >= size or size == 1:
            return
        self._enough.clear()
        left = longest - (self._clock.monotonic() - self._began) % longest if longest > 0 else 0.0
        try:
            async with self._clock.timeout(left):
                await self._enough.wait()
        except TimeoutError:
            return

    def _taken(self) -> Iterator[list[str]]:
        size = self._config.batch_max_size
        while self._waiting:
            batch, self._waiting = self._waiting[:size], self._waiting[size:]
            yield batch

    async def _throttle(self) -> None:
        config = self._config
        if not config.batch_throttle_enable:
            return
        now = self._clock.monotonic()
        gained = (now - self._counted) * config.batch_throttle_qps
        self._tokens, self._counted = min(self._tokens + gained, float(config.batch_throttle_burst)), now
        self._tokens -= 1
        if self._tokens < 0:
            await self._clock.sleep(-self._tokens / config.batch_throttle_qps)


def _size(event: Object) -> int:
    """As Go's encoder writes it, with the end of its line."""
    return len(written_in_order(event).encode()) + 1


def _as_item(event: Object) -> str:
    """Of a list, whose kind its items do not repeat."""
    return written_in_order({name: value for name, value in event.items() if name not in ("kind", "apiVersion")})
