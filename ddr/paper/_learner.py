"""What the learners of the paper share: the check of what they are fitted to."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from ddr._checks import check_weights


class WeightedLearner(ClassifierMixin, BaseEstimator):
    """Classifier of numbers whose ``fit`` takes weights."""

    def _check_fit(self, X, y, sample_weight):
        """Checked rows, their classes by number and their weights; sets ``classes_``."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        return X, codes, check_weights(sample_weight, len(y))
