"""Figures show the numbers they are given, and the slider works without any help from outside."""

import io
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from companion.evidence import pictures as plots
from companion.kit import display as show
from companion.kit.display import slider
from matplotlib.collections import PathCollection
from matplotlib.contour import ContourSet
from PIL import Image
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


def test_points_without_weight_stay_visible_as_crosses(sample):
    X, y, model = sample
    weights = np.where(np.arange(len(X)) < 5, 0.0, 1.0)
    axis = plots.weighted_samples(X, y, {"any": (weights, model)}, MIXTURE).axes[0]
    crosses = [c for c in scatters(axis) if len(c.get_offsets()) and c.get_sizes()[0] == 9]
    assert sum(len(c.get_offsets()) for c in crosses) == 5


def test_boundaries_lie_where_the_classes_are_equally_probable(sample):
    X, y, model = sample
    axis = plots.weighted_samples(X, y, {"any": (np.ones(len(X)), model)}, MIXTURE).axes[0]
    contours = [c for c in axis.collections if isinstance(c, ContourSet)]
    vertices = [np.concatenate([path.vertices for path in c.get_paths()]) for c in contours]
    probabilities = (lambda Z: MIXTURE.posterior(Z, "test"), model.predict_proba)
    assert len(vertices) == 2
    for points, probability in zip(vertices, probabilities, strict=True):
        np.testing.assert_allclose(probability(points)[:, 0], 0.5, atol=0.02)


def test_every_panel_of_weights_has_its_own_title(sample):
    X, y, model = sample
    panels = {name: (np.ones(len(X)), model) for name in ("a", "b", "c")}
    titles = [axis.get_title() for axis in plots.weighted_samples(X, y, panels, MIXTURE).axes]
    assert titles == ["a", "b", "c"]


def test_iteration_frame_circles_the_current_iteration(sample):
    X, y, model = sample
    information = [0.1, 0.4, 0.3]
    figure = plots.iteration_frame(X, y, np.ones(len(X)), model, MIXTURE, information, 1)
    curve, circle = figure.axes[1].lines
    assert list(curve.get_ydata()) == information
    assert (circle.get_xdata()[0], circle.get_ydata()[0]) == (1, 0.4)


def test_convergence_shows_medians_and_survives_a_wild_draw():
    errors = np.array([[0.4, 1e4, 0.6], [0.1, 0.2, 0.3]])
    axis = plots.convergence([10, 100], {"one": errors}, [("limit", 0.36)]).axes[0]
    assert list(axis.lines[0].get_ydata()) == [0.6, 0.2]
    assert axis.lines[1].get_ydata()[0] == 0.36
    assert axis.get_ylim()[1] <= 3


def test_intervals_are_drawn_around_their_estimates():
    figure = plots.intervals(["a", "b"], [0.1, 0.3], [0.05, 0.02], 0.2, "truth", "risk")
    axis = figure.axes[0]
    segments = axis.collections[0].get_segments()
    np.testing.assert_allclose([s[:, 0] for s in segments], [[0.05, 0.15], [0.28, 0.32]])
    assert axis.lines[0].get_xdata()[0] == 0.2
    assert axis.get_xlabel() == "risk"


def test_boundary_information_marks_the_largest_value():
    curve = np.array([0.1, 0.6, 0.2]), np.ones(3)
    positions, along = np.array([1.0, 2.0, 3.0]), np.array([[1.0, 1.1, 3.0]])
    axis = plots.boundary_information(positions, {"one": curve}, along).axes[0]
    assert axis.lines[-1].get_xdata()[0] == 2.0


def test_both_populations_are_drawn_in_the_colours_of_their_classes():
    figure = plots.class_shift(MIXTURE, n=60, seed=1)
    for axis, domain in zip(figure.axes, ("train", "test"), strict=True):
        X, y = MIXTURE.sample(60, domain, random_state=1)
        drawn = [c.get_offsets() for c in scatters(axis) if len(c.get_offsets())]
        for points, label in zip(drawn, (1, 2), strict=True):
            np.testing.assert_allclose(points, X[y == label])


def test_map_of_weights_is_blank_where_a_class_has_no_points():
    figure = plots.weight_difference(MIXTURE, least=1e-2)
    titles = [axis.get_title() for axis in figure.axes[:2]]
    assert titles == ["a training point of class 1", "a training point of class 2"]
    for axis, centre in zip(figure.axes, ((1.0, 5.0), (4.0, 1.0)), strict=False):
        filled = next(c for c in axis.collections if isinstance(c, ContourSet) and c.filled)
        assert any(path.contains_point(centre) for path in filled.get_paths())
        assert not any(path.contains_point((1.0, -2.4)) for path in filled.get_paths())


def test_accuracies_stand_beside_the_printed_ones_under_each_setting():
    means = pd.DataFrame({"uLSIF": [95.0, 96.0]}, index=["100", "200"])
    figure = plots.accuracy_by_settings({"matched": means, "tuned": means + 1}, means - 2)
    for axis, more in zip(figure.axes, (0, 1), strict=True):
        ours, paper = (list(line.get_ydata()) for line in axis.lines)
        assert ours == [95.0 + more, 96.0 + more]
        assert paper == [93.0, 94.0]


def test_width_curves_show_means_of_runs_in_percent():
    found = np.array([[0.90, 0.92], [0.95, 0.97]])
    curves = {"uLSIF": found, "DDR-uLSIF": found + 0.01}
    axis = plots.width_curves([1.0, 2.0], {"any": curves}, best=0.978).axes[0]
    best, plain, _ = axis.lines
    assert best.get_ydata()[0] == pytest.approx(97.8)
    np.testing.assert_allclose(plain.get_xydata(), [[1, 91], [2, 96]])


def test_pictures_repeat_byte_for_byte_and_name_no_version(sample):
    X, y, model = sample
    panels = {"any": (np.ones(len(X)), model)}
    first, second = (show.png(plots.weighted_samples(X, y, panels, MIXTURE), 50) for _ in range(2))
    assert first == second
    assert b"atplotlib" not in first


def test_palette_makes_pictures_smaller_without_changing_their_size(sample):
    X, y, model = sample
    figure = plots.weighted_samples(X, y, {"any": (np.ones(len(X)), model)}, MIXTURE)
    full, small = show.png(figure, 80), show.png(figure, 80, colors=64)
    assert len(small) < 0.8 * len(full)
    assert Image.open(io.BytesIO(small)).size == Image.open(io.BytesIO(full)).size


# --- the slider ------------------------------------------------------------------------------


def a_slider():
    alts = ["dots, first", 'dots & "second"', "dots, third"]
    pictures = [_dot(color) for color in ("red", "green", "blue")]
    return slider(
        pictures, ["one", "two </script>", "three"], alts, name="s", label="Iteration", start=1
    )


def _dot(color):
    buffer = io.BytesIO()
    Image.new("RGB", (4, 4), color).save(buffer, format="png")
    return buffer.getvalue()


def test_slider_is_labelled_and_described():
    found = {}

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attrs):
            found.setdefault(tag, []).append(dict(attrs))

    text = a_slider()
    Reader().feed(text)
    (label,), (control,), (image,) = found["label"], found["input"], found["img"]
    assert label["for"] == control["id"]
    assert (control["min"], control["max"], control["value"]) == ("0", "2", "1")
    assert image["alt"] == 'dots & "second"'
    assert "http" not in text
    assert text.count("</script>") == 1  # the one in a text is written so that it ends nothing


def test_slider_refuses_missing_texts():
    with pytest.raises(ValueError, match="shorter"):
        slider([b"a"], [], ["x"], name="s", label="l", start=0)


@pytest.mark.browser
def test_slider_moves_in_a_browser(tmp_path, chromium):
    if chromium is None:
        pytest.skip("no Chromium on this machine: install the package chromium")
    (tmp_path / "page.html").write_text(f"<!doctype html>{a_slider()}", encoding="utf-8")
    page = chromium.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    page.get_by_label("Iteration").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("output").inner_text() == "three"
    assert page.locator("img").get_attribute("alt") == "dots, third"
    assert page.get_by_label("Iteration").get_attribute("aria-valuetext") == "three"
    assert page.evaluate("document.querySelector('img').naturalWidth") == 4
    page.close()
