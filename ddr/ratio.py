r"""What every density-ratio estimator shares: one interface, input checks, diagnostics.

An estimator of this package learns :math:`\beta(x) = p_{ts}(x) / p_{tr}(x)` from two samples:
``fit(X_train, X_test, test_weight=None)``, then ``weights_`` on the training rows and
``predict(X)`` elsewhere. ``test_weight`` is the paper's soft matching: a weight means copies, so
all ones is the plain estimator, weight 0 a row that is not there, weight 2 a row given twice.
"""

import warnings

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.metrics import pairwise_distances_argmin_min
from sklearn.utils import check_array

from ddr._checks import check_count, check_new_rows, check_rows, check_weights
from ddr.information import effective_sample_size
from ddr.kernels import KernelBlocks, choose_centers, median_distance

#: Of adapted fits that agree less with the unadapted one, about half lose more than 5 points.
LOW_AGREEMENT = 0.7


class OverlapWarning(UserWarning):
    """The test sample lies where there is little or no training data."""


class AgreementWarning(OverlapWarning):
    """An adapted model contradicts the unadapted one on many target rows: it often is worse."""


def centers_of(estimator, X, weight, random_state):
    """Return an estimator's ``centers``, or draw its ``n_centers`` from weighted rows."""
    if estimator.centers is None:
        n_centers = check_count(estimator.n_centers, "n_centers")
        return choose_centers(X, n_centers, weight, random_state)
    centers = check_array(estimator.centers, dtype=np.float64, input_name="centers")
    if centers.shape[1] != (d := X.shape[1]):
        raise ValueError(f"centers must have {d} columns like the data, got {centers.shape[1]}")
    return choose_centers(centers, len(centers))  # each once: copies would only cost memory


def quadratic_minimum(P, c, tol, **constraints):
    """The status of the solver, and where x'Px/2 + c'x is least."""
    import piqp  # which KLIEP and KMM alone need

    solver = piqp.DenseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = tol
    solver.setup(P, c, **constraints)
    return solver.solve(), solver.result.x


def far_share(X_train, X_test, max_rows=100):
    """Share of the test rows that lie far from every training row.

    Far means farther than three times the median distance between training rows; from rows that
    are all alike, any distance is far.
    """
    few_train, few_test = (X[:: -(-len(X) // max_rows)] for X in (X_train, X_test))
    _, nearest = pairwise_distances_argmin_min(few_test, X_train)
    alike = len(X_train) > 1 and not np.ptp(X_train, axis=0).any()
    return float(np.mean(nearest > (0.0 if alike else 3.0 * median_distance(few_train))))


def doubt(X_train, X_test, weights):
    """Say that the weights rest on few rows, or that the test sample lies far away; else None."""
    n = len(weights)
    effective = effective_sample_size(weights) if weights.any() else 0.0
    far = far_share(X_train, X_test)
    if effective < min(max(2.0, 0.01 * n), 0.5 * n):
        reason = f"the weights rest on {effective:.1f} of {n} training rows (effective sample size)"
    elif far >= 0.5:
        reason = f"{far:.0%} of the test rows lie far from every training row"
    else:
        return None
    return f"{reason}: training and test samples hardly overlap"


class DensityRatio(BaseEstimator):
    """Base of the ratio estimators: checks the input, calls ``_fit``, reports diagnostics.

    A subclass implements ``_fit(X_train, X_test, test_weight)``, which sets ``weights_``, and
    ``_predict(X)`` where the ratio is no kernel model of ``centers_``, ``alpha_`` and ``sigma_``.
    """

    def fit(self, X_train, X_test, test_weight=None):
        """Estimate the ratio of the test density to the training density.

        Parameters
        ----------
        X_train : array-like of shape (n_train, d)
        X_test : array-like of shape (n_test, d)
        test_weight : array-like of shape (n_test,), default=None
            How many copies of itself each test row stands for; a class posterior makes the match
            class-wise and soft. None means one each.
        """
        X_train = check_rows(self, X_train, "X_train", reset=True)
        X_test = check_rows(self, X_test, "X_test")
        test_weight = check_weights(test_weight, len(X_test), "test_weight")
        self._fit(X_train, X_test, test_weight)
        if message := doubt(X_train, X_test[test_weight > 0], self.weights_):
            warnings.warn(message, OverlapWarning, stacklevel=2)
        return self

    def predict(self, X):
        """Estimated ratio at new rows, non-negative."""
        return self._predict(check_new_rows(self, X))

    def _predict(self, X):
        return np.maximum(KernelBlocks(X, self.centers_).product(self.alpha_, self.sigma_), 0.0)

    def matcher(self, X_train, X_test, reselect=False):
        """Prepare repeated fits to the same two samples under changing test weights.

        Returns a function of ``test_weight`` that gives the weights of the training rows. Centres
        are drawn once, from all test rows. With ``reselect`` the width is chosen anew in each fit,
        else in the first one only.
        """
        estimator = clone(self)
        if hasattr(self, "centers"):
            estimator.set_params(centers=centers_of(self, X_test, None, self.random_state))

        def match(test_weight):
            with warnings.catch_warnings(action="ignore", category=OverlapWarning):
                estimator.fit(X_train, X_test, test_weight)
            # Widths that a rule gives to each sample (KDERatio) follow it in each fit.
            if not reselect and isinstance(getattr(estimator, "sigma_", None), float):
                estimator.set_params(sigma=estimator.sigma_)
            return estimator.weights_

        return match


class ConstantRatio(DensityRatio):
    """The ratio of two samples that do not differ: one everywhere.

    With it, Algorithm 1 corrects the class prior alone.

    Examples
    --------
    >>> ConstantRatio().fit([[0.0], [1.0]], [[2.0]]).weights_
    array([1., 1.])
    """

    def _fit(self, X_train, X_test, test_weight):
        self.weights_ = np.ones(len(X_train))

    def _predict(self, X):
        return np.ones(len(X))
