"""Processes that a test starts, to send them a signal."""

import signal
import subprocess
import sys
import time
from contextlib import suppress


def start(*arguments, **options):
    """Start Python. What a shell starts in its background is deaf to Ctrl-C; this is not."""
    hear = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.default_int_handler)}
    command = [sys.executable, *map(str, arguments)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, **hear, **options)


def eventually(look, process=None):
    """Return what `look` finds, once it finds something, while the process goes on."""
    end = time.monotonic() + 240
    while time.monotonic() < end:
        with suppress(OSError):
            if found := look():
                return found
        assert process is None or process.poll() is None, process.communicate()
        time.sleep(0.02)
    raise AssertionError("waited four minutes in vain")
