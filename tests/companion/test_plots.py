"""Figures show the numbers they are given."""

from itertools import product

import numpy as np
import pytest
from companion.evidence.gains import paired
from companion.evidence.lessons import pictures as plots
from companion.evidence.plots import forest
from matplotlib.collections import PathCollection
from matplotlib.contour import ContourSet
from paper_runs import table_of
from sklearn.naive_bayes import GaussianNB

from ddr.paper.mixture import FourClusters

MIXTURE = FourClusters()


@pytest.fixture(scope="module")
def sample():
    X, y = MIXTURE.sample(80, "train", random_state=0)
    return X, y, GaussianNB().fit(X, y)


def scatters(axis):
    return [c for c in axis.collections if isinstance(c, PathCollection)]


def test_points_have_areas_in_proportion_to_their_weights(sample):
    X, y, model = sample
    weights = np.linspace(0.1, 2.0, len(X))
    axis = plots.weighted_samples(X, y, {"any": (weights, model)}, MIXTURE).axes[0]
    drawn = {
        tuple(p): s
        for c in scatters(axis)
        for p, s in zip(c.get_offsets(), c.get_sizes(), strict=False)  # a cross has one size
    }
    areas = np.array([drawn[tuple(x)] for x in X])
    np.testing.assert_allclose(areas / areas[0], weights / weights[0])


def test_boundaries_lie_where_the_classes_are_equally_probable(sample):
    X, y, model = sample
    axis = plots.weighted_samples(X, y, {"any": (np.ones(len(X)), model)}, MIXTURE).axes[0]
    contours = [c for c in axis.collections if isinstance(c, ContourSet)]
    vertices = [np.concatenate([path.vertices for path in c.get_paths()]) for c in contours]
    probabilities = (lambda Z: MIXTURE.posterior(Z, "test"), model.predict_proba)
    assert len(vertices) == 2
    for points, probability in zip(vertices, probabilities, strict=True):
        np.testing.assert_allclose(probability(points)[:, 0], 0.5, atol=0.02)


def test_forest_shows_each_gain_in_its_row():
    rng, cases = np.random.default_rng(3), ("Ionosphere", "Diabete")
    keys = product(cases, ("Unweighted", "uLSIF", "DDR-uLSIF"), range(5))
    runs = table_of([("biased", "matched", *key, rng.random()) for key in keys])
    figure = forest(runs, "biased", "matched", cases)
    for axis, rival in zip(figure.axes, ("uLSIF", "Unweighted"), strict=True):
        assert axis.get_title() == f"DDR-uLSIF − {rival}"
        wanted = paired(runs, "biased", rival=rival).set_index("case").loc[list(cases)]
        drawn = {y: x for x, y in axis.containers[0].lines[0].get_xydata()}
        np.testing.assert_allclose([drawn[0], drawn[1]], wanted["gain"])
        segments = axis.containers[0].lines[2][0].get_segments()
        widths = {part[0, 1]: part[1, 0] - part[0, 0] for part in segments}
        assert widths[0] == pytest.approx(wanted["high"].iloc[0] - wanted["low"].iloc[0])
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == list(cases)
