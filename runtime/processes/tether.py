"""Run a command that ends when standard input closes, for one that would outlive its parent: `python tether.py COMMAND…`.

The command keeps this process's id. A child of it watches standard input, which closes when the holder of the other end dies, even
by SIGKILL; it ends together with the command. Imports nothing of Groundwire, so that it costs little.
"""

import os
import select
import signal
import sys


def main(command: list[str]) -> None:
    """Become the command, watched. Raises OSError when there is no such program."""
    alive, held = os.pipe()  # the command holds one end, which closes when it dies
    watched = os.getpid()
    if os.fork() == 0:
        os.close(held)
        _watch(alive, watched)
        os._exit(0)
    os.close(alive)
    os.set_inheritable(held, True)
    os.execv(command[0], command)


def _watch(alive: int, watched: int) -> None:
    """Wait for the end of standard input, then end the command; or for the end of the command."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # they are meant for the command
    for descriptor in (1, 2):
        os.close(descriptor)
    while True:
        readable, _, _ = select.select([0, alive], [], [])
        if alive in readable:
            return
        if not os.read(0, 1024):
            os.kill(watched, signal.SIGTERM)
            if not select.select([alive], [], [], 5.0)[0]:
                os.kill(watched, signal.SIGKILL)
            return


if __name__ == "__main__":
    main(sys.argv[1:])
