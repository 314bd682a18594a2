"""What the pages on biased sampling and on the digits show, against independent computations."""

import numpy as np
import pandas as pd
import pytest
from companion.evidence import pictures
from companion.evidence.gains import paired
from companion.evidence.plots import accuracies_by_case, bars, forest, largest_changes
from companion.evidence.readings import by_protocol, with_and_without
from companion.paths import PROTOCOLS
from companion.runs.protocols import load_protocol
from companion.runs.results import published_results

CASES = ("Ionosphere", "Diabete")


@pytest.fixture
def runs():
    rng = np.random.default_rng(3)
    rows = [
        (case, seed, method, rng.uniform(0.6, 0.9))
        for case in CASES
        for seed in range(5)
        for method in ("Unweighted", "uLSIF", "DDR-uLSIF")
    ]
    table = pd.DataFrame(rows, columns=["case", "seed", "method", "accuracy"])
    return table.assign(experiment="biased", protocol="matched")


# --- paired differences ----------------------------------------------------------------------


def test_forest_shows_each_gain_in_its_row(runs):
    figure = forest(runs, "biased", "matched", CASES)
    assert [axis.get_title() for axis in figure.axes] == [
        "DDR-uLSIF − uLSIF",
        "DDR-uLSIF − Unweighted",
    ]
    for axis, rival in zip(figure.axes, ("uLSIF", "Unweighted"), strict=True):
        wanted = paired(runs, "biased", rival=rival).set_index("case").loc[list(CASES)]
        drawn = {y: x for x, y in axis.containers[0].lines[0].get_xydata()}
        np.testing.assert_allclose([drawn[0], drawn[1]], wanted["gain"])
        segments = axis.containers[0].lines[2][0].get_segments()
        widths = {part[0, 1]: part[1, 0] - part[0, 0] for part in segments}
        assert widths[0] == pytest.approx(wanted["high"].iloc[0] - wanted["low"].iloc[0])
    labels = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert labels == list(CASES)


def test_bars_have_their_intervals_and_none_without():
    figure = bars({"a": {"one": (1.0, 0.5, 2.0), "two": (-1.0, np.nan, np.nan)}})
    axis = figure.axes[0]
    assert [bar.get_width() for bar in axis.patches] == [1.0, -1.0]
    first, second = axis.containers[1].lines[2][0].get_segments()
    np.testing.assert_allclose(first[:, 0], [0.5, 2.0])
    assert second.size == 0


def test_accuracies_of_a_case_stand_in_its_row():
    paper = pd.Series([90.0, 60.0], index=["USPS to MNIST 0 vs 1", "MNIST to USPS 9 vs 0"])
    axis = accuracies_by_case({"paper": paper, "ours": paper + 5}).axes[0]
    marks = [
        line for line in axis.lines if len(line.get_xdata()) == 2 and line.get_marker() != "None"
    ]
    np.testing.assert_allclose([line.get_xdata() for line in marks], [[90, 60], [95, 65]])
    assert [t.get_text() for t in axis.get_yticklabels()] == ["USPS→MNIST 0v1", "MNIST→USPS 9v0"]


# --- biased sampling -------------------------------------------------------------------------


def test_selection_puts_kept_rows_above_and_left_out_rows_below():
    pool = np.linspace(-2, 2, 40)
    kept = pool > 0.3
    left, right = pictures.selection(pool, kept, pool[kept], pool, 4.0).axes
    curve, above, below = (line.get_xydata() for line in left.lines)
    np.testing.assert_allclose(curve[:, 1], 1 / (1 + np.exp(-4 * curve[:, 0])))
    np.testing.assert_array_equal(above[:, 0], pool[kept])
    np.testing.assert_array_equal(below[:, 0], pool[~kept])
    assert above[:, 1].min() > 1
    assert below[:, 1].max() < 0
    assert [text.get_text() for text in right.get_legend().texts] == ["test rows", "training rows"]


def test_gaps_are_sorted_and_the_taken_one_is_marked():
    axis = pictures.direction_gaps([0.02, -0.05, 0.01], chosen=0).axes[0]
    np.testing.assert_allclose([bar.get_height() for bar in axis.patches], [-5, 1, 2])
    assert [bar.get_hatch() is not None for bar in axis.patches] == [False, False, True]
    assert [text.get_text() for text in axis.get_xticklabels()] == ["2", "3", "1"]
    assert axis.texts[0].xy == (2, pytest.approx(2))


# --- digits ----------------------------------------------------------------------------------


def test_digits_stand_side_by_side_with_their_notes():
    images = np.random.default_rng(0).uniform(-1, 1, (3, 256))
    figure = pictures.digit_rows({"a": images, "b": images[:2]}, {"b": ["1.0", "2.0"]})
    picture = figure.axes[0].images[0].get_array()
    np.testing.assert_allclose(picture[:, 18:34], images[1].reshape(16, 16))
    assert figure.axes[0].get_ylabel() == "a"
    assert [text.get_text() for text in figure.axes[1].texts] == ["1.0", "2.0"]


def test_steps_of_the_preprocessing_show_ten_digits_each():
    rows = pictures.preprocessed_digits()
    assert [np.shape(images) for images in rows.values()] == [(10, 784), *5 * [(10, 256)]]
    assert np.abs(rows["resized, clipped"]).max() <= 1 < np.abs(rows["resized, unclipped"]).max()


# --- tables that both pages share ------------------------------------------------------------


def test_ratio_beside_ddr_with_it(runs):
    table, _ = with_and_without(runs, "biased", "matched", "uLSIF", ["Diabete"])
    accuracy = runs[(runs["case"] == "Diabete") & (runs["method"] == "uLSIF")]["accuracy"]
    assert table["uLSIF"].tolist() == [f"{accuracy.mean():.4f} ± {accuracy.std():.4f}"]


def test_protocols_stand_beside_each_other():
    results = published_results()
    for row, name in zip(by_protocol("biased").to_dict("records"), PROTOCOLS, strict=True):
        runs = results[(results["experiment"] == "biased") & (results["protocol"] == name)]
        wide = runs.pivot(index=["case", "seed"], columns="method", values="accuracy")
        assert (row["Settings"], row["Runs stored"]) == (name, "300 of 300")
        assert row["uLSIF"] == f"{wide['uLSIF'].mean():.4f}"
        gain = 100 * (wide["DDR-uLSIF"] - wide["uLSIF"]).mean()
        assert row["Gain over uLSIF"].startswith(f"{gain:+.2f} ".replace("-", "−"))


def test_the_largest_changes_are_drawn():
    rng = np.random.default_rng(0)
    rows = [
        (case, seed, method, rng.uniform())
        for case in load_protocol("biased")["cases"]
        for seed in range(10)
        for method in ("Unweighted", "uLSIF", "DDR-uLSIF")
    ]
    whole = pd.DataFrame(rows, columns=["case", "seed", "method", "accuracy"])
    whole = whole.assign(experiment="biased", protocol="universe:baseline")
    changed_most = whole.assign(protocol="universe:hard-prior")
    changed_most["accuracy"] *= np.where(changed_most["method"] == "DDR-uLSIF", 1, 0.5)
    same = whole.assign(protocol="universe:stop-max")
    figure = largest_changes("biased", pd.concat([whole, changed_most, same]), count=1)
    names = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert names == ["priors from predicted labels", "the protocol unchanged"]
