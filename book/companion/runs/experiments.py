"""The paper's experiments: one run is a pure function of protocol, case and run number.

A run draws one shifted problem, lets every method weight the same training rows, and scores the
learner on the same test rows. Test labels reach the scorer and, in biased sampling with the
paper's choice of direction, the drawing of the problem; no method sees them.
"""

import time
import warnings

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB

from companion.paths import cross_task
from companion.runs.protocols import RATIOS
from companion.runs.store import VALUES
from companion.runs.variants import MIXTURES, PooledULSIF, SampleVarianceNB
from ddr.discriminative import DDRClassifier
from ddr.information import effective_sample_size, mutual_information
from ddr.iwcv import IWSearchCV
from ddr.kernels import choose_centers, median_distance
from ddr.paper import datasets
from ddr.paper.iwlspc import IWLSPCCV
from ddr.paper.shifts import accuracy_gap, biased_sampling, cross_dataset, mixture_shift
from ddr.paper.svm import LinearSVMWithPosteriorsCV
from ddr.ratio import OverlapWarning

LEARNERS = ("naive_bayes", "iwlspc", "svm", "logistic")


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
        problem, bench = setting_of(self.protocol, case, seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OverlapWarning)
            return [bench.measure(method, problem) for method in methods_of(self.protocol, case)]


def setting_of(protocol, case, seed):
    """The problem of one run, and the bench with its learner and ratios."""
    root = np.random.SeedSequence(protocol["seed"], spawn_key=(protocol["cases"].index(case), seed))
    problem_seed, method_seed = root.spawn(2)
    bench = Bench(protocol, method_seed)
    problem = draw_problem(protocol, case, problem_seed, bench)
    bench.look_at(problem.X_train, problem.X_test)
    return problem, bench


def methods_of(protocol, case):
    """Methods that a case is run with."""
    extra = protocol.get("extra_methods", {"cases": [], "methods": []})
    return protocol["methods"] + (extra["methods"] if case in extra["cases"] else [])


def draw_problem(protocol, case, seed, bench):
    """Draw the shifted problem of one run."""
    options = dict(protocol.get("problem", {}))
    if protocol["experiment"] == "synthetic":
        mixture = MIXTURES[options.pop("counts", "random")]
        return mixture_shift(int(case), mixture=mixture, random_state=seed, **options)
    if protocol["experiment"] == "cross":
        return draw_cross(case, seed, options)
    table = load_case(case)
    gap = bench.gap if options.get("choose", "max_gap") == "max_gap" else None
    return biased_sampling(table.X, table.y, gap=gap, random_state=seed, **options)


def draw_cross(case, seed, options):
    """Draw the problem of a cross-dataset case such as "USPS to MNIST 3 vs 4"."""
    task = cross_task(case)
    return cross_dataset((task.first, task.second), task.direction, random_state=seed, **options)


def load_case(case):
    """Table of a biased-sampling case: a dataset, or two digits as in ``USPS5v6``."""
    if case[-2:-1] == "v":
        return datasets.digits_pair(case[:-3], int(case[-3]), int(case[-1]))
    return datasets.load(case)


class Bench:
    """Builds learners and ratios for one problem, and measures methods with them."""

    def __init__(self, protocol, seed):
        self.protocol = protocol
        streams = seed.generate_state(3)
        self.learner_seed, self.ratio_seed, self.center_seed = (int(s) % 2**31 for s in streams)

    def look_at(self, X_train, X_test):
        """Note what learners and ratios take from the two samples: scale and centres."""
        self.scale = median_distance(X_test)
        self.X_train = X_train
        self.learner = self._learner(X_test)

    def _learner(self, X_test):
        options = dict(self.protocol["learner"])
        name = options.pop("name")
        if name == "naive_bayes":
            unbiased = options.pop("unbiased", False)
            return (SampleVarianceNB if unbiased else GaussianNB)(**options)
        if name == "svm":
            # The paper's accuracies are taken to be those of the machine, as without posteriors.
            return LinearSVMWithPosteriorsCV(
                predict_by="decision", random_state=self.learner_seed, **options
            )
        if name == "logistic":
            grid = {"C": sorted(options.pop("Cs"))}  # of equally good ones the most regularised
            return IWSearchCV(
                LogisticRegression(max_iter=1000), grid, random_state=self.learner_seed, **options
            )
        if name != "iwlspc":
            raise ValueError(f"learner name must be one of {', '.join(LEARNERS)}, got {name!r}")
        options["lams"] = self._penalties(options, "lams")
        centers = choose_centers(X_test, options.pop("n_centers"), None, self.center_seed)
        factors = np.asarray(options.pop("sigma_factors"), dtype=float)
        return IWLSPCCV(
            sigmas=factors * self.scale, centers=centers, random_state=self.learner_seed, **options
        )

    def ratio(self, name):
        """Return the unfitted ratio estimator of that name, with the protocol's settings."""
        options = dict(self.protocol["ratios"][name])
        if "sigma_factors" in options:
            widths = np.asarray(options.pop("sigma_factors"), dtype=float) * self.scale
            options["sigma"] = float(widths[0]) if len(widths) == 1 else widths
        if "lam" in options:
            options["lam"] = self._penalties(options, "lam")
        if options.pop("pooled", False):
            return PooledULSIF(pool=self.X_train, random_state=self.ratio_seed, **options)
        return RATIOS[name](random_state=self.ratio_seed, **options)

    def _penalties(self, options, name):
        """The penalties of a grid; where moments are sums over rows, not means, they weigh less."""
        if not options.pop("sums", False):
            return options[name]
        return np.asarray(options[name], dtype=float) / len(self.X_train)

    def gap(self, X_train, y_train, importance, X_test, y_test):
        """How much better the learner does with ideal weights, by which a direction is chosen."""
        self.look_at(X_train, X_test)
        return accuracy_gap(self.learner)(X_train, y_train, importance, X_test, y_test)

    def measure(self, method, problem):
        """Row of one method: accuracy and diagnostics."""
        start = time.perf_counter()
        if method == "Oracle-cvtest":
            row = self._cross_validated_on_test(problem)
        elif method.startswith("DDR-"):
            row = self._discriminative(method.removeprefix("DDR-"), problem)
        else:
            row = self._weighted(method, problem)
        seconds = {"seconds": time.perf_counter() - start}
        return {"method": method} | dict.fromkeys(VALUES, float("nan")) | row | seconds

    def _weighted(self, method, problem):
        weights = np.ones(len(problem.y_train))
        if method == "Oracle-imp":
            weights = problem.importance
        elif method != "Unweighted":
            estimated = self.ratio(method).fit(problem.X_train, problem.X_test).weights_
            weights = estimated if np.any(estimated > 0) else weights
        weights = weights / weights.mean()
        model = clone(self.learner).fit(problem.X_train, problem.y_train, sample_weight=weights)
        return {
            "accuracy": model.score(problem.X_test, problem.y_test),
            "mutual_information": mutual_information(model.predict_proba(problem.X_test)),
            "ess": effective_sample_size(weights) / len(weights),
        }

    def _discriminative(self, ratio, problem):
        options = {"significance": None} | self.protocol.get("ddr", {})  # as the paper: no test
        model = DDRClassifier(self.learner, self.ratio(ratio), **options)
        model.fit(problem.X_train, problem.y_train, problem.X_test)
        return {
            "accuracy": model.score(problem.X_test, problem.y_test),
            "n_iter": float(model.n_iter_),
            "mutual_information": model.history_[model.n_iter_]["mutual_information"],
            "prior_ratio": float(model.prior_ratio_[-1]),
            "ess": effective_sample_size(model.weights_) / len(model.weights_),
        }

    def _cross_validated_on_test(self, problem):
        folds = StratifiedKFold(5, shuffle=True, random_state=self.learner_seed)
        scores = cross_val_score(clone(self.learner), problem.X_test, problem.y_test, cv=folds)
        return {"accuracy": float(scores.mean())}
