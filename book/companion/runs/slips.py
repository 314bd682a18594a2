"""What a slip could do: IWLSPC whose final fit does not use what cross-validation scored.

The second search for Table 3 asks for such learners. Nothing here is recommended, and nothing says
that the authors did it.
"""

from itertools import islice, product

import numpy as np
from sklearn.base import clone

from companion.runs.experiments import load_case
from ddr.algorithm import rounds
from ddr.kernels import choose_centers, median_distance
from ddr.paper.iwlspc import IWLSPCCV
from ddr.paper.shifts import accuracy_gap, biased_sampling
from ddr.ulsif import ULSIF

ROUNDS = 10
#: DDR's inner choices: folds of the cross-validation, when to stop, whether the start may win.
FOLDS, STOPS, STARTS = ("kept", "new"), ("first drop", "largest"), ("reweighted", "start may win")


class SlippedIWLSPC(IWLSPCCV):
    """IWLSPC that may be fitted with another width than chosen, or chosen by one class alone."""

    def __init__(self, sigmas=None, lams=(0.1, 1.0, 10.0), *, centers=None, random_state=None,
                 loss="zero_one", final="chosen", scored_on="both", ties="last"):  # fmt: skip
        super().__init__(sigmas, lams, centers=centers, random_state=random_state, loss=loss)
        self.final = final
        self.scored_on = scored_on
        self.ties = ties

    def _score_grid(self, X, y_index, weight, splits):
        if self.scored_on == "both":
            return super()._score_grid(X, y_index, weight, splits)
        own = y_index == ("first", "second").index(self.scored_on)
        held = [(train, test[own[test]]) for train, test in splits]
        return super()._score_grid(X, y_index, weight, held)

    def fit(self, X, y, sample_weight=None):
        """Choose as ``IWLSPCCV`` does, then fit with the width that is asked for."""
        super().fit(X, y, sample_weight)
        sigma, lam = self.best_sigma_, self.best_lam_
        if self.ties == "first":
            first = np.argmax(self.cv_scores_ <= self.cv_scores_.min() + 1e-6)
            sigma, lam = self.sigmas_[first // len(self.lams_)], self.lams_[first % len(self.lams_)]
        if self.final != "chosen":
            sigma = max(self.sigmas_) if self.final == "widest" else self.final
        weight = np.ones(len(X)) if sample_weight is None else sample_weight
        codes = np.searchsorted(self.classes_, y)
        self._fit_coefficients(np.asarray(X), codes, weight, float(sigma), float(lam))
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
        cases, table = self.search["cases"], load_case(case)
        seed = self.search["candidates"]["seed"]
        root = np.random.SeedSequence(seed, spawn_key=(cases.index(case), draw))
        problem_seed, fold_seed = root.spawn(2)
        state = [int(s) % 2**31 for s in fold_seed.generate_state(4)]
        rule, strength = self.rule, self.rule["omega"]["strength"]

        def learner_for(X_train, X_test):
            scale = median_distance(X_test)
            centers = choose_centers(X_test, self.search["centers"], None, state[0])
            lams = np.array(rule["regularisation"])
            lams = lams / len(X_train) if rule["penalty added to"] else lams
            final = scale if rule["final kernel"] == "median" else rule["final kernel"]
            return SlippedIWLSPC(
                np.array(rule["width of the learner"]["relative"]) * scale, lams, centers=centers,
                random_state=state[1], loss=rule["loss"], final=final,
                scored_on=rule["scored on"], ties=rule["of equal risks"],
            )  # fmt: skip

        def gap(X_train, y_train, importance, X_test, y_test):
            found = accuracy_gap(learner_for(X_train, X_test))
            found = found(X_train, y_train, importance, X_test, y_test)
            return abs(found) if rule["gap of a direction"] == "absolute" else found

        problem = biased_sampling(
            table.X, table.y, gap=gap, n_omegas=self.search["omegas"], strength=strength,
            redraw=bool(rule["training set after the choice"]), random_state=problem_seed,
        )  # fmt: skip
        learner = learner_for(problem.X_train, problem.X_test)
        options = {k: v for k, v in self.ratio.items() if k != "sigma_factors"}
        widths = np.array(self.ratio["sigma_factors"]) * median_distance(problem.X_test)
        ratio = ULSIF(sigma=widths, random_state=state[2], **options)
        return list(_rows(problem, learner, ratio, state[3]))


def _rows(problem, learner, ratio, seed):
    X, y, X_test, y_test = problem.X_train, problem.y_train, problem.X_test, problem.y_test
    estimated = clone(ratio).fit(X, X_test).weights_
    weights = {"uLSIF": estimated if estimated.any() else np.ones(len(y))}
    weights |= {"Unweighted": np.ones(len(y)), "Oracle-imp": problem.importance}
    for name, weight in weights.items():
        model = clone(learner).fit(X, y, sample_weight=weight / weight.mean())
        yield {"method": name, "accuracy": model.score(X_test, y_test)}
    for folds in FOLDS:
        own = clone(learner)
        if folds == "new":  # each fit shuffles anew, from one stream
            np.random.seed(seed)  # noqa: NPY002 - a generator would be copied with each clone
            own.set_params(random_state=None)
        states = list(islice(rounds(X, y, X_test, own, ratio), ROUNDS + 1))
        accuracies = [state.model.score(X_test, y_test) for state in states]
        information = np.array([state.information for state in states])
        for stop, start in product(STOPS, STARTS):
            kept = _kept(information, stop, STARTS.index(start))
            yield {"method": f"DDR-uLSIF: {folds}, {stop}, {start}", "accuracy": accuracies[kept]}


def _kept(information, stop, start_may_win):
    """The state that is kept: of largest mutual information, perhaps up to its first drop."""
    first = 1 - start_may_win
    if stop == "first drop":
        drops = [
            t for t in range(first + 1, len(information)) if information[t] < information[t - 1]
        ]
        information = information[: drops[0] if drops else None]
    return first + int(np.argmax(information[first:]))
