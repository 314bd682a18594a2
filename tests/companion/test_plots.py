"""Figures show the numbers they are given, and the slider works without any help from outside."""

import io
import shutil
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from companion.figures import synthetic as plots
from companion.notebook_kit import display as show
from companion.notebook_kit.display import slider
from matplotlib.collections import PathCollection
from matplotlib.contour import ContourSet
from PIL import Image
from scipy import stats
from sklearn.naive_bayes import GaussianNB

from ddr.mixture import FourClusters

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


def test_iteration_curves_mark_the_kept_iteration_and_the_true_ratios():
    history = [
        {"mutual_information": m, "effective_sample_size": 9.0, "prior_ratio": np.array([1.1, 0.9])}
        for m in (0.1, 0.3, 0.2)
    ]
    figure = plots.iteration_curves(history, np.array([1.2, 0.8]), kept=1)
    assert list(figure.axes[0].lines[0].get_ydata()) == [0.1, 0.3, 0.2]
    assert all(axis.lines[-1].get_xdata()[0] == 1 for axis in figure.axes)
    levels = {line.get_ydata()[0] for line in figure.axes[2].lines}
    assert {1.2, 0.8} <= levels


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
    curve = {
        "information": np.array([0.1, 0.6, 0.2]),
        "accuracy": np.ones(3),
        "density": np.ones(3),
    }
    axis = plots.boundary_information(np.array([1.0, 2.0, 3.0]), {"one": curve}).axes[0]
    assert axis.lines[-1].get_xdata()[0] == 2.0


def test_truth_and_estimate_share_their_colours():
    def tall(X):
        return np.full(len(X), 4.0) + X[:, 0] / 10

    def low(X):
        return np.full(len(X), 1.0) + X[:, 0] / 10

    figure = plots.ratio_surfaces({"one": (tall, low, np.zeros((1, 2)))}, step=0.5)
    first, second = (
        next(c for c in axis.collections if isinstance(c, ContourSet)) for axis in figure.axes[:2]
    )
    np.testing.assert_array_equal(first.levels, second.levels)


def test_shift_overview_names_its_panels():
    titles = [axis.get_title() for axis in plots.shift_overview(MIXTURE).axes[:3]]
    assert titles == ["training density", "test density", "change of P(class 1 | x)"]


def comparison(mean=0.95):
    rows = [
        {
            "method": method,
            "case": case,
            "paper_mean": 0.96,
            "paper_sd": 0.01,
            "mean": m,
            "sd": 0.02,
            "n": 4,
        }
        for method, case, m in (
            ("uLSIF", "100", mean),
            ("uLSIF", "200", mean),
            ("DDR", "100", mean),
            ("DDR", "200", np.nan),
        )
    ]
    return pd.DataFrame(rows)


def test_accuracy_panels_leave_out_what_was_not_run():
    figure = plots.accuracy_by_size(comparison())
    counts = [len(axis.containers[1].lines[0].get_xdata()) for axis in figure.axes]
    assert counts == [2, 1]
    bars = figure.axes[0].containers[1].lines[2][0].get_segments()
    np.testing.assert_allclose(np.ptp(bars[0][:, 1]), 2 * 1.96 * 0.02 / np.sqrt(4))


def test_accuracy_figure_says_when_there_is_nothing_to_compare():
    figure = plots.accuracy_by_size(comparison(np.nan))
    assert figure.axes[0].texts[0].get_text() == "no case that the paper prints was run"


def test_gains_show_students_interval():
    runs = np.array([0.5, 1.5, 0.0, 1.0])
    axis = plots.gains({"over uLSIF": {"100": runs}}).axes[0]
    low, high = axis.containers[0].lines[2][0].get_segments()[0][:, 1]
    expected = stats.t.interval(0.95, 3, runs.mean(), stats.sem(runs))
    np.testing.assert_allclose((low, high), expected)


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


def a_slider(**changes):
    options = {"name": "s", "label": "Iteration", "start": 1} | changes
    alts = ["dots, first", 'dots & "second"', "dots, third"]
    pictures = [_dot(color) for color in ("red", "green", "blue")]
    return slider(pictures, ["one", "two </script>", "three"], alts, **options)


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


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"start": 3}, "start must lie in 0..2, got 3"), ({"start": -1}, "start must lie")],
)
def test_slider_refuses_a_start_outside(changes, message):
    with pytest.raises(ValueError, match=message):
        a_slider(**changes)


def test_slider_refuses_missing_texts():
    with pytest.raises(ValueError, match="same positive length, got 1, 0 and 1"):
        slider([b"a"], [], ["x"], name="s", label="l")


@pytest.mark.browser
def test_slider_moves_in_a_browser(tmp_path):
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("no Chromium on this machine: install the package chromium")
    from playwright.sync_api import sync_playwright

    (tmp_path / "page.html").write_text(f"<!doctype html>{a_slider()}", encoding="utf-8")
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
        page = browser.new_page()
        page.goto((tmp_path / "page.html").as_uri())
        page.get_by_label("Iteration").focus()
        page.keyboard.press("ArrowRight")
        assert page.locator("output").inner_text() == "three"
        assert page.locator("img").get_attribute("alt") == "dots, third"
        assert page.get_by_label("Iteration").get_attribute("aria-valuetext") == "three"
        assert page.evaluate("document.querySelector('img').naturalWidth") == 4
        browser.close()
