"""What labels are worth: strategies of asking, replayed on the stored fits, and two tables of all.

    python -m benchmarks.natural FOLDER

reads what ``benchmarks.natural_measure`` stored in FOLDER and writes ``natural_scores.csv``, a line
a fit with the gain of every model over no weights and all that is seen without labels, and
``natural_labels.csv``, a line a fit and a number of labels with the gain of every strategy and the
share of its repetitions that lose more than five points. Gains are in points of accuracy, on rows
of the target that no strategy may ask about.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import log_softmax

from benchmarks.natural_measure import BUDGETS, LEARNERS
from benchmarks.natural_tasks import TASKS
from ddr.guard.labels import adjusted, differences, standard_error, wealth
from ddr.guard.prior import calibrate

HERE = Path(__file__).parent
SCORES, LABELS = HERE / "natural_scores.csv", HERE / "natural_labels.csv"
CANDIDATES = ("none", "calibrated", "em", "prior_ratio", "ratio", "ddr")
ALL_BUDGETS, REPETITIONS = (10, 20, 50, 100), 3
_FIT = ["task", "learner", "size", "seed"]
_SEEN = ("auc", "auc_p", "residual_auc", "prior_p", "condition", "open", "em_changes")


class Fit:
    """One stored fit: what the candidates say of the rows to ask about, and of the rest."""

    def __init__(self, path):
        stored = np.load(path)
        self.names = stored["names"].tolist()
        self.key = _key(path.stem)
        self.y, self.y_rest = stored["y_target"], stored["y_rest"]
        self.rest, self.seen = stored["rest"].astype(float), {n: float(stored[n]) for n in _SEEN}
        own = [self.names.index(name) for name in CANDIDATES]
        self.log_target, self.log_rest = stored["target"][own].astype(float), self.rest[own]
        self.said = self.log_target.argmax(axis=2)
        self.concerned = self.said != self.said[0]
        self.sizes = self.concerned.sum(axis=1)
        self.open = np.flatnonzero(self.concerned.any(axis=0))
        self.order = stored["order"]  # the one by which labels were added to the source
        self.d = differences(self.said, self.y)
        self.plain = self.accuracy(self.log_rest[0])
        self.gains = np.array([self.gain(log) for log in self.log_rest])

    def accuracy(self, log_posteriors):
        return 100 * float(np.mean(log_posteriors.argmax(axis=1) == self.y_rest))

    def gain(self, log_posteriors):
        return self.accuracy(log_posteriors) - self.plain

    def log_loss(self, log_posteriors):
        truth = np.arange(len(self.y_rest)), self.y_rest
        return -float(np.maximum(log_softmax(log_posteriors, axis=1)[truth], np.log(1e-6)).mean())

    def scores(self):
        """Gain and log-loss of every model, and what is seen without labels."""
        row = self.key | self.seen | {"accuracy": self.plain, "n_target": len(self.y)}
        for name, log in zip(self.names, self.rest, strict=True):
            row[name] = self.gain(log)
            if name in (*CANDIDATES, "RLLS"):
                row[f"{name}, log-loss"] = self.log_loss(log)
        row["oracle"] = self.gains.max()
        return row

    def estimates(self, rows):
        """Estimated gain of each candidate from the labels of rows in random order."""
        means = [d[rows][c[rows]].mean() if c[rows].any() else 0.0 for d, c in self._pairs()]
        return np.array(means) * self.sizes / len(self.y)

    def best(self, rows):
        """The candidate of the largest estimate less half its standard error, or the first one."""
        errors = [standard_error(d[rows][c[rows]]) for d, c in self._pairs()]
        value = self.estimates(rows) - np.array(errors) * self.sizes / len(self.y) / 2
        return int(np.append(0.0, value[1:]).argmax())

    def sure(self, rows):
        """The candidate that an anytime-valid test finds to gain, or the first one."""
        wealths = [
            wealth(d[rows][c[rows]], n)[-1] if c[rows].any() else 1.0
            for (d, c), n in zip(self._pairs(), self.sizes, strict=True)
        ]
        estimates = self.estimates(rows)
        evidence = np.append(0.0, adjusted(wealths[1:]))
        return int(np.where(evidence >= 20, estimates, 0.0).argmax())

    def _pairs(self):
        return zip(self.d, self.concerned, strict=True)

    def weighted(self, budget, rng):
        """Rows drawn by how many pairs of candidates disagree; unbiased by LURE weights.

        Farquhar, Gal and Rainforth (2021).
        """
        pairs = np.array(
            [36 - np.sum(np.bincount(codes) ** 2) for codes in self.said[:, self.open].T]
        )
        drawn = self.open[np.argsort(rng.exponential(size=len(pairs)) / pairs)]
        pairs, n = pairs[np.argsort(self.open)][np.searchsorted(self.open, drawn)], len(drawn)
        chance = pairs / (pairs.sum() - np.cumsum(pairs) + pairs)
        t, used = np.arange(1, n + 1), min(budget, n)
        weight = (n - used) / np.maximum(n - t, 1) * (1 / ((n - t + 1) * chance) - 1)
        weight = 1 + np.where(t < n, weight, 0.0)
        return int((self.d[:, drawn[:used]] * weight[:used]).mean(axis=1).argmax()) if used else 0

    def model_picker(self):
        """Active model selection by expected variance of the loss (Karimi and others, 2021)."""
        loss, left = np.zeros(len(CANDIDATES)), self.open.copy()
        for asked in range(max(ALL_BUDGETS) + 1):
            if asked in ALL_BUDGETS or not len(left):
                yield int(loss.argmin())
            if not len(left):
                continue
            share = np.exp(-0.5 * (loss - loss.min()))
            said = self.said[:, left]
            wrong = [share @ (said != c) / share.sum() for c in range(self.log_target.shape[2])]
            place = np.max([w * (1 - w) for w in wrong], axis=0).argmax()
            loss += said[:, place] != self.y[left[place]]
            left = np.delete(left, place)

    def strategies(self):
        """Yield number of labels, strategy, gain and labels used, for each repetition."""
        for budget, k in zip(ALL_BUDGETS, self.model_picker(), strict=False):
            yield budget, "model picker", self.gains[k], budget
        for repetition in range(REPETITIONS):
            rng = np.random.default_rng(repetition)
            order = self.order[: len(self.open)] if repetition == 0 else rng.permutation(self.open)
            by_chance = rng.permutation(len(self.y))
            for budget in ALL_BUDGETS:
                yield from self._choices(budget, order[:budget], by_chance[:budget], rng)
        if any(name.startswith("added") for name in self.names):
            for budget in BUDGETS:
                yield from self._added(budget)

    def _choices(self, budget, asked, drawn, rng):
        """What each way to choose makes of rows that were asked for, or drawn by chance."""
        best, other = self.best(asked), self.d[:, drawn].mean(axis=1).argmax()
        yield budget, "best", self.gains[best], len(asked)
        yield budget, "sure", self.gains[self.sure(asked)], len(asked)
        yield budget, "pairs", self.gains[self.weighted(budget, rng)], len(asked)
        yield budget, "random", self.gains[other], budget
        yield budget, "random, sure", self.gains[self.sure(drawn)], budget
        for name, k, rows in (("", best, asked), (", random", other, drawn)):
            offset = np.zeros(self.log_target.shape[2])
            if len(rows):
                found = self.log_target[k][rows]
                offset = calibrate(found, self.y[rows], temperature=False, ridge=0.2)[1]
            yield budget, f"offsets{name}", self.gain(self.log_rest[k] + offset), len(rows)

    def _added(self, budget):
        """Labels as training rows, alone and averaged with the candidate that they choose."""
        best = self.best(self.order[: len(self.open)][:budget])
        for design in ("asked", "random"):
            for weight in ("5", "20", "equal"):
                added = self.rest[self.names.index(f"added {design} {budget} {weight}")]
                yield budget, f"added {design} {weight}", self.gain(added), budget
                if design == "asked":
                    both = np.logaddexp(log_softmax(added, 1), log_softmax(self.log_rest[best], 1))
                    yield budget, f"both {weight}", self.gain(both), budget


def _key(stem):
    learner = next(name for name in LEARNERS if stem.endswith(name))
    name, size, seed = stem[: -len(learner) - 1].rsplit(" ", 2)
    task = next(task for task in TASKS if task.name.replace(": ", " ") == name)
    key = {"task": task.name, "kind": task.kind, "table": task.table.split()[0]}
    return key | {"learner": learner, "size": int(size), "seed": int(seed), "vault": task.vault}


def replay(path):
    """A line of the first table, and those of the second, of one stored fit."""
    fit = Fit(path)
    found = pd.DataFrame(fit.strategies(), columns=["labels", "strategy", "gain", "used"])
    lines = []
    for budget, part in found.groupby("labels"):
        groups = part.groupby("strategy")
        row = fit.key | {"labels": budget, "used": groups.used.mean()["best"]}
        row |= groups.gain.mean().to_dict()
        lines.append(row | {f"{n}, losers": np.mean(g < -5) for n, g in groups.gain})
    return fit.scores(), lines


def main(folder):
    """Replay the fits that the tables lack, and write the tables."""
    tables = [pd.read_csv(path) if path.exists() else pd.DataFrame() for path in (SCORES, LABELS)]
    done = {tuple(row) for row in tables[0].get(_FIT, pd.DataFrame()).itertuples(index=False)}
    scores, labels = [], []
    for path in sorted(Path(folder).glob("* *.npz")):
        if tuple(_key(path.stem)[name] for name in _FIT) not in done:
            line, lines = replay(path)
            scores, labels = [*scores, line], [*labels, *lines]
    for known, new, path in ((tables[0], scores, SCORES), (tables[1], labels, LABELS)):
        table = pd.concat([known, pd.DataFrame(new)], ignore_index=True)
        order = [name for name in (*_FIT, "labels") if name in table]
        table = table.sort_values(order)
        table.to_csv(path, index=False, float_format="%.4g", lineterminator="\n")
        print(f"{path.name}: {len(table)} lines")


if __name__ == "__main__":
    main(sys.argv[1])
