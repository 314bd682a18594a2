"""The pages of results, from made-up runs whose numbers are known."""

import pandas as pd
import pytest
from companion.evidence import claims, front, multiverse, scoreboard
from companion.evidence import printed as paper
from companion.evidence.multiverse import curve_inference, joint_gains, protocol_of
from companion.evidence.tables import points
from companion.evidence.verdicts import judge_all
from companion.paths import EXPERIMENTS
from companion.runs.multiverse import read, specifications, universes
from companion.runs.protocols import load_protocol
from companion.runs.results import published_results
from paper_runs import complete_runs, swapped, table_of


@pytest.fixture(scope="module")
def printed_runs():
    return complete_runs()


@pytest.fixture(scope="module")
def judged(printed_runs):
    return judge_all(printed_runs)


def matched(runs):
    """Without the published universes."""
    return runs[runs["protocol"] == "matched"]


def made_up(runs_of_protocols, runs):
    """Synthetic runs in which DDR-uLSIF gains, case by case, as many points as told."""
    rows = [
        ("synthetic", protocol, case, method, seed, 0.9 + 0.001 * seed + more)
        for protocol, gains in runs_of_protocols.items()
        for case, gain in zip(load_protocol("synthetic")["cases"], gains, strict=False)
        for seed in range(runs)
        for method, more in {"Unweighted": 0, "uLSIF": 0.01, "DDR-uLSIF": 0.01 + gain / 100}.items()
    ]
    return table_of(rows)


def test_runs_like_the_papers_reproduce_everywhere(printed_runs, judged):
    rows = scoreboard.verdicts_table(judged).data.splitlines()[6:-1]
    assert [row.split(" | ")[2] for row in rows] == ["reproduces"] * 6
    for cell in front.verdicts(judged).to_numpy()[:, 1:].ravel():
        assert cell.startswith("*reproduces*: 100 % of the printed gain")
    assert front.badges(judged).data.count("[reproduces]{.ddr-word .ddr-good}") == 6
    answers = front.answers(printed_runs, judged)
    shares = "100 % in Table 4, where no choice had looked at the two columns, and 100 % in"
    assert shares in answers["What reproduced?"]
    assert "0 (matched) and 0 (tuned) differ" in answers["What did not?"]


def test_doctored_runs_change_every_headline(printed_runs, judged):
    doctored = swapped(printed_runs)
    again = judge_all(doctored)
    assert not any(verdict.word == "reproduces" for verdict in again.values())
    assert scoreboard.headline(again).data != scoreboard.headline(judged).data
    assert scoreboard.gains_sentence(doctored).data != scoreboard.gains_sentence(printed_runs).data
    before, after = front.answers(printed_runs, judged), front.answers(doctored, again)
    for question in ("What reproduced?", "What did not?"):
        assert before[question] != after[question]


def test_every_printed_value_has_its_row(printed_runs, judged):
    text = scoreboard.section(printed_runs, judged, "cross", "matched").data
    rows = [line for line in text.splitlines() if line.split(" | ")[2:3] == ["agrees"]]
    assert len(rows) == len(paper.values("cross"))
    assert text.startswith("- **Reproduces.** 30 runs of each case.\n- 60 values: 60 agree (")
    assert all(count in text for count in ("(paired)", "(Welch)", "(Holm)"))


def test_page_shows_the_verdict_on_a_claim_with_its_evidence(printed_runs):
    judged = claims.evaluate_claims(printed_runs, live=False, ids=["C1"])
    name = "DDR beats plain weights on the synthetic data"
    row = f"| {{ref}}`{name} <claim-c1>` | **holds**: 6 of 6 (claimed 6 of 6) | **holds**: 6 of 6"
    assert row in claims.overview(judged, "paper", "name").data
    details = claims.details(judged, "paper").data
    assert "- **We find** (tuned): *holds*. found 6 of 6, claimed 6 of 6, an exact" in details


def test_the_multiverse_is_read_from_its_runs():
    gains = {"baseline": 2.0, "hard-prior": 2.0, "width-cv": -1.0}
    told = {protocol_of(name): (gain, gain + 0.1, gain + 0.2) for name, gain in gains.items()}
    runs = made_up(told, 10)
    found, moved = (
        f(runs, "synthetic") for f in (multiverse.universe_gains, multiverse.gain_changes)
    )
    assert moved["change"].tolist() == pytest.approx([0.0, -3.0])
    text = multiverse.reading(found, moved, "synthetic").data
    width = "*the ratio's width from a wide grid*"
    assert f"positive in 2 of 3 universes, from −0.90 points ({width}) to +2.10" in text
    assert "1 of the 2 changes keep its sign" in text
    assert "1 of them after Holm's correction for their number; the largest, in points: " in text


def test_gains_are_means_over_cases():
    found = multiverse.universe_gains(made_up({"matched": [4.0, 2.0]}, 3), "synthetic")
    assert list(found.index) == ["baseline"]
    # sd of (4, 2) is sqrt 2; t(.975, 1) = 12.706; over sqrt 2.
    expected = pytest.approx([3.0, 3.0 + 12.7062, 2], abs=1e-3)
    assert found.loc["baseline", ["gain", "high", "won"]].tolist() == expected


def joint(gain):
    """Gains of the joint specifications; they may depend on their number and on the case."""
    names = enumerate(specifications("synthetic"))
    told = {name: [gain(number, place) for place in range(6)] for number, name in names}
    return joint_gains(made_up(told, 2), "synthetic")


def test_a_specification_curve_tells_a_gain_from_none():
    clear = joint(lambda number, place: 1 + 0.1 * place)
    assert clear.shape == (64, 6)
    found = curve_inference(clear)
    assert found.at["median gain", "found"] == pytest.approx(1.25)
    assert found.at["share significant", "found"] == 1
    # of the 64 ways to turn signs only those that turn nothing and everything are as extreme
    assert found["p"].tolist() == pytest.approx([2 / 64] * 3)
    lost = curve_inference(-clear)
    assert lost["found"].tolist() == pytest.approx((-found["found"]).tolist())
    assert lost["p"].tolist() == pytest.approx(found["p"].tolist())
    none = joint(lambda number, place: (-1) ** place)
    assert (curve_inference(none)["p"] > 0.4).all()
    text = multiverse.joint_reading(clear, "synthetic").data
    assert text.startswith("64 specifications drawn at random")
    assert "the median is +1.25 (p = 0.031)" in text
    assert "positive in 0 of them" in multiverse.joint_reading(-clear, "synthetic").data


def changed_runs(runs, experiment, universe, method, shift, seeds=30):
    """The same runs under another choice that moves one method by `shift`."""
    part = matched(runs[(runs["experiment"] == experiment) & (runs["seed"] < seeds)]).copy()
    part.loc[part["method"] == method, "accuracy"] += shift
    return part.assign(protocol=f"universe:{universe}")


def test_every_deviation_is_complete_and_named_once():
    entries, names = multiverse.deviations(), {e: set(universes(e)) for e in EXPERIMENTS}
    assert len({e["title"] for e in entries}) == len(entries) >= 12
    for number, entry in enumerate(entries, start=1):
        assert entry["id"] == f"D{number}"
        assert all(entry[key].endswith(".") for key in ("open", "ours", "why")), entry["id"]
        [(kind, effect)] = entry["effect"].items()
        if kind == "claim":
            assert effect in {claim["id"] for claim in claims.claims()}, entry["id"]
        elif kind == "universes":
            assert all(universe in names[e] for universe in effect for e in effect[universe])
        else:
            assert kind in ("tests", "not_measured"), entry["id"]
    words = [multiverse.universe_name(universe) for universe in read()["universes"]]
    assert len(set(words)) == len(words)
    assert all(" " in name for name in words)


def test_known_effect_is_found(printed_runs):
    # The literal normalisation costs DDR three points and leaves uLSIF alone.
    other = changed_runs(printed_runs, "biased", "literal-normalization", "DDR-uLSIF", -0.03)
    [row] = multiverse.deviation_changes(pd.concat([matched(printed_runs), other])).itertuples()
    assert (row.id, row.universe, row.experiment) == ("D1", "literal-normalization", "biased")
    assert [row.change, row.accuracy_change, row.shrunk] == pytest.approx([-3, -3, -3])
    assert (row.cases, row.p, row.p_holm) == (10, 0, 0)


def test_a_change_is_that_of_the_runs_which_both_have(printed_runs):
    other = changed_runs(printed_runs, "cross", "small-c", "uLSIF", 0.02, seeds=10)
    other = other[other["case"].str.endswith("0 vs 1")]
    found = multiverse.gain_changes(pd.concat([matched(printed_runs), other]), "cross").loc[
        "small-c"
    ]
    assert (found["change"], found["cases"]) == (pytest.approx(-2), 2)


def test_the_table_has_a_row_for_every_choice_and_table():
    found = multiverse.deviation_changes(published_results())
    entries = [e["effect"].get("universes", {}) for e in multiverse.deviations()]
    assert len(found) == sum(len(tables) for e in entries for tables in e.values())
    shown = multiverse.deviations_table(found).data
    assert shown.count("<deviation-") == len(found)
    largest = found.loc[found["change"].abs().idxmax()]
    assert f"{points(largest['change'])} " in shown.splitlines()[6]  # the largest comes first
    heights = [len(axis.get_yticks()) for axis in multiverse.deviations_figure(found).axes]
    assert heights == [(found["experiment"] == e).sum() for e in EXPERIMENTS]
