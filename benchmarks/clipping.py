"""Where to clip: the ratio or the coefficients, on the paper's own data where truth is known."""

import numpy as np

from benchmarks.problem import normalised_error

CLIPS = ("ratio", "coefficients")
TABLES = (
    "GermanCredit",
    "DelveSplice",
    "Ionosphere",
    "Australian",
    "BreastCancer",
    "Diabete",
)
DIGITS = (("USPS", 5, 6), ("USPS", 3, 8), ("MNIST", 5, 6), ("MNIST", 3, 8))


def mixture(n, seeds):
    """Errors on the synthetic mixture: of the marginal ratio, and class by class as in DDR."""
    from ddr import ULSIF
    from ddr.paper.mixture import CLASSES, FourClusters

    truth = FourClusters()
    errors = {target: {clip: [] for clip in CLIPS} for target in ("marginal", "class-wise")}
    for seed in range(seeds):
        X_train, y_train = truth.sample(n, "train", 2 * seed)
        X_test, _ = truth.sample(2000, "test", 2 * seed + 1)
        posterior = truth.posterior(X_test, "test")
        for clip in CLIPS:
            ratio = ULSIF(clip=clip, random_state=seed)
            weights = ratio.fit(X_train, X_test).weights_
            errors["marginal"][clip].append(
                normalised_error(weights, truth.marginal_ratio(X_train))
            )
            weights = np.empty(n)
            for column, label in enumerate(CLASSES):
                rows = y_train == label
                weights[rows] = ratio.fit(X_train[rows], X_test, posterior[:, column]).weights_
            errors["class-wise"][clip].append(
                normalised_error(weights, truth.class_ratio(X_train, y_train))
            )
    return errors


def biased_sampling(case, seeds):
    """Errors on a real table sampled with a known bias; both weights scaled to mean one."""
    from ddr import ULSIF
    from ddr.paper.shifts import biased_sampling as sample

    X, y, scaling = _table(case)
    errors = {clip: [] for clip in CLIPS}
    for seed in range(seeds):
        problem = sample(X, y, scaling=scaling, random_state=seed)
        truth = problem.importance / problem.importance.mean()
        for clip in CLIPS:
            weights = ULSIF(clip=clip, random_state=seed)
            weights = weights.fit(problem.X_train, problem.X_test).weights_
            errors[clip].append(normalised_error(weights / weights.mean(), truth))
    return errors


def _table(case):
    from ddr.paper.datasets import load
    from ddr.paper.digits import digit_images

    if case in TABLES:
        table = load(case)
        return table.X, table.y, "feature"
    name, digits = case.split()
    a, b = map(int, digits.split("v"))
    images, digit = digit_images(name, "bicubic")
    rows = np.isin(digit, (a, b))
    return images[rows], np.where(digit[rows] == a, -1, 1), "none"


def cases():
    return [*TABLES, *(f"{name} {a}v{b}" for name, a, b in DIGITS)]


def paper_data(sizes, seeds):
    return {
        "mixture": {str(n): mixture(n, seeds) for n in sizes},
        "biased sampling": {case: biased_sampling(case, seeds) for case in cases()},
    }
