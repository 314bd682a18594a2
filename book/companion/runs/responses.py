"""Response tables: accuracy and cross-validation risk at every candidate, computed once for a draw.

With them a grid of candidates is a mere selection, so that many protocols cost no more than one.
"""

from itertools import product

import numpy as np

from companion.runs.experiments import Run, draw, draw_cross, load_case
from ddr.iwcv import stratified_folds
from ddr.kernels import gaussian_kernel, median_distance, squared_distances
from ddr.paper.comparison import plain_ratio, weighted
from ddr.paper.datasets import scale_to_unit_box
from ddr.paper.shifts import selection_probability
from ddr.paper.svm import LinearSVMWithPosteriorsCV

#: Penalties of the response tables: half decades, to which the grids of a search are rounded.
PENALTIES = 10.0 ** np.arange(-6.0, 2.5, 0.5)


class CostResponses:
    """Responses of the unweighted machine of the cross-dataset tables, without a choice of C.

    Each C is scored with folds shared by all and with new ones, and rows are called both ways.
    """

    def __init__(self, problem, search):
        self.problem, self.cases = problem, search["cases"]
        self.seed, self.Cs, self.n_folds = (search[name] for name in ("seed", "costs", "folds"))

    @property
    def parameters(self):
        """What decides a response."""
        return {"seed": self.seed, "problem": self.problem, "Cs": self.Cs, "folds": self.n_folds}

    def draw(self, case, number):
        """The problem of a draw, and the seed of its folds."""
        root = np.random.SeedSequence(self.seed, spawn_key=(self.cases.index(case), number))
        problem_seed, fold_seed = root.spawn(2)
        return draw_cross(case, problem_seed, self.problem), fold_seed

    def __call__(self, case, draw):
        """Four rows for each C: its test accuracy and its risk in cross-validation."""
        problem, fold_seed = self.draw(case, draw)
        shared, *new = (int(state) for state in fold_seed.generate_state(1 + len(self.Cs)))
        rows = []
        for C, own in zip(self.Cs, new, strict=True):
            for folds, state in {"shared": shared, "new": own}.items():
                model = LinearSVMWithPosteriorsCV([C], cv=self.n_folds, random_state=state)
                model.fit(problem.X_train, problem.y_train)
                for by in ("posterior", "decision"):
                    accuracy = model.set_params(predict_by=by).score(problem.X_test, problem.y_test)
                    found = {"risk": model.best_score_, "accuracy": accuracy}
                    rows.append({"candidate": C, "folds": folds, "by": by} | found)
        return rows


class MemberRun(Run):
    """Runs of a cross-dataset protocol with no weights and with uLSIF's, rows called both ways."""

    def __call__(self, case, seed):
        """Four rows: two fits, each called by posterior and by the side of the machine."""
        problem, learner, ratios = draw(self.protocol, case, seed)
        X, y, X_test = problem.X_train, problem.y_train, problem.X_test
        fits = {
            "Unweighted": weighted(X, y, learner),
            "uLSIF": plain_ratio(X, y, X_test, learner, ratios["uLSIF"]),
        }
        rows = []
        for (name, fit), by in product(fits.items(), ("posterior", "decision")):
            model = fit.model.set_params(predict_by=by)
            accuracy = model.score(X_test, problem.y_test)
            rows.append({"method": f"{name}: {by}", "accuracy": accuracy})
        return rows


class BiasedTables:
    """Response tables of IWLSPC on a biased-sampling case, without weights and with ideal ones."""

    def __init__(self, options, search):
        self.options, self.search = options, search

    @property
    def parameters(self):
        """What decides a table."""
        names = ("seed", "omegas", "folds", "centers", "widths")
        options = {name: value for name, value in self.options.items() if name != "scaled"}
        return {"options": options, **{name: self.search[name] for name in names}}

    def __call__(self, case, draw):
        """Axes: direction; first or second set; no or ideal weights; width; penalty; quantity."""
        # Quantities: accuracy and zero-one risk where rows that no class fits go to the more
        # frequent class; both where they go to the first class; squared risk; the parts of the
        # first risk that come from rows of the first and of the second class.
        search, table = self.search, load_case(case)
        place = (search["cases"].index(case), draw)
        rng = np.random.default_rng(np.random.SeedSequence(search["seed"], spawn_key=place))
        X, y = scale_to_unit_box(table.X), np.unique(table.y, return_inverse=True)[1]
        test, pool = np.split(rng.permutation(len(y)), [len(y) // 2])
        rows = pool if self.options.get("centers") == "pool" else test
        centers = X[rng.permutation(rows)[: search["centers"]]]
        units = {"relative": median_distance(X[test]), "absolute": 1.0}
        widths = [value * units[kind] for kind, vs in search["widths"].items() for value in vs]
        distances, found = squared_distances(X, centers), []
        kernels = [gaussian_kernel(X, centers, width, squared=distances) for width in widths]
        kernels = [(K, K[test]) for K in kernels]
        for number in range(search["omegas"]):
            shared = [search["seed"], place[0], number]  # the same direction in every draw
            once = self.options.get("directions") == "once"
            directions = np.random.default_rng(shared) if once else rng
            probability, sets = self._sets(X, y, pool, rng, directions)
            for rows in sets:
                folds = stratified_folds(y[rows], search["folds"], int(rng.integers(2**31)))
                for weight in (np.ones(len(rows)), 1 / probability[rows]):
                    found += [
                        least_squares(K[rows], y[rows], weight, K_test, y[test], folds)
                        for K, K_test in kernels
                    ]
        shape = (search["omegas"], 2, 2, len(widths), len(PENALTIES), 7)
        return np.array(found, np.float32).reshape(shape)

    def _sets(self, X, y, pool, rng, directions):
        """A direction's probabilities and two training sets, with rows enough of either class."""
        for _ in range(100):
            omega = directions.uniform(-1, 1, X.shape[1])
            probability = selection_probability(X, omega, self.options["strength"])
            sets = [
                rng.permutation(pool[rng.random(len(pool)) < probability[pool]])
                [: self.options.get("max_rows")] for _ in range(2)
            ]  # fmt: skip
            if min(np.bincount(y[rows], minlength=2).min() for rows in sets) >= 5:
                return probability, sets
        raise ValueError("a hundred directions left fewer than five rows of a class")


def least_squares(K, y, weight, K_test, y_test, folds):
    """Accuracies and risks of two least-squares classes: the seven quantities, a row a penalty."""
    values, frequent = _fit(K, y, weight, K_test)
    hits = [_called(values, other) == y_test[:, None] for other in (frequent, 0)]
    risks = np.zeros((5, len(PENALTIES)))
    for train, held in folds:
        values, frequent = _fit(K[train], y[train], weight[train], K[held])
        w, truth = weight[held], y[held, None]
        wrong, wrong_first = (_called(values, other) != truth for other in (frequent, 0))
        losses = [wrong, wrong_first, _squared(values, truth)]
        risks += [w @ loss for loss in [*losses, wrong & (truth == 0), wrong & (truth == 1)]]
    risks /= weight.sum()
    accuracies = np.mean(hits, axis=1)
    return np.stack([accuracies[0], risks[0], accuracies[1], *risks[1:]], axis=-1)


def _fit(K, y, weight, K_new):
    """Values of both classes at new rows for each penalty, and the more frequent class."""
    w = weight / weight.sum()
    second = w * y
    eigenvalues, U = np.linalg.eigh(K.T @ (K * w[:, None]))
    h = U.T @ (K.T @ np.stack([w - second, second], axis=1))
    shrunk = h[:, :, None] / (np.maximum(eigenvalues, 0)[:, None, None] + PENALTIES)
    alpha = U @ shrunk.reshape(len(U), -1)
    return (K_new @ alpha).reshape(len(K_new), 2, -1), int(second.sum() > 0.5)


def _called(values, other):
    """Class of the larger value; ``other`` where neither is positive."""
    first, second = values[:, 0], values[:, 1]
    return np.where((first > 0) | (second > 0), second > first, other)


def _squared(values, truth):
    """Brier score of the normalised values; one half each where neither is positive."""
    positive = np.maximum(values, 0)
    total = positive.sum(axis=1)
    share = np.divide(positive[:, 1], total, out=np.full(total.shape, 0.5), where=total > 0)
    return 2 * (share - truth) ** 2
