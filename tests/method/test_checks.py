"""Arguments are refused in one sentence, the same one whichever estimator was called."""

import numpy as np
import pytest

from ddr._checks import check_choice, check_count, check_grid, check_positive
from ddr.paper import IWLSPCCV
from ddr.ratio import centers_of


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


def test_accepted_values_come_back():
    assert check_count(np.int64(2), "n", minimum=2) == 2
    assert check_positive(np.float32(0.5), "x") == 0.5
    assert check_choice("b", "x", ("a", "b")) == "b"
    assert check_grid(None, "x", [1, 2]).tolist() == [1.0, 2.0]
    assert check_grid((np.float64(3.0), 1), "x").tolist() == [3.0, 1.0]
    with pytest.raises(ValueError, match="x must be one of 'a', 'b', got 'c'"):
        check_choice("c", "x", ("a", "b"))


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, "None"), ([1.0, -1], "-1.0"), (np.array([0.0]), "0.0"), (["1.0"], "'1.0'")],
)
def test_each_candidate_is_a_positive_number(value, shown):
    with pytest.raises(ValueError, match=f"^sigma must be a positive number, got {shown}$"):
        check_grid(value, "sigma")


def test_centres_have_the_columns_of_the_data():
    given = IWLSPCCV(centers=[[1, 2]])
    np.testing.assert_array_equal(centers_of(given, np.ones((4, 2)), None, None), [[1.0, 2.0]])
    with pytest.raises(ValueError, match="centers must have 3 columns like the data, got 2"):
        centers_of(given, np.ones((4, 3)), None, None)
    with pytest.raises(ValueError, match="Input centers contains NaN"):
        centers_of(IWLSPCCV(centers=[[np.nan]]), np.ones((4, 1)), None, None)
