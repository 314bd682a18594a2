"""What classifiers that adapt to a target share: their parts, checks of rows, and predicting."""

from dataclasses import KW_ONLY, dataclass

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.naive_bayes import GaussianNB
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from ddr._checks import check_rows
from ddr._domains import first_step, two_samples
from ddr.iwcv import check_labels, weight_parameter
from ddr.ratio import DensityRatio
from ddr.ulsif import ULSIF


@dataclass(eq=False, repr=False)
class AdaptingClassifier(ClassifierMixin, BaseEstimator):
    """Base of classifiers that learn from a source for a target, with ``estimator_`` in the end."""

    estimator: object = None
    ratio: object = None
    _: KW_ONLY
    ratio_transform: object = None
    random_state: object = None

    # A pipeline hands these on without being asked to.
    __metadata_request__fit = {"X_target": True, "y_target": True, "sample_domain": True}  # noqa: RUF012
    __metadata_request__score = {"sample_domain": True}  # noqa: RUF012

    def _parts(self):
        """Clones of learner and ratio, seeded."""
        learner = GaussianNB() if self.estimator is None else self.estimator
        ratio = ULSIF() if self.ratio is None else self.ratio
        able = hasattr(learner, "predict_proba") and weight_parameter(learner) is not None
        if isinstance(learner, type) or not able:
            raise TypeError(
                f"estimator must be a classifier with predict_proba and weights, got {learner!r}"
            )
        if not isinstance(ratio, DensityRatio):
            raise TypeError(f"ratio must be a ratio estimator like ULSIF(), got {ratio!r}")
        learner, ratio = clone(learner), clone(ratio)
        rng = check_random_state(self.random_state)
        for part in (learner, ratio):
            open_ = sorted(name for name, value in part.get_params().items() if value is None)
            seeds = {n: rng.randint(2**31 - 1) for n in open_ if n.endswith("random_state")}
            part.set_params(**seeds)
        return learner, ratio

    def _check_samples(self, X, y, X_target):
        """Check both samples, and note columns and classes.

        DataFrames and sparse matrices stay what they are, for the learner.
        """
        y = check_labels(X, y, self.estimator)
        X = validate_data(self, X, **self._kinds(X))
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise ValueError(f"y must have at least 2 classes, got one class, {y.tolist()[0]!r}")
        if X_target is not None:
            X_target = check_rows(self, X_target, "X_target", **self._kinds(X_target))
        return X, y, X_target

    def _kinds(self, X):
        """What kinds of rows are allowed: those that the learner takes."""
        if hasattr(X, "columns"):
            return {"skip_check_array": True}
        first = first_step(self.estimator)
        finite, sparse = "allow-nan" if first.allow_nan else True, "csr" if first.sparse else False
        return {"dtype": np.float64, "accept_sparse": sparse, "ensure_all_finite": finite}

    def _ask(self, method, X):
        """What the learner says of new rows."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, **self._kinds(X))
        return getattr(self.estimator_, method)(X)

    def predict(self, X):
        """Predicted class of each row."""
        return self._ask("predict", X)

    def predict_proba(self, X):
        """Class probabilities of each row, shape (n, m)."""
        return self._ask("predict_proba", X)

    def score(self, X, y, sample_weight=None, *, sample_domain=None):
        """Accuracy; where ``sample_domain`` marks rows of both samples, that on the source."""
        if sample_domain is not None and np.any(np.asarray(sample_domain) > 0):
            X, y, _, sample_weight = two_samples(X, y, None, sample_domain, sample_weight)
        return super().score(X, y, sample_weight)

    def __sklearn_tags__(self):
        tags, first = super().__sklearn_tags__(), first_step(self.estimator)
        tags.input_tags.allow_nan, tags.input_tags.sparse = first.allow_nan, first.sparse
        return tags
