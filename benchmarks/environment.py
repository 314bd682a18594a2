"""The benchmark's own environment, so that the packages compared never touch the project's."""

import hashlib
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".venv-bench"
REQUIREMENTS = Path(__file__).with_name("requirements.txt")


class SetupError(RuntimeError):
    """The environment could not be made."""


def ensure():
    """Make the environment if it is not there or its pins have changed; return its Python."""
    python = FOLDER / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp = FOLDER / ".installed"
    wanted = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()
    if python.exists() and stamp.exists() and stamp.read_text() == wanted:
        return python
    print(f"Installing the packages to compare with into {FOLDER.name} (about 1.9 GB) ...")
    uv = _uv()
    venv.create(FOLDER, with_pip=uv is None, clear=True)
    installer = [uv, "pip", "install", "--python", str(python)]
    if uv is None:
        installer = [str(python), "-m", "pip", "install", "--disable-pip-version-check"]
    command = [*installer, "--quiet", "--no-deps", "-r", str(REQUIREMENTS)]
    if subprocess.run(command, cwd=ROOT).returncode:
        raise SetupError(
            f"the packages of benchmarks/{REQUIREMENTS.name} could not be installed into "
            f"{FOLDER.name}: see the installer's message above"
        )
    stamp.write_text(wanted)
    return python


def _uv():
    """Path of uv, which installs faster, beside this Python or on the search path; else None."""
    beside = Path(sys.executable).with_name("uv")
    return str(beside) if beside.exists() else shutil.which("uv")
