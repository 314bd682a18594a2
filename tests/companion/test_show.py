"""What notebooks display, and which runs they show."""

import pandas as pd
import pytest
from companion.notebook_kit import display as show
from companion.runs.experiments import Run
from companion.runs.protocols import changed, load_protocol
from companion.runs.reproduce import compute, store_of
from companion.runs.shown_runs import recomputed, runs_to_show, setting_of, with_cases

METHODS = ["Unweighted", "uLSIF", "DDR-uLSIF"]


@pytest.fixture(scope="module")
def protocol():
    return changed(load_protocol("synthetic"), methods=METHODS, problem={"n_test": 200})


@pytest.fixture(scope="module")
def book(tmp_path_factory, protocol):
    """A book whose store has two runs of one case."""
    folder = tmp_path_factory.mktemp("book")
    compute(protocol, folder / "results", runs=2, cases=["100"], progress=False)
    return folder


def show_runs(protocol, runs, cases, book, tmp_path):
    return runs_to_show(
        protocol, runs, cases, published=book / "results", scratch=tmp_path, progress=False
    )


def test_stored_runs_are_read_and_nothing_is_computed(protocol, book, tmp_path):
    shown = show_runs(protocol, 2, ["100"], book, tmp_path)
    pd.testing.assert_frame_equal(shown.rows, store_of(protocol, book / "results").rows())
    assert str(shown) == "2 runs from the store, 0 computed for this page"
    assert list(tmp_path.iterdir()) == []


def test_only_missing_runs_are_computed(protocol, book, tmp_path):
    before = (book / "results" / "synthetic-matched.csv").read_bytes()
    shown = show_runs(protocol, 3, ["200", "100"], book, tmp_path)
    assert (shown.stored, shown.computed) == (2, 4)
    keys = list(dict.fromkeys(zip(shown.rows["case"], shown.rows["seed"], strict=True)))
    assert keys == [(case, seed) for case in ("200", "100") for seed in range(3)]
    expected = Run(protocol)("200", 1)
    found = shown.rows[(shown.rows["case"] == "200") & (shown.rows["seed"] == 1)]
    assert found["accuracy"].tolist() == [row["accuracy"] for row in expected]
    assert (book / "results" / "synthetic-matched.csv").read_bytes() == before


def test_other_parameters_are_computed_in_silence(protocol, book, tmp_path, capfd, caplog):
    other = changed(protocol, seed=5)
    shown = show_runs(other, 1, ["100"], book, tmp_path)
    assert (shown.stored, shown.computed) == (0, 1)
    assert caplog.records == []
    assert capfd.readouterr().err == ""
    again = show_runs(other, 1, ["100"], book, tmp_path)
    pd.testing.assert_frame_equal(again.rows, shown.rows)  # taken up again, seconds included


def test_new_cases_leave_the_seeds_of_the_old_ones(protocol):
    wider = with_cases(protocol, ["1000", "150"])
    assert wider["cases"] == [*protocol["cases"], "150"]
    assert (
        setting_of(wider, "100", 0)[0].X_train[0, 0]
        == (setting_of(protocol, "100", 0)[0].X_train[0, 0])
    )


def test_setting_is_that_of_the_run(protocol):
    from ddr import DDRClassifier

    problem, bench = setting_of(protocol, "100", 1)
    model = DDRClassifier(bench.learner, bench.ratio("uLSIF"), **protocol["ddr"])
    model.fit(problem.X_train, problem.y_train, problem.X_test)
    (row,) = [row for row in Run(protocol)("100", 1) if row["method"] == "DDR-uLSIF"]
    assert model.score(problem.X_test, problem.y_test) == row["accuracy"]


def test_recomputed_runs_agree_with_the_store(protocol, book, monkeypatch):
    monkeypatch.setattr("companion.runs.reproduce.BOOK", book)
    text = recomputed(protocol, 2, ["100"])
    assert text.startswith("6 of 6 accuracies computed again agree within 0")
    assert text.endswith("agree within 5 % in 6 of 6")
    assert "none was asked for" in recomputed(protocol, 0, ["100"])
    assert "no stored run" in recomputed(protocol, 1, ["200"])
    assert "no stored run" in recomputed(changed(protocol, seed=5), 1, ["100"])


def test_a_store_that_lies_is_found_out(protocol, monkeypatch):
    from companion.runs import shown_runs

    def recompute(protocol, runs, cases):
        row = {"case": "100", "seed": 0, "method": "uLSIF", "stored": 0.96, "computed": 0.95}
        return pd.DataFrame([row | {"difference": -0.01}])

    monkeypatch.setattr(shown_runs, "recompute", recompute)
    expected = r"1 of 1 accuracies differ .* more than 0.0025; .* -0.0100 \(100, uLSIF, run 0\)"
    with pytest.raises(AssertionError, match=expected):
        recomputed(load_protocol("synthetic"), 1, ["100"], tolerance=0.0025)
    assert "1 of 1" in recomputed(load_protocol("synthetic"), 1, ["100"], tolerance=0.02)


def test_weights_that_differ_behind_equal_accuracies_are_counted(monkeypatch):
    from companion.runs import shown_runs

    row = {"case": "100", "seed": 0, "method": "uLSIF", "stored": 0.9, "computed": 0.9}
    both = pd.DataFrame([row | {"difference": 0.0, "diagnostics": d} for d in (0.0, 0.5)])
    monkeypatch.setattr(shown_runs, "recompute", lambda *_: both)
    text = recomputed(load_protocol("synthetic"), 1, ["100"])
    assert text.startswith("2 of 2 accuracies")
    assert text.endswith("agree within 5 % in 1 of 2")


# --- tables ----------------------------------------------------------------------------------


def test_table_can_be_reached_by_keyboard_and_is_named():
    text = show.table(pd.DataFrame({"a": ["x"], "b": ["<1"]}), 'All "of" it').data
    assert (
        '<div tabindex="0" role="region" aria-label="All &quot;of&quot; it" class="ddr-right">'
        in text
    )
    assert "&lt;1" in text


def test_numbers_are_printed_by_column_and_counts_as_they_are():
    frame = pd.DataFrame({"n": [100], "p": [0.000012], "gain": [-1.234], "other": [0.5]})
    frame["none"] = float("nan")
    text = show.table(frame, "x", {"p": ".2g", "gain": "+.1f"}, align="left").data
    cells = [">100<", ">1.2e-05<", ">−1.2<", ">0.5000<", ">–<"]
    assert all(cell in text for cell in cells)
    assert "text-align: left" in text
    with pytest.raises(ValueError, match="align must be 'right' or 'left', got 'top'"):
        show.table(frame, "x", align="top")


def test_captions_count_the_runs_that_are_there():
    rows = pd.DataFrame({"case": ["a", "a", "a", "b"], "seed": [0, 0, 1, 0]})
    assert show.run_count(rows) == "1 to 2 runs"
    assert show.run_count(rows[rows["case"] == "a"]) == "2 runs"
    assert show.run_count(rows[rows["case"] == "b"]) == "1 run"


def test_long_table_scrolls_on_request():
    frame = pd.DataFrame({"a": ["x"], "b": ["y"]})
    assert "max-height: 30em; overflow: auto" in show.table(frame, "x", height=30).data
    assert "max-height" not in show.table(frame, "x").data


@pytest.mark.parametrize(
    ("cell", "numeric"),
    [
        ("**0.9533 ± 0.0143** (R3)", True),
        ("2.7e-05", True),
        ("+0.0012 to −0.0034", True),
        ("3 of 10", True),
        ("97 %", True),
        ("100", True),
        ("–", False),
        ("R3: value agrees", False),
        ("one run: no interval", False),
        ("10 runs of a case", False),
    ],
)
def test_only_numbers_stay_on_one_line(cell, numeric):
    text = show.table(pd.DataFrame({"a": ["x"], "b": [cell]}), "x").data
    assert ("nowrap" in text) == numeric


def test_claims_at_a_glance_have_one_row_and_with_evidence_one_for_each_protocol():
    empty = pd.DataFrame(columns=["experiment", "protocol", "case", "method", "seed", "accuracy"])
    protocols = ["matched", "tuned"]
    glance = show.claims_table(["C1"], empty, protocols).data
    assert glance.count("<tr>") == 2
    assert glance.count("<strong>not tested</strong>") == 2
    detailed = show.claims_table(["C1"], empty, protocols, evidence=True).data
    assert detailed.count("<tr>") == 3
    assert "0 of 6 synthetic cases have runs of DDR-uLSIF and uLSIF under tuned" in detailed


def test_claims_table_shows_the_asked_claims_only():
    empty = pd.DataFrame(columns=["experiment", "protocol", "case", "method", "seed", "accuracy"])
    text = show.claims_table(["C1", "C5"], empty, protocols=["matched"]).data
    assert text.count("<tr>") == 2  # the header and C1; C5 is computed live
    assert "<strong>not tested</strong>" in text
    with pytest.raises(ValueError, match=r"ids must name claims, got \['C99'\]"):
        show.claims_table(["C99"], empty, protocols=["matched"])


def test_deviations_table_refuses_unknown_ids():
    with pytest.raises(ValueError, match=r"ids must name deviations, got \['D99'\]"):
        show.deviations_table(["D99"])


def test_picture_is_a_png():
    from companion.figures.synthetic import new_figure

    figure, _ = new_figure(2, 1)
    image = show.picture(figure, dpi=50)
    assert image.data.startswith(b"\x89PNG")
