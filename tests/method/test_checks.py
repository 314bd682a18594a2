"""Bad arguments are refused in one sentence that names them, whichever function was called."""

import re

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from ddr import KLIEP, KMM, ULSIF, IWSearchCV, effective_sample_size, entropy, mutual_information
from ddr._checks import check_count, check_positive
from ddr.paper import (
    IWLSPCCV,
    FourClusters,
    LinearSVMWithPosteriorsCV,
    algorithm_1,
    biased_sampling,
    cross_dataset,
    load,
)

RNG = np.random.default_rng(0)
X, T, Y = RNG.normal(size=(40, 2)), RNG.normal(0.4, 0.8, (30, 2)), np.arange(40) % 2
WEIGHT = np.r_[0.0, np.ones(39)]


@pytest.mark.parametrize("value", [0, -1, np.nan, np.inf, "1", None, True, [1.0]])
@pytest.mark.hardening("mistake")
def test_positive_numbers_only(value):
    with pytest.raises(ValueError, match="tol must be a positive number, got"):
        check_positive(value, "tol")


@pytest.mark.parametrize("value", [0, 1.0, True, "3", None])
@pytest.mark.hardening("mistake")
def test_whole_numbers_only(value):
    with pytest.raises(ValueError, match="n must be a whole number of at least 1, got"):
        check_count(value, "n")


def search(estimator=None, param_grid=None, **options):
    grid = {} if param_grid is None else param_grid
    return IWSearchCV(GaussianNB() if estimator is None else estimator, grid, **options)


ONE, OTHER = np.array([0]), np.array([1])
BAD_LOSS = "loss must be one of 'zero_one', 'log', 'squared', got 'hinge'"
NO_WEIGHTS = "KMM found no weights: ridge is too large, or bound or epsilon too small"
ESTIMATORS = [
    (ULSIF(clip="none"), "clip must be one of 'ratio', 'coefficients', got 'none'"),
    (ULSIF(lam="big"), "lam must be a positive number, got 'big'"),
    (ULSIF(sigma=[1.0, -1]), "sigma must be a positive number, got -1.0"),
    (ULSIF(sigma=np.array([0.0])), "sigma must be a positive number, got 0.0"),
    (ULSIF(centers=[[0.0]]), "centers must have 2 columns like the data, got 1"),
    (ULSIF(centers=[[np.nan, 0.0]]), "Input centers contains NaN"),
    (KLIEP(sigma=0.0), "sigma must be a positive number, got 0.0"),
    (KLIEP(n_centers=-3), "n_centers must be a whole number of at least 1, got -3"),
    (KLIEP(n_folds=1), "n_folds must be a whole number of at least 2, got 1"),
    (KMM(sigma=-2.0), "sigma must be a positive number, got -2.0"),
    (KMM(bound=-2.0), "bound must be a positive number, got -2.0"),
    (KMM(epsilon=-2.0), "epsilon must be a positive number, got -2.0"),
    (KMM(ridge=-2.0), "ridge must be a positive number, got -2.0"),
    (KMM(bound=0.5, epsilon=0.1), NO_WEIGHTS),
    (KMM(ridge=1e300), NO_WEIGHTS),
    (search(loss="hinge"), BAD_LOSS),
    (search(cv=1), "cv must be a whole number of at least 2, got 1"),
    (search(cv=2.5), "Expected `cv` as an integer"),
    (search(cv=[(ONE, OTHER)]), "cv must leave rows of positive weight"),
    (search(cv=[(OTHER, ONE)]), "cv must leave rows of positive weight"),
    (search(KNeighborsClassifier()), "estimator must take sample_weight in fit, got KNe"),
    (search(param_grid=[]), "param_grid must hold a candidate, got []"),
    (IWLSPCCV([]), "sigmas must be a positive number or a list of them, got an empty list"),
    (IWLSPCCV(lams=[[1.0]]), "lams must be a positive number, got [1.0]"),
    (IWLSPCCV(centers=[[0.0]]), "centers must have 2 columns like the data, got 1"),
    (IWLSPCCV(loss="hinge"), BAD_LOSS),
    (LinearSVMWithPosteriorsCV(predict_by=None), "predict_by must be one of 'posterior', 'decisi"),
    (LinearSVMWithPosteriorsCV(tol=-1), "tol must be a positive number, got -1"),
    (LinearSVMWithPosteriorsCV([np.inf]), "Cs must be a positive number, got inf"),
    (LinearSVMWithPosteriorsCV(loss="hinge"), BAD_LOSS),
]


@pytest.mark.parametrize(("estimator", "message"), ESTIMATORS)
@pytest.mark.hardening("mistake")
def test_bad_parameters_are_refused_in_one_sentence(estimator, message):
    is_ratio = isinstance(estimator, ULSIF | KLIEP | KMM)
    with pytest.raises(ValueError, match=re.escape(message)):
        estimator.fit(X, T) if is_ratio else estimator.fit(X, Y, WEIGHT)


def weighted(weight):
    return ULSIF().fit(X, T, weight)


def sampled(**changes):
    return biased_sampling(**{"X": X, "y": Y, "random_state": 0} | changes)


def crossed(digits=(5, 6), **changes):
    return cross_dataset(digits, random_state=0, **changes)


def chosen(**choices):
    return algorithm_1(X, Y, T, GaussianNB(), ULSIF(1.0, 0.1), **choices)


CALLS = [
    (weighted, np.ones((30, 1)), "test_weight must have shape (30,), one per row, got (30, 1)"),
    (weighted, np.r_[-0.5, np.ones(29)], "test_weight must be non-negative and not all zero, got"),
    (weighted, np.r_[np.nan, np.ones(29)], "Input test_weight contains NaN"),
    (weighted, np.zeros(30), "test_weight must be non-negative and not all zero, got 0 to 0"),
    (entropy, [0.5, 0.6], "p must hold probabilities of sum 1, got array([0.5, 0.6"),
    (entropy, [1.5, -0.5], "p must hold probabilities of sum 1"),
    (entropy, [np.nan, 1.0], "p must hold probabilities of sum 1"),
    (entropy, np.ones((1, 1, 1)), "p must hold probabilities of sum 1"),
    (mutual_information, {"posteriors": [[0.5, 0.5]], "prior": [0.5, 0.4]}, "prior must hold"),
    (effective_sample_size, [0.0, 0.0], "weights must be non-negative and not all zero, got 0 to"),
    (chosen, {"normalization": "x"}, "normalization must be one of 'posterior', 'literal', got"),
    (chosen, {"stopping": "x"}, "stopping must be one of 'drop', 'max', 'weights', 'fixed', got"),
    (chosen, {"min_iter": 2}, "min_iter must be one of 1, 0, got 2"),
    (chosen, {"max_iter": 0}, "max_iter must be a whole number of at least 1, got 0"),
    (chosen, {"stoping": "drop"}, "a choice must be one of 'normalization', 'prior', 'matching'"),
    (sampled, {"direction": -1}, "direction must be a whole number of at least 0, got -1"),
    (sampled, {"test_fraction": 1.0}, "test_fraction must leave rows on both sides, got 1.0"),
    (sampled, {"y": np.arange(40) / 7}, "Unknown label type"),
    (crossed, (5, 5), "digits must be two different digits from 0 to 9, got (5, 5)"),
    (crossed, {"direction": "USPS"}, "direction must be one of 'USPS to MNIST', 'MNIST to USPS'"),
    (crossed, {"resize": "lanczos"}, "resize must be one of 'bicubic', 'bilinear', 'nearest',"),
    (crossed, {"scaling": "none"}, "scaling must be one of 'global', 'sample', 'feature', 'pair'"),
    (crossed, {"fraction": 0}, "fraction must be in (0, 1], got 0"),
    (load, "iris", "name must be one of 'GermanCredit', 'DelveSplice', 'Ionosphere', 'Australian'"),
    (load, 3, "name must be one of 'GermanCredit'"),
    (load, "USPS4v4", "digits must be two different digits from 0 to 9, got (4, 4)"),
    (FourClusters, {"train_mixing": ((0.9, 0.2), (0.5, 0.5))}, "train_mixing must hold shares of"),
    (FourClusters().sample, {"n": 3, "domain": "tset"}, "domain must be one of 'train', 'test'"),
    (FourClusters().sample, 0, "n must be a whole number of at least 1, got 0"),
    (FourClusters().prior_ratio, [0, 1], "y must hold the classes 1 and 2 only"),
]


@pytest.mark.parametrize(("function", "given", "message"), CALLS)
@pytest.mark.hardening("mistake")
def test_bad_arguments_are_refused_in_one_sentence(function, given, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        function(**given) if isinstance(given, dict) else function(given)
