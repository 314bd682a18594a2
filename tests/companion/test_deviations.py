"""The deviations file and the look-up of measured effects."""

import pandas as pd
import pytest
from companion.evidence import multiverse
from companion.evidence.claims import claims
from companion.evidence.multiverse import gain_changes, universe_name
from companion.evidence.tables import points
from companion.paths import EXPERIMENTS
from companion.runs.multiverse import read, universes
from companion.runs.results import published_results
from paper_runs import complete_runs, runs_like_the_paper


@pytest.fixture(scope="module")
def printed_runs():
    return pd.concat([runs_like_the_paper(e) for e in EXPERIMENTS], ignore_index=True)


def changed_runs(runs, experiment, universe, method, shift, seeds=30):
    """The same runs under another choice that moves one method by `shift`."""
    part = runs[(runs["experiment"] == experiment) & (runs["seed"] < seeds)].copy()
    part.loc[part["method"] == method, "accuracy"] += shift
    return part.assign(protocol=f"universe:{universe}")


def test_every_deviation_is_complete_and_named_once():
    entries, names = multiverse.deviations(), {e: set(universes(e)) for e in EXPERIMENTS}
    assert len({e["title"] for e in entries}) == len(entries) >= 12
    for number, entry in enumerate(entries, start=1):
        assert set(entry) == {"id", "title", "open", "ours", "why", "effect"}
        assert entry["id"] == f"D{number}"
        assert all(entry[key].endswith(".") for key in ("open", "ours", "why")), entry["id"]
        [(kind, effect)] = entry["effect"].items()
        assert kind in ("universes", "claim", "tests", "not_measured"), entry["id"]
        if kind == "claim":
            assert effect in {claim["id"] for claim in claims()}, entry["id"]
        if kind == "universes":
            for universe, experiments in effect.items():
                assert all(universe in names[e] for e in experiments), (entry["id"], universe)
    words = [universe_name(universe) for universe in read()["universes"]]
    assert len(set(words)) == len(words)
    assert all(" " in name for name in words)


def test_known_effect_is_found_on_the_runs_which_both_have(printed_runs):
    # The literal normalisation costs DDR three points and leaves uLSIF alone.
    other = changed_runs(printed_runs, "biased", "literal-normalization", "DDR-uLSIF", -0.03)
    few = changed_runs(printed_runs, "cross", "small-c", "uLSIF", 0.02, seeds=10)
    runs = pd.concat([printed_runs, other, few[few["case"].str.endswith("0 vs 1")]])
    row = multiverse.deviation_changes(runs).set_index("id").loc["D1"]
    assert (row["universe"], row["experiment"]) == ("literal-normalization", "biased")
    assert row[["change", "accuracy_change"]].tolist() == pytest.approx([-3, -3])
    assert (row["cases"], row["p"], row["p_holm"]) == (10, 0, 0)
    found = gain_changes(runs, "cross").loc["small-c"]
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


def test_every_deviation_says_what_was_done_and_why(judged_claims):
    text = multiverse.deviation_sections(complete_runs(n=4), judged_claims).data
    for entry in multiverse.deviations():
        assert f"{{rubric}} {entry['title']}\n:name: deviation-{entry['id'].lower()}\n" in text
    assert "p(y|x) differs by up to 0.57" in text  # a claim's evidence
    assert "**Measured:** not measured: " in text
    assert "synthetic: Gain over no weights: " in text
    assert "6 of 6 cases won, 0 lost. Significantly better in 6 (paired)" in text
