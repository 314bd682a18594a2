"""No label of a target row can reach the method, but by its name, ``y_target`` of one ``fit``.

That none reaches it in the experiments, where the labels lie beside the rows, is tested there.
"""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB

from ddr import DDRClassifier, ddr_weights
from ddr.paper.choices import fixed
from ddr.paper.mixture import FourClusters


def shifted_sample(seed=0):
    X, y = FourClusters().sample(150, "train", random_state=seed)
    X_target, y_target = FourClusters().sample(120, "test", random_state=seed + 1)
    return X, y, X_target, y_target


def adapted(X, y, X_target):
    model = DDRClassifier(random_state=0, max_iter=3).fit(X, y, X_target)
    return model.weights_, model.predict_proba(X_target), model.predict(X_target)


class Spy(ClassifierMixin, BaseEstimator):
    """Naive Bayes that notes every array it is given to learn from."""

    seen: list  # set by the test, shared by all clones

    def fit(self, X, y, sample_weight=None):
        type(self).seen.append((X.copy(), np.copy(y), sample_weight.copy()))
        self.model_ = GaussianNB().fit(X, y, sample_weight)
        self.classes_ = self.model_.classes_
        return self

    def predict_proba(self, X):
        return self.model_.predict_proba(X)

    def predict(self, X):
        return self.model_.predict(X)


def test_the_learner_sees_only_training_rows_and_their_labels():
    X, y, X_target, _ = shifted_sample()
    Spy.seen = []
    fitted = DDRClassifier(Spy(), random_state=0, stopping=fixed, max_iter=3)
    fitted.fit(X, y, X_target)
    assert len(Spy.seen) == 4  # the unweighted start and three reweightings
    for rows, labels, weights in Spy.seen:
        assert_array_equal(rows, X)
        assert_array_equal(labels, y)
        assert weights.shape == (150,)
    assert_array_equal(Spy.seen[0][2], np.ones(150))
    assert_array_equal(Spy.seen[3][2], fitted.weights_)


def test_training_labels_do_reach_the_method():
    """The counterpart: labels that do reach the method change its weights."""
    X, y, X_target, _ = shifted_sample()
    shuffled = np.random.default_rng(0).permutation(y)
    assert not np.array_equal(adapted(X, y, X_target)[0], adapted(X, shuffled, X_target)[0])


def test_labels_beside_target_rows_are_not_looked_at():
    X, y, X_target, y_target = shifted_sample()
    both, domain = np.r_[X, X_target], np.repeat([1, -1], [150, 120])
    found = [
        DDRClassifier(random_state=0).fit(both, np.r_[y, other], sample_domain=domain).weights_
        for other in (y_target, 3 - y_target, np.full(120, 9))
    ]
    assert_array_equal(found[0], found[1])
    assert_array_equal(found[0], found[2])


def test_target_labels_given_anyway_are_refused():
    X, y, X_target, y_target = shifted_sample()
    with pytest.raises(TypeError, match="y_target"):
        ddr_weights(X, y, X_target, y_target=y_target)
    with pytest.raises(TypeError, match="positional arguments"):
        DDRClassifier().fit(X, y, X_target, y_target)
    with pytest.raises(ValueError, match=r"X_target is .* 3 features, but DDRClassifier is exp"):
        DDRClassifier().fit(X, y, np.c_[X_target, y_target])
