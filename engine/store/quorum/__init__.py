"""A simulated quorum around the SQLite store: what several etcd members would do, for the eye and for faults.

Nothing here keeps data: the one log does. Members, terms, elections and fsyncs are made up, on the model clock, and
said to be so wherever they are shown.
"""

from engine.store.quorum.raft import Quorum
from engine.store.quorum.store import QuorumStore

__all__ = ["Quorum", "QuorumStore"]
