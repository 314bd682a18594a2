"""Discriminative density ratios in skada's pipelines: ``pip install ddr-companion[skada]``.

skada keeps both samples in one array and tells them apart by ``sample_domain``: positive numbers
are sources, negative ones targets. Importing it enables scikit-learn's metadata routing.
"""

import numpy as np
from skada.base import BaseAdapter
from skada.utils import check_X_y_domain, extract_source_indices
from sklearn.base import clone

from ddr.discriminative import DDRClassifier


class DDRReweightAdapter(BaseAdapter):
    """Give the source rows of a skada pipeline the weights of Algorithm 1.

    Parameters
    ----------
    classifier : DDRClassifier, default=None
        Finds the weights. None means ``DDRClassifier()``.

    Attributes
    ----------
    classifier_ : DDRClassifier
        Fitted to the source rows, for the target rows.

    Notes
    -----
    Labels of target rows that skada has not masked count as known (``y_target``).

    Examples
    --------
    >>> import numpy as np
    >>> from skada import make_da_pipeline
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.preprocessing import StandardScaler
    >>> from ddr.paper.datasets import FourClusters
    >>> X, y = FourClusters().sample(300, "train", random_state=0)
    >>> X_target, _ = FourClusters().sample(400, "test", random_state=1)
    >>> learner = LogisticRegression().set_fit_request(sample_weight=True)
    >>> model = make_da_pipeline(StandardScaler(), DDRReweightAdapter(), learner)
    >>> both, labels = np.r_[X, X_target], np.r_[y, np.full(400, -1)]
    >>> model = model.fit(both, labels, sample_domain=np.repeat([1, -2], [300, 400]))
    >>> model.predict(X_target).shape
    (400,)
    """

    def __init__(self, classifier=None):
        super().__init__()
        self.classifier = classifier

    def fit(self, X, y=None, *, sample_domain=None):
        """Learn weights of the source rows for the target rows."""
        X, y, sample_domain = check_X_y_domain(X, y, sample_domain)
        source = extract_source_indices(sample_domain)
        if np.any(y[source] == -1):
            raise ValueError("y must not have the class -1: skada marks unknown labels by it")
        classifier = DDRClassifier() if self.classifier is None else clone(self.classifier)
        self.classifier_ = classifier.fit(X[source], y[source], X[~source], y_target=y[~source])
        return self

    def fit_transform(self, X, y=None, *, sample_domain=None, **params):
        """Learn the weights and hand them on to the next step; target rows get weight zero."""
        self.fit(X, y, sample_domain=sample_domain)
        weights = np.zeros(len(X))
        weights[extract_source_indices(sample_domain)] = self.classifier_.weights_
        return X, {"sample_weight": weights}
