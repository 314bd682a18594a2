"""Facts on the machine that decide a timing, and nothing that tells whose machine it is."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median

PACKAGES = ("numpy", "scipy", "scikit-learn", "densratio", "adapt", "skada", "genriesz")


def facts():
    """Processor, cores, BLAS, and the versions of what was measured."""
    import numpy  # noqa: F401 - loads the BLAS that is asked about below
    from threadpoolctl import threadpool_info

    blas = next((lib for lib in threadpool_info() if lib["user_api"] == "blas"), {})
    from benchmarks.measure import clock_step

    return {
        "clock_step_seconds": median(clock_step() for _ in range(101)),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "blas": " ".join(
            str(blas.get(key) or "") for key in ("internal_api", "version", "architecture")
        ).strip(),
        "packages": {name: _version(name) for name in PACKAGES},
    }


def _processor():
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown"


def _version(name):
    try:
        return version(name)
    except PackageNotFoundError:
        return None
