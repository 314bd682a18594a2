"""The pages of results: complete, partial and absent runs, each said plainly."""

import re

import numpy as np
import pandas as pd
import pytest
from companion.cli import cli
from companion.evidence import claims
from companion.evidence import printed as paper
from companion.evidence.universes import universe_gains as gains
from companion.pages import landing, multiverse, protocols, scoreboard, stored
from companion.runs.multiverse import universes
from companion.runs.protocols import load_protocol
from companion.runs.results import published_results
from paper_runs import runs_like_the_paper, swapped

PAGES = (landing, scoreboard, protocols, multiverse)


@pytest.fixture(autouse=True)
def without_live_computations(monkeypatch):
    judge = claims.evaluate_claims
    monkeypatch.setattr(landing, "evaluate_claims", lambda results: judge(results, live=False))


@pytest.fixture(scope="module")
def nothing():
    return pd.DataFrame(columns=["experiment", "protocol", "case", "method", "seed", "accuracy"])


@pytest.fixture(scope="module")
def printed_runs():
    runs = [runs_like_the_paper(experiment) for experiment in paper.EXPERIMENTS]
    return pd.concat(runs, ignore_index=True).assign(seconds=1.0)


def made_up_universes(shifts, runs=10):
    """Synthetic universes in which DDR-uLSIF gains as many points as told, case by case."""
    rows = [
        ("synthetic", f"universe:{name}", case, method, seed, 0.9 + 0.001 * seed + more)
        for name, gain in shifts.items()
        for number, case in enumerate(("100", "200", "300"))
        for seed in range(runs)
        for method, more in (
            ("Unweighted", 0.0),
            ("uLSIF", 0.01),
            ("DDR-uLSIF", 0.01 + (gain + 0.1 * number) / 100),
        )
    ]
    columns = ["experiment", "protocol", "case", "method", "seed", "accuracy"]
    return pd.DataFrame(rows, columns=columns)


# What is stored


def test_each_command_that_a_page_prints_is_one(nothing):
    for experiment in paper.EXPERIMENTS:
        for protocol in stored.PROTOCOLS:
            computing, publishing = stored.command(experiment, protocol).split(" && ")
            words = computing.split()
            assert words[:2] == ["ddr-book", "reproduce"]
            given = cli.commands["reproduce"].make_context("reproduce", words[2:]).params
            assert (given["experiments"], given["protocol"]) == ((experiment,), protocol)
            assert publishing.split()[1] in cli.commands


def test_missing_runs_are_counted(printed_runs):
    some = printed_runs.query("experiment == 'synthetic' and case == '100' and seed < 3")
    assert stored.stored_runs(some, "synthetic", "matched") == (3, 180)
    assert stored.missing_sentence(some, "synthetic", "matched").startswith("Only 3 of 180 runs")
    assert stored.missing_sentence(some, "cross", "matched").startswith("Not computed yet: run `")
    assert stored.missing_sentence(printed_runs, "synthetic", "matched") == ""


# Every page, whatever is stored


def written(page, folder, results):
    paths = page.write(folder, results)
    assert all(path.exists() for path in paths)
    return "\n".join(p.read_text(encoding="utf-8") for p in paths if p.suffix == ".md")


@pytest.mark.parametrize("page", PAGES)
def test_pages_without_any_run(page, nothing, tmp_path):
    text = written(page, tmp_path, nothing)
    assert "nan" not in text
    if page is not protocols:
        assert re.search(r"[Nn]ot computed yet: run `python -", text)


@pytest.mark.parametrize("page", PAGES)
def test_pages_of_the_published_runs(page, tmp_path):
    text = written(page, tmp_path, published_results())
    assert not re.search(r"\bnan\b|None", text)
    for figure in re.findall(r"{figure} _generated/(\S+)", text):
        assert (tmp_path / figure).stat().st_size > 5_000
    assert len(re.findall(r":alt: \S+", text)) == text.count("{figure}")


@pytest.mark.parametrize("page", PAGES)
def test_each_fragment_is_included_in_the_book(page, nothing, tmp_path, root):
    book = "".join(path.read_text(encoding="utf-8") for path in (root / "book").glob("*.md"))
    for path in page.write(tmp_path, nothing):
        if path.suffix == ".md":
            assert f"```{{include}} _generated/{path.name}\n" in book


# The first page


def test_runs_like_the_papers_agree_everywhere(printed_runs):
    table = landing.headline_table(printed_runs).query("Protocol == 'matched'")
    assert table["R3"].astype(int).sum() == len(paper.values())
    assert table["Gain here"].tolist() == table["Gain in print"].tolist()
    assert table["Above"].tolist() == [
        "6\u00a0of\u00a06",
        "9\u00a0of\u00a010",
        "18\u00a0of\u00a020",
    ]
    assert landing.reading(printed_runs).startswith(
        "Under the *matched* protocol, 124 of the 124 values that were run agree"
    )


def test_a_table_reproduces_by_its_share_of_near_values(printed_runs):
    table = landing.headline_table(printed_runs).query("Protocol == 'matched'")
    assert table["Reproduces"].tolist() == ["yes", "yes", "yes"]
    off = printed_runs.assign(accuracy=printed_runs["accuracy"] / 2)
    assert set(landing.headline_table(off).query("Protocol == 'matched'")["Reproduces"]) == {"no"}
    # Two of four columns moved far, those that keep the order: half of the values stay R3.
    moved = printed_runs["method"].isin(["Unweighted", "uLSIF"])
    half = printed_runs.assign(accuracy=printed_runs["accuracy"] - 0.2 * moved)
    assert landing.headline_table(half)["Reproduces"].iloc[0] == "in\u00a0part"


def test_what_was_not_run_is_no_zero(printed_runs):
    table = landing.headline_table(printed_runs).query("Protocol == 'tuned'")
    assert set(table["R0"]) == {"–"}
    assert table["Not run"].astype(int).sum() == len(paper.values())


def test_columns_of_missing_values_go_when_nothing_is_missing(printed_runs):
    both = pd.concat([printed_runs, printed_runs.assign(protocol="tuned")])
    assert "Not run" not in landing.headline_table(both)
    assert "Not all runs are stored" not in landing.reading(both)


def test_the_protocols_are_contrasted_where_both_have_runs(printed_runs):
    one_case = runs_like_the_paper("synthetic", protocol="tuned").query("case == '100'")
    text = landing.reading(pd.concat([printed_runs, one_case]))
    assert "Over the 1 case run under both, the mean gain is +1.30 points matched" in text


def test_gains_are_paired_by_run():
    rows = []
    for seed, (plain, ddr) in enumerate([(0.90, 0.92), (0.80, 0.83), (0.70, 0.71)]):
        for method, accuracy in (("uLSIF", plain), ("DDR-uLSIF", ddr)):
            rows.append(("synthetic", "matched", "100", method, seed, accuracy))
    runs = pd.DataFrame(
        rows, columns=["experiment", "protocol", "case", "method", "seed", "accuracy"]
    )
    found = landing.case_gains(runs, "matched").iloc[0]
    # Differences 2, 3, 1: mean 2, sd 1, and Student's t for two degrees of freedom is 4.3027.
    assert found["gain"] == pytest.approx(2.0)
    assert found["high"] - found["gain"] == pytest.approx(4.302653 / np.sqrt(3), rel=1e-6)
    assert (found["printed"], found["n"]) == (1.30, 3)


def test_doctored_runs_change_the_first_page(printed_runs):
    doctored = swapped(printed_runs)
    assert landing.reading(doctored) != landing.reading(printed_runs)
    matrix = landing.claims_matrix(claims.evaluate_claims(doctored, live=False))
    assert matrix.set_index("Claim").at["C1", "matched"] == "○\u00a0fails"
    right = landing.claims_matrix(claims.evaluate_claims(printed_runs, live=False))
    assert right.set_index("Claim").at["C1", "matched"] == "●\u00a0holds"


def test_every_claim_is_in_the_matrix(nothing):
    matrix = landing.claims_matrix(claims.evaluate_claims(nothing, live=False))
    assert matrix["Claim"].tolist() == [claim["id"] for claim in claims.claims()]
    assert matrix["matched"].isin(["·\u00a0not\u00a0tested", "–"]).all()


@pytest.mark.parametrize("columns", [1, 2])
def test_the_figure_has_a_row_for_each_case(printed_runs, columns):
    figure = landing.gains_figure(printed_runs, columns)
    assert sorted(len(axis.get_yticks()) for axis in figure.axes) == [6, 10, 20]
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == ["paper", "ours, matched"]


def test_the_figure_survives_a_single_run(printed_runs):
    single = printed_runs.query("seed == 0 and case == '100'")
    figure = landing.gains_figure(single)
    assert len(figure.axes[0].containers) == 1
    assert "0 of 1 intervals" in landing.figure_alt(single)


# The scoreboard


def test_every_printed_value_has_its_row(printed_runs):
    for experiment in paper.EXPERIMENTS:
        text = scoreboard.protocol_text(printed_runs, experiment, "matched")
        rows = [line for line in text.splitlines() if line.split(" | ")[2:3] == ["R3"]]
        assert len(rows) == len(paper.values(experiment))
        assert (
            f"- 30 runs of each case; {len(rows)} values: {len(rows)} R3, 0 R2, 0 R1, 0 R0." in text
        )
        for count in ("(paired)", "(Welch)", "(Holm)"):
            assert count in text


def test_numbers_stay_on_one_line(printed_runs):
    text = scoreboard.protocol_text(printed_runs, "synthetic", "matched")
    assert "**0.9717\u00a0±\u00a00.0060**" in text
    assert " ± " not in text


def test_further_methods_are_shown_apart(printed_runs):
    assert scoreboard.further_methods(printed_runs, "biased", "matched").empty
    kliep = printed_runs.query("experiment == 'biased' and case == 'Diabete' and method == 'uLSIF'")
    both = pd.concat([printed_runs, kliep.assign(method="KLIEP")])
    table = scoreboard.further_methods(both, "biased", "matched")  # the printed values of uLSIF
    assert table.to_dict("records") == [{"Case": "Diabete", "KLIEP": "0.7346 ± 0.0273"}]


# The multiverse


def test_the_multiverse_is_read_from_its_runs():
    runs = made_up_universes({"baseline": 2.0, "hard-prior": 2.0, "width-cv": -1.0})
    found, moved = gains(runs, "synthetic"), multiverse.changes(runs, "synthetic")
    assert moved["change"].tolist() == pytest.approx([0.0, -3.0])
    text = multiverse.reading(found, moved)
    assert "positive in 2 of 3 universes, from −0.90 points (*width cv*) to +2.10" in text
    assert "1 of the 2 changes keep its sign" in text
    assert "The largest change is that of *width cv*: −3.00 points." in text
    assert "Changes whose interval excludes zero: *width cv* (−3.00)." in text


def test_a_universe_without_its_baseline_says_so():
    runs = made_up_universes({"hard-prior": 2.0})
    assert multiverse.changes(runs, "synthetic").empty
    assert "The baseline itself is not computed yet." in multiverse.section_text(runs, "synthetic")


def test_unfinished_universes_are_counted():
    total = len(universes("synthetic"))
    runs = made_up_universes({"baseline": 2.0, "hard-prior": 1.0})
    text = multiverse.section_text(runs, "synthetic")
    assert f"Complete in 2 of {total} universes; for the rest, run" in text
    few = made_up_universes({"baseline": 2.0}, runs=3)
    text = multiverse.section_text(few, "synthetic")
    assert f"Complete in 0 of {total} universes; for the rest, run" in text
    every = made_up_universes(dict.fromkeys(universes("synthetic"), 1.0))
    assert "ddr multiverse" not in multiverse.section_text(every, "synthetic")


def test_the_forest_marks_the_baseline():
    found = gains(made_up_universes({"baseline": 2.0, "hard-prior": 1.0}), "synthetic")
    (axis,) = multiverse.forest(found).axes
    assert [text.get_text() for text in axis.get_yticklabels()] == ["baseline", "hard prior"]
    markers = [container.lines[0].get_marker() for container in axis.containers]
    assert markers == ["D", "o"]


# The protocols


def test_every_setting_is_shown_with_its_meaning():
    for experiment in paper.EXPERIMENTS:
        contents = {p: load_protocol(experiment, p) for p in stored.PROTOCOLS}
        table = protocols.settings_table(contents)
        wanted = {f"`{key}`" for content in contents.values() for key in protocols.flat(content)}
        assert set(table["Setting"]) == wanted
        assert table["Setting"].is_unique
        assert (table["Meaning"].str.len() > 3).all()


def test_equal_settings_are_told_from_changed_ones():
    first = {"problem": {"n_test": 5, "redraw": True}, "ratios": {"uLSIF": {"sigma": 2.0}}}
    second = {"problem": {"n_test": 5, "redraw": False}, "ratios": {"uLSIF": {"lam": [0.1, 1.0]}}}
    table = protocols.settings_table({"a": first, "b": second}).set_index("Setting")
    assert table.loc["`problem.n_test`", ["a", "b"]].tolist() == ["5", "same"]
    assert table.loc["`problem.redraw`", ["a", "b"]].tolist() == ["yes", "no"]
    assert table.loc["`ratios.uLSIF.sigma`", ["a", "b"]].tolist() == ["2", "–"]
    assert table.loc["`ratios.uLSIF.lam`", ["a", "b"]].tolist() == ["–", "0.1, 1"]


def test_a_multiverse_on_fewer_samples_says_what_all_samples_give(printed_runs):
    cross = printed_runs[printed_runs["experiment"] == "cross"]
    means = paper.values("cross").groupby("method")["mean"].mean()
    whole = 100 * (means["DDR-uLSIF"] - means["uLSIF"])
    few = cross[cross["seed"] < multiverse.read()["runs"]]
    runs = pd.concat(
        [cross]
        + [
            few.assign(
                protocol=f"universe:{name}",
                accuracy=few["accuracy"] - cost * (few["method"] == "DDR-uLSIF"),
            )
            for name, cost in (("baseline", 0.01), ("hard-prior", 0.0105))
        ]
    )
    found, moved = multiverse.gains(runs, "cross"), multiverse.changes(runs, "cross")
    sentence = multiverse.size_sentence(runs, "cross", found, moved)
    shown = float(sentence.split("gain ")[1].split(" ")[0].strip("+:."))
    assert shown == pytest.approx(whole, abs=1.0)  # of ten of the thirty runs
    assert "decides more here than any" in sentence
    assert multiverse.size_sentence(runs, "synthetic", found, moved) == ""
