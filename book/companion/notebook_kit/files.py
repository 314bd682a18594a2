"""Files that are whole or not there, and names that only one process holds at a time."""

import json
import os
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout


def write_whole(path, text):
    """Write beside the target, then move over it: an interruption leaves the old file whole."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, scratch = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    try:
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(scratch, 0o666 & ~_umask())  # mkstemp hides its files from others
        os.replace(scratch, path)
    except BaseException:
        os.unlink(scratch)
        raise


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def read_record(path):
    """Read a JSON record; a damaged one is named, set aside and begun anew."""
    path = Path(path)
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(record, dict):
            return record
    except FileNotFoundError:
        return {}
    except ValueError:
        pass
    aside = path.with_name(f"{path.name}.damaged")
    os.replace(path, aside)
    print(f"{path} was damaged: it is now {aside.name}, and begun anew", file=sys.stderr)
    return {}


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
    """Hold a name among all processes; the system lets it go when this one ends, however it ends.

    Where another holds it, wait and say `busy`, or refuse with that sentence.
    """
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        if not wait:
            raise FileExistsError(busy) from None
        print(busy, file=sys.stderr)
        lock.acquire()
    try:
        yield
    finally:
        lock.release()
