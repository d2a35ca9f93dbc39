"""Where a server listens, asked before it has imported anything else: an address may be taken."""

from __future__ import annotations

import socket

from remix.errors import Error


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens at an address, at a free port for 0; raises `Error` where it cannot.

    Who connects before there is a server waits for it.

    >>> with listen("127.0.0.1", 0) as one:
    ...     listen("127.0.0.1", one.getsockname()[1])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    remix.errors.Error: 127.0.0.1:... cannot be listened on (Address already in use): name another --port, or 0
    """
    try:
        host.encode("idna")  # which the socket does, too, and stays open where it cannot
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except UnicodeError:
        raise Error(f"'{host}' is no name that a host can have: name another --host") from None
    except OSError as error:
        reason = str(error.strerror).partition(" (while")[0]
        raise Error(f"{host}:{port} cannot be listened on ({reason}): name another --port, or 0") from None
