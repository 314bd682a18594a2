"""What shift is this, and is adapting worth it?

A report of two samples by what can be seen without target labels, and a classifier that follows it.
"""

from dataclasses import dataclass, field

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state

from ddr.discriminative import DDRClassifier
from ddr.information import effective_sample_size
from ddr.prior_shift import PriorCorrectedClassifier
from ddr.validation import stratified_folds

_MOST_ROWS = 2000


def domain_auc(X, X_target, weight=None, random_state=0):
    """How well a classifier tells two samples apart: cross-validated AUC, and how many sds from 1/2.

    The classifier is a logistic regression on standardised columns and their squares, so that it
    sees shifts of location and of scale. ``weight`` weighs the rows of X.
    """
    rng = check_random_state(random_state)
    weight = np.ones(len(X)) if weight is None else np.asarray(weight)
    rows, others = (rng.permutation(len(sample))[:_MOST_ROWS] for sample in (X, X_target))
    weight = weight[rows] * len(rows) / weight[rows].sum()
    Z = StandardScaler().fit_transform(np.vstack([X[rows], X_target[others]]))
    Z = np.clip(np.hstack([Z, Z**2 - 1]), -9, 9)
    side = np.repeat([0, 1], [len(rows), len(others)])
    weights = np.append(weight, np.ones(len(others)))
    scores = np.empty(len(side))
    for train, held_out in stratified_folds(side, 5, rng):
        model = LogisticRegression(C=0.1, max_iter=1000)
        model.fit(Z[train], side[train], sample_weight=weights[train])
        scores[held_out] = model.decision_function(Z[held_out])
    auc = roc_auc_score(side, scores, sample_weight=weights)
    n, m = effective_sample_size(weight), len(others)
    return float(auc), float((auc - 0.5) / np.sqrt((n + m + 1) / (12 * n * m)))


def unsupported_share(X, X_target, random_state=0):
    """Share of target rows farther from every source row than 99 % of source rows are from theirs."""
    rng = check_random_state(random_state)
    source, target = (rng.permutation(len(s))[:_MOST_ROWS] for s in (X, X_target))
    scaler = StandardScaler().fit(X[source])
    source, target = scaler.transform(X[source]), scaler.transform(X_target[target])
    index = NearestNeighbors(n_neighbors=1).fit(source)
    own = index.kneighbors()[0].ravel()
    return float(np.mean(index.kneighbors(target)[0].ravel() > np.quantile(own, 0.99)))


@dataclass(eq=False)
class ShiftReport:
    """What the two samples and three models show of a shift."""

    auc: float
    auc_sds: float
    residual_auc: float
    residual_sds: float
    prior_ratio: np.ndarray
    prior_evidence: float
    effective_share: float
    unsupported: float
    agreement: float
    prior_agreement: float
    models: dict = field(repr=False)


def examine(X, y, X_target, estimator, random_state=0):
    """Fit the three models that a guard chooses among, and report what they show."""
    plain = clone(estimator).fit(X, y)
    prior = PriorCorrectedClassifier(estimator, random_state=random_state).fit(X, y, X_target)
    adapted = DDRClassifier(estimator, random_state=random_state).fit(X, y, X_target)
    codes = np.searchsorted(plain.classes_, y)
    auc, sds = domain_auc(X, X_target, None, random_state)
    residual, residual_sds = domain_auc(X, X_target, prior.prior_ratio_[codes], random_state)
    said = plain.predict(X_target)
    return ShiftReport(
        auc=auc,
        auc_sds=sds,
        residual_auc=residual,
        residual_sds=residual_sds,
        prior_ratio=prior.prior_ratio_,
        prior_evidence=prior.evidence_,
        effective_share=effective_sample_size(adapted.weights_) / len(X),
        unsupported=unsupported_share(X, X_target, random_state),
        agreement=float(np.mean(adapted.predict(X_target) == said)),
        prior_agreement=float(np.mean(prior.predict(X_target) == said)),
        models={"none": plain, "prior": prior, "ddr": adapted},
    )
