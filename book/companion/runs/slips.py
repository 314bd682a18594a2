"""What a slip could do: IWLSPC whose final fit does not use what cross-validation scored.

The second search for Table 3 asks for such learners. Nothing here is recommended, and nothing says
that the authors did it.
"""

from dataclasses import KW_ONLY, dataclass
from functools import partial
from itertools import islice, product

import numpy as np
from sklearn.base import clone

from companion.runs.experiments import Seeds, load_case, ratio_for
from ddr.algorithm import rounds, until_drop
from ddr.kernels import choose_centers, gaussian_kernel, median_distance
from ddr.paper.choices import largest
from ddr.paper.comparison import weighted
from ddr.paper.iwlspc import IWLSPCCV, iwlspc_coefficients, iwlspc_moments
from ddr.paper.shifts import accuracy_gap, biased_sampling

ROUNDS = 10
#: DDR's inner choices: folds of the cross-validation, when to stop, whether the start may win.
FOLDS, STOPS = ("kept", "new"), {"first drop": until_drop, "largest": largest}
STARTS = {"reweighted": 1, "start may win": 0}


@dataclass(eq=False, repr=False)
class SlippedIWLSPC(IWLSPCCV):
    """IWLSPC that may be fitted with another width than chosen, or chosen by one class alone."""

    _: KW_ONLY
    final: object = "chosen"
    scored_on: str = "both"
    ties: str = "last"

    def _score_grid(self, X, y_index, weight, splits):
        if self.scored_on != "both":
            own = y_index == ("first", "second").index(self.scored_on)
            splits = [(train, test[own[test]]) for train, test in splits]
        return super()._score_grid(X, y_index, weight, splits)

    def fit(self, X, y, sample_weight=None):
        """Choose as ``IWLSPCCV`` does, then fit with the width that is asked for."""
        super().fit(X, y, sample_weight)
        sigma, lam = self.best_sigma_, self.best_lam_
        if self.ties == "first":
            least = self.cv_scores_ <= self.cv_scores_.min() + 1e-6
            row, column = np.argwhere(least)[0]
            sigma, lam = self.sigmas_[row], self.lams_[column]
        if self.final != "chosen":
            sigma = max(self.sigmas_) if self.final == "widest" else self.final
        weight = np.ones(len(X)) if sample_weight is None else sample_weight
        codes = np.searchsorted(self.classes_, y)  # no new folds are drawn: the stream stays
        H, h = iwlspc_moments(gaussian_kernel(X, self.centers_, sigma), codes, weight, 2)
        self.sigma_, self.alpha_ = sigma, iwlspc_coefficients(H, h, weight.sum(), lam)
        return self


class CandidateRun:
    """Runs of a protocol that the second search found, with the product's uLSIF and DDR."""

    def __init__(self, search, rule, ratio):
        self.search, self.rule, self.ratio = search, rule, ratio

    @property
    def parameters(self):
        """What decides a run."""
        seed = self.search["candidates"]["seed"]
        return {"seed": seed, "rule": self.rule, "ratio": self.ratio, "rounds": ROUNDS}

    def __call__(self, case, draw):
        """One row without weights, with uLSIF's and ideal ones, and one for each choice in DDR."""
        search, rule, table = self.search, self.rule, load_case(case)
        place = (search["cases"].index(case), draw)
        root = np.random.SeedSequence(search["candidates"]["seed"], spawn_key=place)
        problem_seed, streams = root.spawn(2)
        centers, learner, ratio, folds = (int(n) % 2**31 for n in streams.generate_state(4))
        seeds = Seeds(problem_seed, learner, ratio, centers)
        sample = partial(
            biased_sampling, table.X, table.y, strength=rule["omega"]["strength"],
            random_state=problem_seed,
        )  # fmt: skip
        drawn = [sample(direction=number) for number in range(search["omegas"])]
        gaps = [accuracy_gap(problem, self._learner(problem, seeds)) for problem in drawn]
        chosen = np.argmax(np.abs(gaps) if rule["gap of a direction"] == "absolute" else gaps)
        again = bool(rule["training set after the choice"])
        problem = sample(direction=int(chosen), redraw=again)
        ratio = ratio_for({"ratios": {"uLSIF": self.ratio}}, "uLSIF", problem, seeds)
        return list(_rows(problem, self._learner(problem, seeds), ratio, folds))

    def _learner(self, problem, seeds):
        rule, scale = self.rule, median_distance(problem.X_test)
        lams = np.array(rule["regularisation"])
        return SlippedIWLSPC(
            np.array(rule["width of the learner"]["relative"]) * scale,
            lams / len(problem.X_train) if rule["penalty added to"] else lams,
            centers=choose_centers(problem.X_test, self.search["centers"], None, seeds.centers),
            random_state=seeds.learner,
            loss=rule["loss"],
            final=scale if rule["final kernel"] == "median" else rule["final kernel"],
            scored_on=rule["scored on"],
            ties=rule["of equal risks"],
        )


def _rows(problem, learner, ratio, seed):
    X, y, X_test = problem.X_train, problem.y_train, problem.X_test
    weights = {"uLSIF": clone(ratio).fit(X, X_test).weights_, "Unweighted": None}
    models = {
        name: weighted(X, y, learner, weight).model
        for name, weight in (weights | {"Oracle-imp": problem.importance}).items()
    }
    for folds in FOLDS:
        own = clone(learner)
        if folds == "new":  # each fit shuffles anew, from one stream
            np.random.seed(seed)  # noqa: NPY002 - a generator would be copied with each clone
            own.set_params(random_state=None)
        states = list(islice(rounds(X, y, X_test, own, ratio), ROUNDS + 1))
        for (stop, keep), (start, first) in product(STOPS.items(), STARTS.items()):
            seen, kept = keep(states, ROUNDS, first)
            models[f"DDR-uLSIF: {folds}, {stop}, {start}"] = seen[kept].model
    for name, model in models.items():
        yield {"method": name, "accuracy": model.score(X_test, problem.y_test)}
