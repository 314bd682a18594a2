"""Files that are whole or not there, and names that only one process holds at a time."""

import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from companion.runs.store import replace_file


def write_whole(path, text):
    """Write beside the target, then move over it: an interruption leaves the old file whole."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, text.encode("utf-8"))


def refuse_unwritable(folder):
    """Refuse a folder that cannot be written, before anything is computed for it."""
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise OSError(f"{folder} cannot be written: {error.strerror}") from None


@contextmanager
def held(path, busy, wait=False):
    """Hold a name among all processes; where another has it, say `busy` and wait, or refuse."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path)  # which the system lets go when this process ends, however it ends
    try:
        taken = lock.acquire(timeout=0)
    except Timeout:
        if not wait:
            raise FileExistsError(busy) from None
        print(busy, file=sys.stderr)
        taken = lock.acquire()
    with taken:
        yield
