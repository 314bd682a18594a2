"""What the pages on biased sampling and on the digits show, against independent computations."""

import numpy as np
import pandas as pd
import pytest
from companion.evidence import pictures
from companion.evidence.gains import paired
from companion.evidence.plots import forest
from companion.evidence.readings import by_protocol, with_and_without
from companion.paths import PROTOCOLS
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


# --- biased sampling -------------------------------------------------------------------------


# --- digits ----------------------------------------------------------------------------------


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
