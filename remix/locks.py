"""Locks between processes. They are the kernel's, so a lock goes with its process however that ends."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Busy(Exception):
    """Another process holds the lock."""


@contextmanager
def lock_file(file: Path, *, wait: bool = False) -> Iterator[None]:
    """Hold a lock file, which is made where there is none and stays, within the block.

    Raises `Busy` where somebody else holds it and `wait` is false, `OSError` where the file cannot be made.
    """
    import filelock  # imported where something is written: it costs as much as a small command

    lock = filelock.FileLock(file, timeout=-1 if wait else 0)
    try:
        lock.acquire()
    except filelock.Timeout:
        raise Busy(str(file)) from None
    try:
        yield
    finally:
        lock.release()


class Lock:
    """A lock on a file or folder itself, as one of many that share it or as the only one.

    It is held until it is released, or until nothing refers to it any more.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor

    @classmethod
    def on(cls, place: Path, *, shared: bool = False) -> Lock | None:
        """Return the lock; None where somebody else has one that goes not with it, or where the place is gone."""
        try:
            descriptor = os.open(place, os.O_RDONLY | os.O_NOFOLLOW)
        except OSError:
            return None
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            return None
        return cls(descriptor)

    def release(self) -> None:
        """Let others have it."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> Lock:
        """Return the lock, which is released at the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Release the lock."""
        self.release()

    def __del__(self) -> None:
        """Release the lock with what held it."""
        self.release()
