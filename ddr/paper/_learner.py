"""What the learners of the paper share: what they are fitted to, and how they are judged."""

from dataclasses import KW_ONLY, dataclass

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from ddr._checks import check_choice, check_weights
from ddr.iwcv import LOSSES, weighted_splits


@dataclass(eq=False, repr=False)
class WeightedLearner(ClassifierMixin, BaseEstimator):
    """Classifier of numbers that weights rows, with a ``loss`` and a ``cv`` to choose by."""

    _: KW_ONLY
    cv: object = 5
    loss: str = "zero_one"
    random_state: object = None

    def _check_fit(self, X, y, sample_weight):
        """Checked rows, their classes by number, weights, and folds; sets ``classes_``."""
        check_choice(self.loss, "loss", LOSSES)
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        weight = check_weights(sample_weight, len(y))
        return X, codes, weight, weighted_splits(self.cv, X, codes, weight, self.random_state)
