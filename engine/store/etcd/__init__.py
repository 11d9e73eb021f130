"""The store on a real etcd v3, for those who outgrow one machine, behind the same contract as the SQLite one."""

from engine.store.etcd.connection import EtcdTls
from engine.store.etcd.store import EtcdStore

__all__ = ["EtcdStore", "EtcdTls"]
