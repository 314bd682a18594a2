"""The list of measurements, quick ones first."""

from dataclasses import dataclass, field

from benchmarks.methods import METHODS

SIZES = (5000, 20000)
DIMENSIONS = (2, 50)
# The methods of the same kind as ours on the same grid: they are drawn over several samples.
LEAST_SQUARES = ("densratio", "adapt")


@dataclass(frozen=True)
class Task:
    """One measurement: a function of benchmarks.worker and its arguments."""

    key: str
    function: str
    arguments: dict = field(default_factory=dict)

    @property
    def ours(self):
        """Whether the numbers depend on the source of ddr alone, not on another package."""
        return self.function != "slow_method"


def plan(quick):
    """All tasks, the costly ones last; ``quick`` leaves out what takes minutes."""
    seeds, repeats = (1, 3) if quick else (3, 7)
    sizes = {"sizes": [100, 1000] if quick else [100, 200, 500, 1000], "seeds": 3 if quick else 10}
    small, large = SIZES
    return [
        Task("imports", "imports", {"repeats": 5 if quick else 11}),
        Task("paper data", "paper_data", sizes),
        Task("shared searches", "shared_searches", {"repeats": repeats}),
        *_our_tasks(small, seeds, repeats),
        *_slow_tasks(small, seeds),
        *_scaling_tasks(quick),
        *_our_tasks(large, 1, repeats),
        *([] if quick else _slow_tasks(large, 1)),
    ]


def _our_tasks(n, seeds, repeats):
    tasks = []
    for d in DIMENSIONS:
        arguments = {"d": d, "n": n, "seeds": seeds, "repeats": repeats}
        tasks.append(Task(f"quick methods, d={d}, n={n}", "quick_methods", arguments))
        arguments = {"d": d, "n": n, "repeats": repeats}
        tasks.append(Task(f"whole DDR fit, d={d}, n={n}", "discriminative", arguments))
    return tasks


def _scaling_tasks(quick):
    rows = (10_000, 30_000, 100_000) if quick else (10_000, 30_000, 100_000, 300_000, 1_000_000)
    return [
        Task(f"many rows, {clip} clipped, n={n}", "many_rows", {"n": n, "clip": clip})
        for clip in ("ratio", "coefficients")
        for n in rows
    ]


def _slow_tasks(n, seeds):
    tasks = []
    for name, method in METHODS.items():
        if not method.slow or (n == SIZES[1] and not method.large):
            continue
        draws = seeds if name in LEAST_SQUARES else 1
        for d in DIMENSIONS:
            arguments = {"name": name, "d": d, "n": n, "seeds": draws}
            tasks.append(Task(f"{name}, d={d}, n={n}", "slow_method", arguments))
    return tasks
