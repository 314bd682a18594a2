"""What labels are worth: strategies of asking, replayed on the stored fits, and two tables of all.

    python -m benchmarks.natural FOLDER

reads what ``benchmarks.natural_measure`` stored in FOLDER and writes ``natural_scores.csv``, a line
a fit with the gain of every model over no weights and all that is seen without labels, and
``natural_labels.csv``, a line a task, learner, size and number of labels, with every strategy's
mean gain over draws and repetitions, the share of these that lose more than five points, and by how
much the log-loss grows. Gains are in points of accuracy, on rows of the target that no strategy may
ask about.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import log_softmax, softmax

from benchmarks.natural_measure import SEEN
from benchmarks.natural_tasks import TASKS
from benchmarks.selection import by_pairs, coda, model_picker
from ddr.guard.guarded import OFFSET_STRENGTH
from ddr.guard.labels import chosen, judge
from ddr.guard.prior import calibrate

HERE = Path(__file__).parent
SCORES, LABELS = HERE / "natural_scores.csv", HERE / "natural_labels.csv"
CANDIDATES = ("none", "calibrated", "em", "prior_ratio", "ratio", "ddr")
ALL_BUDGETS, REPETITIONS = (10, 20, 50, 100), 3
#: How strongly offsets are pulled to zero, in labels: of these ``shifts.strength`` takes one.
STRENGTHS = (2, 4, 8, 16, 32)
FIT = ["task", "learner", "size"]
COLUMNS = ["labels", "strategy", "gain", "log-loss", "used"]


class Fit:
    """One stored fit: what the candidates say of the rows to ask about, and of the rest."""

    def __init__(self, path):
        stored = np.load(path)
        self.names = stored["names"].tolist()
        task = next(task for task in TASKS if task.name == stored["task"])
        self.key = {"task": task.name, "kind": task.kind, "table": task.table.split()[0]}
        self.key |= {"learner": str(stored["learner"])}
        self.key |= {name: int(stored[name]) for name in ("size", "draw")}
        self.key |= {"vault": task.vault, **{name: float(stored[name]) for name in SEEN}}
        self.y, self.y_rest = stored["y_target"], stored["y_rest"]
        self.rest = dict(zip(self.names, stored["rest"].astype(float), strict=True))
        self.log = stored["target"][: len(CANDIDATES)].astype(float)
        self.said = self.log.argmax(axis=2)
        self.open = np.flatnonzero(np.any(self.said != self.said[0], axis=0))
        self.order = stored["order"]  # the one by which labels were added to the source
        budgets = [int(name.split()[1]) for name in stored if name.startswith("held")]
        self.held_out = {budget: stored[f"held {budget}"] for budget in budgets}
        self.right = self.said == self.y
        self.plain = self.accuracy(self.rest["none"])
        self.plain_loss = self.log_loss(self.rest["none"])
        self.worth = {name: self.over_plain(self.rest[name]) for name in CANDIDATES}

    def accuracy(self, log_posteriors):
        return 100 * float(np.mean(log_posteriors.argmax(axis=1) == self.y_rest))

    def gain(self, log_posteriors):
        return self.accuracy(log_posteriors) - self.plain

    def log_loss(self, log_posteriors):
        truth = np.arange(len(self.y_rest)), self.y_rest
        return -float(np.maximum(log_softmax(log_posteriors, axis=1)[truth], np.log(1e-6)).mean())

    def over_plain(self, log_posteriors):
        """Gain over no weights, and by how much the log-loss grows."""
        return self.gain(log_posteriors), self.log_loss(log_posteriors) - self.plain_loss

    def scores(self):
        """Gain and log-loss of every model, and what is seen without labels."""
        row = self.key | {"accuracy": self.plain, "n_target": len(self.y)}
        for name, log in self.rest.items():
            if not name.startswith("added"):
                row[name], row[f"{name}, log-loss"] = self.gain(log), self.log_loss(log)
        return row | {"oracle": max(gain for gain, _ in self.worth.values())}

    def strategies(self):
        """Yield labels, strategy, gain, growth of the log-loss, labels used; a repetition each."""
        posteriors = softmax(self.log, axis=2)
        by_others = {
            "model picker": model_picker(self.said, self.y, ALL_BUDGETS),
            "CODA": coda(posteriors, self.y, ALL_BUDGETS),
        }
        for strategy, places in by_others.items():
            for budget, place in zip(ALL_BUDGETS, places, strict=True):
                yield budget, strategy, *self.worth[CANDIDATES[place]], budget
        for repetition in range(REPETITIONS):
            rng = np.random.default_rng(repetition)
            order = self.order[: len(self.open)] if repetition == 0 else rng.permutation(self.open)
            by_chance = rng.permutation(len(self.y))
            for budget in ALL_BUDGETS:
                place = by_pairs(self.said, self.y, budget, rng)
                yield budget, "pairs", *self.worth[CANDIDATES[place]], budget
                yield from self._choices(budget, order[:budget], by_chance[:budget])
        for budget, said in self.held_out.items():
            yield budget, "judged", *self.over_plain(self.judged(budget, said)), budget
        for name, log in self.rest.items():
            if name.startswith("added"):
                _, design, budget, weight = name.split()
                yield int(budget), f"added {design} {weight}", *self.over_plain(log), int(budget)

    def _choices(self, budget, asked, drawn):
        """What the guard's two modes, and offsets, make of rows asked for or drawn by chance."""
        told, by_chance = (judge(CANDIDATES, self.said, r, self.y[r]) for r in (asked, drawn))
        best, other = chosen(told, "best"), CANDIDATES[self.right[:, drawn].sum(axis=1).argmax()]
        yield budget, "best", *self.worth[best], len(asked)
        yield budget, "random", *self.worth[other], budget
        yield budget, "sure", *self.worth[chosen(told, "sure")], len(asked)
        yield budget, "random, sure", *self.worth[chosen(by_chance, "sure")], budget
        for strength in STRENGTHS:
            moved = self.rest[best] + self.offset(best, asked, strength)
            yield budget, f"offsets {strength}", *self.over_plain(moved), len(asked)
        moved = self.rest[other] + self.offset(other, drawn)
        yield budget, "offsets, random", *self.over_plain(moved), budget

    def offset(self, name, rows, strength=OFFSET_STRENGTH):
        """One offset a class, learned from the labels of rows."""
        if not len(rows):
            return 0.0
        log = self.log[CANDIDATES.index(name)][rows]
        return calibrate(log, self.y[rows], temperature=False, ridge=strength / len(rows))[1]

    def judged(self, budget, said):
        """The best of three ways to use labels, by the labels themselves, five-fold.

        The chosen candidate with its offsets, without them, or the learner with the labelled rows
        added: whichever says the class of most rows that were held back; of equals the first.
        """
        told = self.order[:budget]
        rows = told[np.isin(told, self.open)]
        name = chosen(judge(CANDIDATES, self.said, rows, self.y[rows]), "best")
        log, shifted = self.log[CANDIDATES.index(name)], np.zeros(len(told), dtype=int)
        for k in range(5):
            mine = np.arange(len(told)) % 5 == k
            offset = self.offset(name, told[~mine])
            shifted[mine] = (log[told[mine]] + offset).argmax(axis=1)
        ways = shifted, log[told].argmax(axis=1), said
        best = np.argmax([np.sum(way == self.y[told]) for way in ways])
        added = self.rest[f"added asked {budget} 20"]
        return (self.rest[name] + self.offset(name, told), self.rest[name], added)[best]


def replay(path):
    """A line of the first table of one stored fit, and its strategies."""
    fit = Fit(path)
    found = pd.DataFrame(fit.strategies(), columns=COLUMNS)
    return fit.scores(), found.assign(**{name: fit.key[name] for name in FIT})


def by_labels(found):
    """Means over draws and repetitions: a line a fit and a number of labels."""
    found = found.assign(losers=found.gain < -5)
    means = found.groupby([*FIT, "labels", "strategy"]).mean().unstack()
    more = [means[what].add_suffix(f", {what}") for what in ("losers", "log-loss")]
    return pd.concat([means["used"]["best"].rename("used"), means["gain"], *more], axis=1)


def main(folder):
    """Replay the stored fits, and write the tables."""
    scores, strategies = zip(*map(replay, sorted(Path(folder).glob("*.npz"))), strict=True)
    tables = {
        SCORES: pd.DataFrame(scores).set_index([*FIT, "draw"]).sort_index(),
        LABELS: by_labels(pd.concat(strategies)),
    }
    for path, table in tables.items():
        table.to_csv(path, float_format="%.4g", lineterminator="\n")
        print(f"{path.name}: {len(table)} lines")


if __name__ == "__main__":
    main(sys.argv[1])
