"""What the engine tells the app for as long as it runs: trace, summary and figures; and how it is found or started."""

from __future__ import annotations

from functools import partial

from textual import work

from engine.api.errors import ApiError
from ktui.feeds import dashboard as dashboard_feed
from ktui.feeds import summary as summary_feed
from ktui.feeds import trace as trace_feed
from ktui.feeds.poll import Poll
from ktui.guard import attempt
from ktui.models.dashboard import UNSEEN_SECONDS, DashboardModel
from ktui.models.flow import FlowModel
from ktui.models.summary import ClusterSummary
from ktui.places import Places

RECONNECT_SECONDS = 0.5


class Listening(Places):
    """The part of the app that keeps its models current, and connects again where a connection is lost."""

    spans: trace_feed.Spans
    flow: FlowModel
    summary: ClusterSummary
    figures: DashboardModel

    def listen(self) -> None:
        """Once the app is there; the engine may come later."""
        self.follow_summary()
        self.follow_trace()
        self.feed_flow()
        self.follow_figures()

    @work(exclusive=True, group="begin", exit_on_error=False)
    async def begin(self, *, leave_if_not: bool = False) -> None:
        """Find the engine or start it."""
        if self.session.begin is None:
            self.notify("the engine is another's: whoever runs it has to start it again", severity="warning")
            return
        self.session.is_beginning = True
        try:
            await self.session.begin()
        except ConnectionError as error:
            if leave_if_not:
                self.exit(str(error), return_code=1)
            else:
                self.complain(error, "the engine")
        finally:
            self.session.is_beginning = False

    @work(exclusive=True, group="trace", exit_on_error=False)
    async def follow_trace(self) -> None:
        """Read what the Flow screen shows; connect again for as long as the app lives."""
        while True:
            try:
                await trace_feed.read(self.session.client, self.spans)
            except (ConnectionError, ApiError) as error:
                self._mind_refusal(error)
                await self._find_again()
            await self.session.world.clock.sleep(RECONNECT_SECONDS)

    def _mind_refusal(self, error: ConnectionError | ApiError) -> None:
        is_forbidden = isinstance(error, ApiError) and error.code in (401, 403)
        if is_forbidden != self.flow.is_forbidden:
            self.flow.is_forbidden = is_forbidden
            self.flow.version += 1

    @work(exclusive=True, group="flow", exit_on_error=False)
    async def feed_flow(self) -> None:
        """Give the Flow screen's model what was read, as fast as the keys leave room for."""
        clock = self.session.world.clock
        async for spans in trace_feed.slices(self.spans, clock, after=self.haste.is_waited_for):
            self.flow.is_told = self.flow.is_told or not spans
            attempt(self, partial(self.flow.add, spans, now=clock.monotonic()))
            self.flow.skipped = self.spans.skipped

    async def _find_again(self) -> None:
        """The engine may have come back at another address."""
        if self.session.begin is not None and self.session.is_alive is not None and self.session.is_alive():
            await self.session.begin()

    @work(exclusive=True, group="summary", exit_on_error=False)
    async def follow_summary(self) -> None:
        async for summary in summary_feed.follow(self.session):
            self.summary = summary
            attempt(self, partial(self.window.show_summary, summary))

    @work(exclusive=True, group="figures", exit_on_error=False)
    async def follow_figures(self) -> None:
        """What the Dashboard plots of the time before it was opened; while it is looked at, it samples by itself."""
        client, clock = self.session.client, self.session.world.clock
        await clock.sleep(UNSEEN_SECONDS)  # an engine has enough to do while it starts
        poll = Poll(
            clock,
            lambda: dashboard_feed.sample(client, clock),
            wanted=lambda: self.figures.is_stale(clock.monotonic()),
            period=UNSEEN_SECONDS,
        )
        async for answer in poll.answers():
            if not answer.problem:
                attempt(self, partial(self.figures.take, answer.value))
