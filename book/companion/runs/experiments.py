"""The paper's experiments: one run is a pure function of protocol, case and run number.

A run draws one shifted problem, lets every method weight the same training rows, and scores the
learner on the same test rows. Test labels reach the scorer and, in biased sampling with the
paper's choice of direction, the drawing of the problem; no method sees them.
"""

import time
import warnings
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB

from companion.runs.protocols import RATIOS
from companion.runs.store import VALUES
from companion.runs.variants import MIXTURES, NewFoldsSVMCV, PooledULSIF, SampleVarianceNB
from ddr.information import effective_sample_size, mutual_information
from ddr.iwcv import IWSearchCV
from ddr.kernels import choose_centers, median_distance
from ddr.paper import datasets
from ddr.paper.comparison import discriminative, plain_ratio, weighted
from ddr.paper.iwlspc import IWLSPCCV
from ddr.paper.shifts import (
    ShiftedProblem,
    accuracy_gap,
    biased_sampling,
    cross_dataset,
    mixture_shift,
)
from ddr.paper.svm import LinearSVMWithPosteriorsCV
from ddr.ratio import OverlapWarning

LEARNERS = ("naive_bayes", "iwlspc", "svm", "logistic")


class Drawn(NamedTuple):
    """What the methods of one run share: the problem, the unfitted learner and ratios by name."""

    problem: ShiftedProblem
    learner: Any
    ratios: dict


class Seeds(NamedTuple):
    """The independent random streams of one run."""

    problem: np.random.SeedSequence
    learner: int
    ratio: int
    centers: int


class Run:
    """The runs of one protocol: call it with a case and a run number."""

    def __init__(self, protocol):
        self.protocol = protocol

    @property
    def parameters(self):
        """What decides a run's result, for the results store."""
        names = ("about", "experiment", "protocol", "runs", "cases")
        return {key: value for key, value in self.protocol.items() if key not in names}

    def __call__(self, case, seed):
        """Rows of one run, one for each method."""
        drawn, seeds = draw(self.protocol, case, seed), seeds_of(self.protocol, case, seed)
        choices = self.protocol.get("ddr", {})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OverlapWarning)
            # A ratio may leave a class no weight: naive Bayes takes the logarithm of its prior.
            warnings.filterwarnings(
                "ignore", "divide by zero", RuntimeWarning, "sklearn.naive_bayes"
            )
            return [measure(m, drawn, choices, seeds) for m in methods_of(self.protocol, case)]


def methods_of(protocol, case):
    """Methods that a case is run with."""
    extra = protocol.get("extra_methods", {"cases": [], "methods": []})
    return protocol["methods"] + (extra["methods"] if case in extra["cases"] else [])


def seeds_of(protocol, case, seed):
    """Streams that depend on the protocol's seed, the place of the case and the run number."""
    root = np.random.SeedSequence(protocol["seed"], spawn_key=(protocol["cases"].index(case), seed))
    problem, methods = root.spawn(2)
    return Seeds(problem, *(int(stream) % 2**31 for stream in methods.generate_state(3)))


def draw(protocol, case, seed):
    """The problem of one run, with the learner and the ratios that its methods share."""
    seeds = seeds_of(protocol, case, seed)
    problem = draw_problem(protocol, case, seeds)
    ratios = {name: ratio_for(protocol, name, problem, seeds) for name in protocol["ratios"]}
    return Drawn(problem, learner_for(protocol, problem, seeds), ratios)


def draw_problem(protocol, case, seeds):
    """Draw the shifted problem of one run."""
    options = dict(protocol.get("problem", {}))
    if protocol["experiment"] == "synthetic":
        mixture = MIXTURES[options.pop("counts", "random")]
        return mixture_shift(int(case), mixture=mixture, random_state=seeds.problem, **options)
    if protocol["experiment"] == "cross":
        return draw_cross(case, seeds.problem, options)
    table, redraw = load_case(case), options.pop("redraw", False)
    directions = range(options.pop("n_omegas", 10))
    largest = options.pop("choose", "max_gap") == "max_gap"
    sample = partial(biased_sampling, table.X, table.y, random_state=seeds.problem, **options)
    if not largest:
        return sample(redraw=redraw)
    candidates = [sample(direction=number) for number in directions]
    gaps = [accuracy_gap(one, learner_for(protocol, one, seeds)) for one in candidates]
    chosen = int(np.argmax(gaps))
    problem = sample(direction=chosen, redraw=redraw)
    return replace(problem, info=problem.info | {"chosen": chosen, "gaps": gaps})


def draw_cross(case, seed, options):
    """Draw the problem of a cross-dataset case such as "USPS to MNIST 3 vs 4"."""
    direction, first, _, second = case.rsplit(" ", 3)
    return cross_dataset((int(first), int(second)), direction, random_state=seed, **options)


def load_case(case):
    """Table of a biased-sampling case: a dataset, or two digits as in ``USPS5v6``."""
    return datasets.load(case)


def learner_for(protocol, problem, seeds):
    """The unfitted learner of a problem; scale and centres are those of its test rows."""
    options = dict(protocol["learner"])
    name = options.pop("name")
    if name == "naive_bayes":
        unbiased = options.pop("unbiased", False)
        return (SampleVarianceNB if unbiased else GaussianNB)(**options)
    if name == "svm":
        machine = NewFoldsSVMCV if options.pop("folds", "shared") == "new" else (
            LinearSVMWithPosteriorsCV
        )  # fmt: skip
        # The paper's accuracies are taken to be those of the machine, as without posteriors.
        return machine(predict_by="decision", random_state=seeds.learner, **options)
    if name == "logistic":
        grid = {"C": sorted(options.pop("Cs"))}  # of equally good ones the most regularised
        return IWSearchCV(
            LogisticRegression(max_iter=1000), grid, random_state=seeds.learner, **options
        )
    if name != "iwlspc":
        raise ValueError(f"learner name must be one of {', '.join(LEARNERS)}, got {name!r}")
    options["lams"] = _penalties(options, "lams", problem)
    centers = choose_centers(problem.X_test, options.pop("n_centers"), None, seeds.centers)
    return IWLSPCCV(
        sigmas=_widths(options, problem), centers=centers, random_state=seeds.learner, **options
    )


def ratio_for(protocol, name, problem, seeds):
    """The unfitted ratio estimator of that name, with the protocol's settings."""
    options = dict(protocol["ratios"][name])
    if "sigma_factors" in options:
        widths = _widths(options, problem)
        options["sigma"] = float(widths[0]) if len(widths) == 1 else widths
    if "lam" in options:
        options["lam"] = _penalties(options, "lam", problem)
    if options.pop("pooled", False):
        return PooledULSIF(pool=problem.X_train, random_state=seeds.ratio, **options)
    return RATIOS[name](random_state=seeds.ratio, **options)


def _widths(options, problem):
    """The kernel widths that are given as factors of the median distance of the test rows."""
    return np.asarray(options.pop("sigma_factors"), float) * median_distance(problem.X_test)


def _penalties(options, name, problem):
    """The penalties of a grid; where moments are sums over rows, not means, they weigh less."""
    if not options.pop("sums", False):
        return options[name]
    return np.asarray(options[name], dtype=float) / len(problem.X_train)


def measure(method, drawn, choices, seeds):
    """Row of one method: accuracy and diagnostics."""
    start = time.perf_counter()
    row = _row(method, drawn, choices, seeds)
    seconds = {"seconds": time.perf_counter() - start}
    return {"method": method} | dict.fromkeys(VALUES, float("nan")) | row | seconds


def _row(method, drawn, choices, seeds):
    problem, learner, ratios = drawn
    if method == "Oracle-cvtest":
        folds = StratifiedKFold(5, shuffle=True, random_state=seeds.learner)
        scores = cross_val_score(clone(learner), problem.X_test, problem.y_test, cv=folds)
        return {"accuracy": float(scores.mean())}
    X, y, X_test = problem.X_train, problem.y_train, problem.X_test
    if method in ("Unweighted", "Oracle-imp"):
        fit = weighted(X, y, learner, problem.importance if method == "Oracle-imp" else None)
    elif method.startswith("DDR-"):
        ratio = ratios[method.removeprefix("DDR-")]
        fit = discriminative(X, y, X_test, learner, ratio, **choices)
    else:
        fit = plain_ratio(X, y, X_test, learner, ratios[method])
    row = {
        "accuracy": fit.model.score(X_test, problem.y_test),
        "ess": effective_sample_size(fit.weights) / len(fit.weights),
    }
    if not fit.states:
        return row | {"mutual_information": mutual_information(fit.model.predict_proba(X_test))}
    kept = fit.states[fit.kept]
    return row | {
        "n_iter": float(fit.kept),
        "mutual_information": kept.information,
        "prior_ratio": float(kept.gamma[-1]),
    }
