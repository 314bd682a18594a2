"""The shifts do what they state: probabilities, importances, resizing, seeds, sealed labels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image
from sklearn.linear_model import LogisticRegression

from ddr.paper import shifts
from ddr.paper.datasets import FourClusters, load
from ddr.paper.digits import SCALINGS, resize_images, resize_matrix, sixteen_by_sixteen
from ddr.paper.shifts import (
    accuracy_gap,
    biased_sampling,
    cross_dataset,
    scale_to_unit_box,
    selection_probability,
)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3)) * [1, 10, 0.1]
    return X, (X[:, 0] + rng.normal(size=400) > 0).astype(int)


@settings(max_examples=20, deadline=None)
@given(arrays(float, (7, 3), elements=st.floats(-1e6, 1e6)))
def test_scaling_fills_the_unit_box_and_survives_constant_columns(X):
    scaled = scale_to_unit_box(X)
    constant = X.min(axis=0) == X.max(axis=0)
    assert np.isfinite(scaled).all()
    assert (scaled[:, constant] == 0).all()
    assert (scaled[:, ~constant].min(axis=0, initial=-1) == -1).all()
    assert (scaled[:, ~constant].max(axis=0, initial=1) == 1).all()
    np.testing.assert_allclose(scale_to_unit_box(scaled), scaled, atol=1e-12)


def test_selection_probability_is_the_papers_formula(table):
    X, _ = table
    omega = np.array([0.3, -0.8, 0.5])
    projection = (X - X.mean(axis=0)) @ omega
    v = 4 * projection / np.sqrt(((projection - projection.mean()) ** 2).mean())
    expected = np.exp(v) / (1 + np.exp(v))
    np.testing.assert_allclose(selection_probability(X, omega), expected, rtol=1e-10)
    np.testing.assert_allclose(selection_probability(X, 7 * omega), expected, rtol=1e-10)
    assert (selection_probability(X, omega, strength=0) == 0.5).all()
    with pytest.raises(ValueError, match="all rows have the same projection"):
        selection_probability(np.ones((5, 3)) * 0.1, [0.3, 0.7, 0.9])


def test_problem_is_made_as_stated(table):
    X, y = table
    problem = biased_sampling(X, y, random_state=1)
    info, scaled = problem.info, scale_to_unit_box(X)
    assert len(problem.y_test) == 200
    assert not set(info["test_rows"]) & set(info["pool_rows"])
    assert set(info["train_rows"]) <= set(info["pool_rows"])
    assert len(info["test_rows"]) + len(info["pool_rows"]) == len(y)
    assert np.array_equal(problem.X_train, scaled[info["train_rows"]])
    assert np.array_equal(problem.y_test, y[info["test_rows"]])
    assert (np.abs(info["omega"]) <= 1).all()
    probability = selection_probability(scaled, info["omega"])
    np.testing.assert_allclose(problem.importance, 1 / probability[info["train_rows"]])
    np.testing.assert_allclose(info["probability"], probability[info["pool_rows"]])


def test_redrawing_keeps_omega_and_test_set_but_not_the_training_set(table):
    X, y = table
    seeds = np.random.SeedSequence(8), np.random.SeedSequence(9)
    plain, again, other = (
        biased_sampling(X, y, direction=3, redraw=redraw, random_state=seed)
        for redraw, seed in ((False, seeds[0]), (True, seeds[0]), (False, seeds[1]))
    )
    assert not np.array_equal(plain.info["test_rows"], other.info["test_rows"])
    assert np.array_equal(plain.info["omega"], again.info["omega"])
    assert np.array_equal(plain.X_test, again.X_test)
    assert not np.array_equal(plain.info["train_rows"], again.info["train_rows"])
    probability = selection_probability(scale_to_unit_box(X), again.info["omega"])
    np.testing.assert_allclose(again.importance, 1 / probability[again.info["train_rows"]])


def test_test_labels_are_sealed_without_selection(table):
    X, y = table
    before = biased_sampling(X, y, redraw=True, random_state=6)
    shuffled = y.copy()
    rows = before.info["test_rows"]
    shuffled[rows] = np.random.default_rng(0).permutation(y[rows])
    after = biased_sampling(X, shuffled, redraw=True, random_state=6)
    assert not np.array_equal(before.y_test, after.y_test)
    for part in ("X_train", "y_train", "X_test", "importance"):
        assert np.array_equal(getattr(before, part), getattr(after, part))


def test_draws_without_enough_of_a_class_are_drawn_again():
    # One class lies at one end: about half of the directions leave it out of the training set.
    rng = np.random.default_rng(1)
    X = np.vstack([rng.normal(0, 0.1, (150, 1)), rng.normal(5, 0.1, (50, 1))])
    y = np.repeat(["rest", "end"], [150, 50])
    for seed in range(20):
        problem = biased_sampling(X, y, random_state=seed)
        assert min((problem.y_train == label).sum() for label in ("rest", "end")) >= 5
    with pytest.raises(ValueError, match="never gave 5 training rows of every class"):
        biased_sampling(X, y == np.roll(y, 1), random_state=0)


def test_accuracy_gap_is_the_difference_of_two_accuracies(table):
    problem, shares = biased_sampling(*table, random_state=0), []
    X, y = problem.X_train, problem.y_train
    for options in ({"sample_weight": problem.importance}, {}):
        model = LogisticRegression(C=0.1).fit(X, y, **options)
        shares.append(np.mean(model.predict(problem.X_test) == problem.y_test))
    learner = LogisticRegression(C=0.1)
    assert accuracy_gap(problem, learner) == pytest.approx(shares[0] - shares[1])
    assert shares[0] != shares[1]
    assert not hasattr(learner, "coef_")  # only clones are fitted


@pytest.mark.parametrize(
    ("method", "filter_", "kept"),
    [
        ("bicubic", Image.Resampling.BICUBIC, slice(None)),
        ("bilinear", Image.Resampling.BILINEAR, slice(None)),
        ("crop", Image.Resampling.BICUBIC, slice(4, 24)),
    ],
)
def test_resizing_equals_pillows(method, filter_, kept):
    X = load("MNIST").X[:40]
    images = X.reshape(-1, 28, 28)[:, kept, kept].astype(np.float32)
    by_pillow = [np.ravel(Image.fromarray(x).resize((16, 16), filter_)) for x in images]
    np.testing.assert_allclose(resize_images(X, 16, method), by_pillow, atol=1e-3)


def test_nearest_picks_existing_pixels():
    operator = resize_matrix(28, 16, "nearest")
    assert set(operator.ravel()) == {0.0, 1.0}
    # The centre of new pixel i lies at (i + 1/2) 28/16, within the old pixel of that whole part.
    expected = [int((i + 0.5) * 28 / 16) for i in range(16)]
    assert operator.argmax(axis=1).tolist() == expected
    x = np.arange(784.0)
    picked = x.reshape(28, 28)[np.ix_(expected, expected)]
    np.testing.assert_array_equal(resize_images(x[None], 16, "nearest")[0], picked.ravel())


@pytest.mark.parametrize(("method", "neighbours"), [("bicubic", 4), ("bilinear", 2)])
def test_without_antialiasing_only_the_neighbours_count(method, neighbours):
    plain = resize_matrix(28, 16, method, antialias=False)
    assert np.count_nonzero(plain, axis=1).max() <= neighbours
    assert np.count_nonzero(resize_matrix(28, 16, method), axis=1).max() > neighbours
    # Both kernels reproduce a straight line: the value at the new pixel's centre. Rows at the
    # border lose neighbours and are left out.
    line = plain @ (np.arange(28) + 0.5)
    np.testing.assert_allclose(line[1:-1], ((np.arange(16) + 0.5) * 28 / 16)[1:-1])


def test_unclipped_digits_overshoot_and_clipped_ones_are_cut_off():
    free = sixteen_by_sixteen("MNIST", clip=False)
    assert free.min() < -1
    assert free.max() > 1
    np.testing.assert_array_equal(sixteen_by_sixteen("MNIST"), np.clip(free, -1, 1))
    np.testing.assert_array_equal(sixteen_by_sixteen("USPS", clip=False), load("USPS").X)


@pytest.mark.parametrize("direction", shifts.DIRECTIONS)
def test_cross_dataset_takes_the_stated_rows(direction):
    problem = cross_dataset((3, 8), direction, random_state=0)
    for side, name in zip(("train", "test"), direction.split(" to "), strict=True):
        labels, rows = load(name).y, problem.info[f"{side}_rows"]
        X, y = getattr(problem, f"X_{side}"), getattr(problem, f"y_{side}")
        assert np.array_equal(y, np.where(labels[rows] == 3, -1, 1))
        assert len(rows) == round(0.9 * np.isin(labels, (3, 8)).sum())
        assert len(np.unique(rows)) == len(rows)
        assert X.shape == (len(rows), 256)
        assert X.min() >= -1
        assert X.max() <= 1
    usps = "train" if direction.startswith("USPS") else "test"
    rows = problem.info[f"{usps}_rows"]
    assert np.array_equal(getattr(problem, f"X_{usps}"), load("USPS").X[rows].astype(float))
    assert problem.importance is None


def by_hand(X, low, high):
    """Every pixel from [low, high] to [-1, 1], one that does not vary to zero."""
    width = np.where(high > low, high - low, np.inf)
    return np.where(high > low, 2 * (X - low) / width - 1, 0.0)


@pytest.mark.parametrize("scaling", SCALINGS)
def test_each_scaling_is_that_by_hand(scaling):
    clip = scaling.startswith("joint")  # some digits clipped, some not
    options = {"max_samples": 80, "random_state": 3, "clip": clip}
    problem = cross_dataset((2, 7), "MNIST to USPS", scaling=scaling, **options)
    rows = {"MNIST": problem.info["train_rows"], "USPS": problem.info["test_rows"]}
    assert [len(drawn) for drawn in rows.values()] == [80, 80]
    images = {name: sixteen_by_sixteen(name, clip=clip) for name in rows}
    drawn = {name: images[name][rows[name]] for name in rows}
    ranged = {
        "pair": {name: images[name][np.isin(load(name).y, (2, 7))] for name in rows},
        "draw": drawn,
    }.get(scaling.split()[-1], images)
    if scaling.startswith("joint"):
        ranged = dict.fromkeys(rows, np.vstack([*ranged.values()]))
    for name, found in (("MNIST", problem.X_train), ("USPS", problem.X_test)):
        low, high = ranged[name].min(axis=0), ranged[name].max(axis=0)
        if scaling == "sample":
            low, high = drawn[name].min(axis=1)[:, None], drawn[name].max(axis=1)[:, None]
        expected = drawn[name] if scaling == "global" else by_hand(drawn[name], low, high)
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_mixture_shift_has_the_true_joint_ratio():
    problem, again = (shifts.mixture_shift(300, 100, random_state=0) for _ in range(2))
    expected = FourClusters().joint_ratio(problem.X_train, problem.y_train)
    assert np.array_equal(problem.importance, expected)
    assert np.array_equal(problem.X_test, again.X_test)
