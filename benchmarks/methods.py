"""Each method as one function ``fit(X_train, X_test, seed) -> weights of the training rows``.

All get the same data and 100 centres; the least-squares methods the same grid, and those of KLIEP
the same widths, which follow the data because that of skada breaks down far from them. Packages are
imported on first use, so that a process pays only for the one it measures.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.problem import GRID, N_CENTERS, widths


@dataclass(frozen=True)
class Method:
    """A way to estimate the ratio.

    ``slow`` methods are measured in a process of their own, once; ``large`` tells whether the
    method takes part at the larger sample size.
    """

    label: str
    fit: Callable
    search: str
    slow: bool = False
    large: bool = True


def ddr_ulsif(clip):
    def fit(X_train, X_test, seed):
        from ddr import ULSIF

        ratio = ULSIF(GRID, GRID, n_centers=N_CENTERS, clip=clip, random_state=seed)
        return ratio.fit(X_train, X_test).weights_

    return fit


def ddr_kliep(X_train, X_test, seed):
    from ddr import KLIEP

    ratio = KLIEP(widths(X_test), n_centers=N_CENTERS, random_state=seed)
    return ratio.fit(X_train, X_test).weights_


def densratio_ulsif(X_train, X_test, seed):
    from densratio import densratio

    np.random.seed(seed)  # noqa: NPY002 - the package draws its centres from the global generator
    result = densratio(
        X_test, X_train, sigma_range=GRID, lambda_range=GRID, kernel_num=N_CENTERS, verbose=False
    )
    return np.asarray(result.compute_density_ratio(X_train)).ravel()


def adapt_ulsif(X_train, X_test, seed):
    from adapt.instance_based import ULSIF

    np.random.seed(seed)  # noqa: NPY002
    model = ULSIF(
        kernel="rbf",
        gamma=list(0.5 / GRID**2),
        lambdas=list(GRID),
        max_centers=N_CENTERS,
        verbose=0,
        random_state=seed,
    )
    return model.fit_weights(X_train, X_test)


def adapt_kliep(X_train, X_test, seed):
    from adapt.instance_based import KLIEP

    np.random.seed(seed)  # noqa: NPY002
    model = KLIEP(
        kernel="rbf",
        gamma=list(0.5 / widths(X_test) ** 2),
        max_centers=N_CENTERS,
        verbose=0,
        random_state=seed,
    )
    return model.fit_weights(X_train, X_test)


def skada_kliep(X_train, X_test, seed):
    from skada import KLIEPReweightAdapter

    X = np.vstack([X_train, X_test])
    domain = np.repeat([1, -2], [len(X_train), len(X_test)])
    gammas = list(0.5 / widths(X_test) ** 2)
    adapter = KLIEPReweightAdapter(gammas, n_centers=N_CENTERS, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        adapter.fit(X, sample_domain=domain)
    return adapter.compute_weights(X, sample_domain=domain)[: len(X_train)]


def genriesz_squared(X_train, X_test, seed):
    from genriesz import fit_density_ratio

    result = fit_density_ratio(
        X_test,
        X_train,
        n_centers=N_CENTERS,
        standardize=False,
        generator="sq",
        cv=True,
        sigma_grid=GRID,
        lam_grid=GRID,
        random_state=seed,
    )
    return result.predict_ratio(X_train)


LEAVE_ONE_OUT = "9 x 9, leave-one-out"
METHODS = {
    "ddr-ratio": Method("ddr ULSIF, ratio clipped", ddr_ulsif("ratio"), LEAVE_ONE_OUT),
    "ddr-coefficients": Method(
        "ddr ULSIF, coefficients clipped", ddr_ulsif("coefficients"), LEAVE_ONE_OUT
    ),
    "ddr-kliep": Method("ddr KLIEP", ddr_kliep, "9 widths, 5-fold"),
    "skada-kliep": Method("skada 0.6.0 KLIEP", skada_kliep, "9 widths, 5-fold"),
    "genriesz": Method("genriesz 0.2.5, squared", genriesz_squared, "9 x 9, 5-fold", slow=True),
    "adapt-kliep": Method(
        "adapt 0.4.5 KLIEP", adapt_kliep, "9 widths, 5-fold", slow=True, large=False
    ),
    "densratio": Method("densratio 0.4.0 uLSIF", densratio_ulsif, LEAVE_ONE_OUT, slow=True),
    "adapt": Method("adapt 0.4.5 ULSIF", adapt_ulsif, LEAVE_ONE_OUT, slow=True),
}
