"""What flows from the engine to the screen: a feed is one stream over the session's client."""
