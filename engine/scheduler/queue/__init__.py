"""The scheduling queue: active heap, back-off heap, the pool of unschedulable pods, nominations."""
