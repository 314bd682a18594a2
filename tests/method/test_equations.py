"""The equation is the code: what the book shows as equation n is what the estimators call."""

import inspect
import re
import sys

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from ddr import DDRClassifier
from ddr.algorithm import joint_weights, prior_ratio, rounds
from ddr.information import entropy, mutual_information
from ddr.iwcv import IWSearchCV, weighted_risk
from ddr.kernels import gaussian_kernel
from ddr.paper.iwlspc import IWLSPCCV
from ddr.paper.mixture import FourClusters
from ddr.paper.svm import LinearSVMWithPosteriorsCV
from ddr.ulsif import ULSIF, second_moment, soft_moment, ulsif_coefficients

# The paper's equations 1 to 16. Two are statements about densities that nothing computes:
# the expected risk (1) and Bayes's rule (4).
EQUATIONS = {
    2: [weighted_risk],
    3: [weighted_risk],
    5: [joint_weights],
    6: [joint_weights],
    7: [joint_weights],
    8: [joint_weights, prior_ratio, rounds],
    9: [soft_moment],
    10: [gaussian_kernel],
    11: [ulsif_coefficients],
    12: [second_moment],
    13: [soft_moment],
    14: [soft_moment],
    15: [entropy],
    16: [mutual_information],
}


def called_by(action):
    """The code objects of all Python functions that an action enters."""
    seen = set()

    def note(frame, event, _):
        if event == "call":
            seen.add(frame.f_code)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        action()
    finally:
        sys.setprofile(before)
    return seen


def code_of(value):
    return value.__code__


@pytest.fixture(scope="module")
def samples():
    X, y = FourClusters().sample(60, "train", random_state=0)
    return X, y, FourClusters().sample(80, "test", random_state=1)[0]


OF_ULSIF = [gaussian_kernel, second_moment, soft_moment, ulsif_coefficients]
OF_DDR = [*OF_ULSIF, rounds, prior_ratio, joint_weights, entropy, mutual_information]


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        (lambda X, y, T: ULSIF(random_state=0).fit(X, T), OF_ULSIF),
        (lambda X, y, T: ULSIF(0.5, 0.1, random_state=0).fit(X, T, np.ones(80) / 2), OF_ULSIF),
        (lambda X, y, T: ULSIF(clip="coefficients", random_state=0).fit(X, T), OF_ULSIF),
        (lambda X, y, T: DDRClassifier(random_state=0).fit(X, y, T), OF_DDR),
        (
            lambda X, y, T: IWSearchCV(GaussianNB(), {"var_smoothing": [1e-9]}).fit(X, y),
            [weighted_risk],
        ),
        (lambda X, y, T: IWLSPCCV(random_state=0).fit(X, y), [gaussian_kernel, weighted_risk]),
        (lambda X, y, T: LinearSVMWithPosteriorsCV([1.0]).fit(X, y), [weighted_risk]),
    ],
)
def test_estimators_call_the_documented_functions(samples, run, expected):
    seen = called_by(lambda: run(*samples))
    missing = [value.__name__ for value in expected if code_of(value) not in seen]
    assert not missing


def test_every_equation_lies_on_the_path_of_an_estimator(samples):
    X, y, T = samples
    seen = called_by(
        lambda: (DDRClassifier(random_state=0).fit(X, y, T), IWSearchCV(GaussianNB(), {}).fit(X, y))
    )
    for number, values in EQUATIONS.items():
        assert all(code_of(value) in seen for value in values), f"equation {number}"
    assert sorted(EQUATIONS) == [n for n in range(1, 17) if n not in (1, 4)]


def named_equations(doc):
    """Numbers that a docstring names: ``eq. 8``, ``eqs. 2 and 3``, ``eqs. 9, 13 and 14``."""
    numbers = set()
    for text in re.findall(r"eqs?\. ([\d, ]+(?:(?:and|to) \d+)?)", doc):
        found = [int(n) for n in re.findall(r"\d+", text)]
        numbers.update(range(found[0], found[-1] + 1) if " to " in text else found)
    return numbers


@pytest.mark.parametrize("number", EQUATIONS)
def test_docstrings_name_their_equation(number):
    for value in EQUATIONS[number]:
        assert number in named_equations(inspect.getdoc(value)), value.__name__


def test_a_function_off_the_path_is_noticed(samples):
    """What the trace cannot see it must not report."""
    X, _, T = samples
    seen = called_by(lambda: ULSIF(random_state=0).fit(X, T))
    assert code_of(joint_weights) not in seen
