"""Causality: every effect is traced to its cause (design, law 6 and section 5)."""

from engine.trace.span import Hop, Lane, Span, SpanContext
from engine.trace.tracer import Subscription, Tracer, current_context, current_span

__all__ = ["Hop", "Lane", "Span", "SpanContext", "Subscription", "Tracer", "current_context", "current_span"]
