"""What is compared on each shift: four learners, and every way to adapt them.

A row is (task, kind, learner, seed, method) with accuracy and log-loss on the target; beside them
stand what can be seen of each shift without target labels.
"""

import warnings

import numpy as np
from scipy.special import softmax
from sklearn import config_context, set_config
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from benchmarks.shift_tasks import draw
from ddr import KLIEP, KMM, ULSIF, DDRClassifier, importance_weighted_score
from ddr.guard import GuardedDDRClassifier
from ddr.iwcv import weight_parameter
from ddr.kernels import KernelBlocks, median_distance, squared_distances
from ddr.paper.comparison import discriminative


class KernelLogistic(LogisticRegression):
    """Logistic regression on kernels; no Pipeline, so that every ratio sees the rows as given."""

    def fit(self, X, y, sample_weight=None):
        self.kernels_ = Nystroem(random_state=0).fit(X)
        return super().fit(self.kernels_.transform(X), y, sample_weight)

    def decision_function(self, X):
        return super().decision_function(self.kernels_.transform(X))

    def predict_proba(self, X):
        scores = self.decision_function(X)
        scores = np.column_stack([0 * scores, scores]) if scores.ndim == 1 else scores
        return softmax(scores, axis=1)


LEARNERS = {
    "naive Bayes": GaussianNB(),
    "logistic regression": LogisticRegression(max_iter=1000),
    "trees": ExtraTreesClassifier(10, min_samples_leaf=5, random_state=0),
    "kernel": KernelLogistic(max_iter=1000),
}
#: Variants that are only to be ruled in or out, and cross-validation, take part in the first seeds.
FIRST_SEEDS = 3
#: The name that each choice of the guard has among the methods.
METHODS = {"none": "no weights", "em": "EM", "prior_ratio": "DDR prior ratio", "ddr": "DDR"}
WIDE = 2.0 ** np.arange(0.0, 4.5, 0.5)


class ConstantBlocks(KernelBlocks):
    """Kernel values with a constant basis function: a centre at distance zero from every row."""

    def __init__(self, X, centers):
        super().__init__(X, np.vstack([centers, centers[:1]]))

    def _blocks(self):
        for rows in self.slices:
            squared = squared_distances(self.X[rows], self.centers)
            squared[:, -1] = 0.0
            yield rows, squared


class ConstantULSIF(ULSIF):
    """ULSIF with a constant among its basis functions: weights of one are within its reach."""

    def _prepare(self, X_train, X_test, test_weight, random_state):
        moments = super()._prepare(X_train, X_test, test_weight, random_state)
        moments.train = ConstantBlocks(X_train, self.centers_)
        moments.test = ConstantBlocks(X_test, self.centers_)
        return moments


def ratios(X, X_target, seed):
    """Weights of the source rows by each estimator of p_target / p_source, learner or not."""
    ours = {"uLSIF": ULSIF(random_state=seed), "KLIEP": KLIEP(random_state=seed), "KMM": KMM()}
    weights = {name: ratio.fit(X, X_target).weights_ for name, ratio in ours.items()}
    peers = {f"skada {name}": _skada(peer, X, X_target) for name, peer in _peers(X_target)}
    return weights | peers


def _peers(X_target):
    """skada's reweighters with their defaults; its KLIEP has none for the width: ours are given."""
    import skada

    set_config(enable_metadata_routing=False)  # which skada switches on for the whole process
    widths = median_distance(X_target) * 2.0 ** np.arange(-1.0, 2.0)
    yield "nearest", skada.NearestNeighborReweightAdapter(laplace_smoothing=True)
    yield "KLIEP", skada.KLIEPReweightAdapter(list(0.5 / widths**2), random_state=0)
    yield "KMM", skada.KMMReweightAdapter()
    yield "discriminator", skada.DiscriminatorReweightAdapter()


def _skada(adapter, X, X_target):
    both, domain = np.vstack([X, X_target]), np.repeat([1, -2], [len(X), len(X_target)])
    adapter.fit(both, sample_domain=domain)
    return np.asarray(adapter.compute_weights(both, sample_domain=domain))[: len(X)]


def adapted(learner, X, y, X_target, seed):
    """Further variants of DDR, always run; the guard has fitted all of it and its prior ratio."""
    ratio, ratios = ULSIF(random_state=seed), {}
    if seed < FIRST_SEEDS:
        wide = list(median_distance(X_target) * WIDE)
        ratios = {"DDR wide": ULSIF(wide), "DDR constant": ConstantULSIF()}
    alone = discriminative(X, y, X_target, learner, ratio, components="class_ratio")
    return {"DDR class ratio": alone.model} | {
        name: DDRClassifier(learner, ratio, random_state=seed).fit(X, y, X_target)
        for name, ratio in ratios.items()
    }


def _weighted(learner, X, y, weights):
    """The learner fitted with weights of mean one; without, where a peer gives none."""
    weights = np.asarray(weights, dtype=float).ravel()
    if not np.all(np.isfinite(weights)) or weights.max(initial=0.0) <= 0:
        weights = np.ones(len(X))
    name = weight_parameter(learner)
    return clone(learner).fit(X, y, **{name: np.maximum(weights, 0) / weights.clip(0).mean()})


def _features(report, learner, X, y, X_target, seed):
    """What is seen of a shift without its labels."""
    models = report.models
    seen = {n: value for n, value in vars(report).items() if isinstance(value, int | float)}
    seen["classes"] = len(report.prior_ratio)
    seen["largest_prior_ratio"] = float(np.abs(np.log([*report.prior_ratio.values()])).max())
    history = models["ddr"].history_
    kept = history[models["ddr"].n_iter_]["mutual_information"]
    seen["information_gain"] = kept - history[0]["mutual_information"]
    seen["iwcv_gain"] = np.nan
    if seed < FIRST_SEEDS:
        risks = [
            importance_weighted_score(
                learner, X, y, models["ddr"].weights_, 3, weighted_fit=fit, random_state=0
            )
            for fit in (False, True)
        ]
        seen["iwcv_gain"] = risks[0] - risks[1]
    return seen


def measure(task, seed):
    """Rows and features of one task and seed, every learner and method."""
    fast = config_context(assume_finite=True, skip_parameter_validation=True)
    with fast, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _measure(task, seed)


def _measure(task, seed):
    X, y, X_target, y_target = draw(task, seed)
    rows, features = [], []
    shared = ratios(X, X_target, seed)
    for name, learner in LEARNERS.items():
        key = {"task": task.name, "kind": task.kind, "learner": name, "seed": seed}
        report = GuardedDDRClassifier(learner, random_state=seed).fit(X, y, X_target).report_
        features.append(key | _features(report, learner, X, y, X_target, seed))
        models = {
            **{name: report.models[choice] for choice, name in METHODS.items()},
            "EM weights": _weighted(learner, X, y, report.models["em"].prior_ratio_[y]),
        }
        models |= adapted(learner, X, y, X_target, seed)
        models |= {n: _weighted(learner, X, y, weights) for n, weights in shared.items()}
        rows += [key | {"method": n} | score(m, X_target, y_target) for n, m in models.items()]
    return rows, features


def score(model, X_target, y_target):
    """Accuracy and log-loss on the target: the one place that sees its labels."""
    posteriors = np.clip(model.predict_proba(X_target), 1e-6, None)
    posteriors /= posteriors.sum(axis=1, keepdims=True)
    said = model.classes_[posteriors.argmax(axis=1)]
    truth = posteriors[np.arange(len(y_target)), y_target]  # labels are 0 to m - 1, all in y
    return {
        "accuracy": float(np.mean(said == y_target)),
        "log_loss": float(-np.log(truth).mean()),
    }
