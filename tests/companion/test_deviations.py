"""The deviations file and the look-up of measured effects."""

import numpy as np
import pandas as pd
import pytest
from companion.evidence import choices, claim_computations
from companion.evidence import printed as paper
from companion.evidence.claims import claims
from companion.evidence.tables import points
from companion.evidence.universes import gain_changes, universe_effect, universe_name
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


def test_every_deviation_is_complete():
    entries = choices.deviations()
    assert len(entries) >= 12
    for entry in entries:
        for key in ("open", "ours", "why"):
            assert entry[key].endswith("."), (entry["id"], key)
    assert len({e["title"] for e in entries}) == len(entries)
    keys = {"id", "title", "open", "ours", "why", "effect"}
    names = {experiment: set(universes(experiment)) for experiment in EXPERIMENTS}
    for number, entry in enumerate(entries, start=1):
        assert set(entry) == keys, entry["id"]
        assert entry["id"] == f"D{number}"
        [(kind, effect)] = entry["effect"].items()
        assert kind in ("universes", "claim", "computed", "not_measured"), entry["id"]
        if kind == "claim":
            assert effect in {claim["id"] for claim in claims()}, entry["id"]
        if kind == "computed":
            assert effect in choices._COMPUTED, entry["id"]
        if kind == "universes":
            for universe, experiments in effect.items():
                assert all(universe in names[e] for e in experiments), (entry["id"], universe)


def test_known_effect_is_found(printed_runs):
    # The literal normalisation costs DDR three points and leaves uLSIF alone.
    other = changed_runs(printed_runs, "biased", "literal-normalization", "DDR-uLSIF", -0.03)
    runs = pd.concat([printed_runs, other])
    found = universe_effect(runs, "biased", "literal-normalization")
    means = paper.values("biased").groupby("method")["mean"].mean()
    assert found["gain_published"] == pytest.approx(100 * (means["DDR-uLSIF"] - means["uLSIF"]))
    assert found["accuracy_published"] == pytest.approx(100 * means["DDR-uLSIF"])
    assert found["accuracy_change"] == pytest.approx(-3)
    assert gain_changes(runs, "biased").at["literal-normalization", "change"] == pytest.approx(-3)
    assert (found["cases"], found["runs"]) == (10, 300)


def test_a_change_is_that_of_the_runs_which_both_have(printed_runs):
    other = changed_runs(printed_runs, "cross", "small-c", "uLSIF", 0.02, seeds=10)
    other = other[other["case"].str.endswith("0 vs 1")]
    runs = pd.concat([printed_runs, other])
    found = universe_effect(runs, "cross", "small-c")
    assert (found["cases"], found["runs"]) == (2, 20)
    assert gain_changes(runs, "cross").at["small-c", "change"] == pytest.approx(-2)


def test_the_table_has_a_row_for_every_choice_and_table():
    found = choices.effects(published_results())
    entries = [e["effect"].get("universes", {}) for e in choices.deviations()]
    assert len(found) == sum(len(tables) for e in entries for tables in e.values())
    assert found.groupby("experiment")["gain_published"].nunique().eq(1).all()  # one baseline
    shown = choices.effects_table(found).data
    assert shown.count("<deviation-") == len(found)
    changes = [row.change for row in found.sort_values("change", key=abs).itertuples()]
    assert f"{points(changes[-1])} " in shown.splitlines()[6]  # the largest comes first
    heights = [len(axis.get_yticks()) for axis in choices.effects_figure(found).axes]
    assert heights == found.groupby("experiment", sort=False).size().tolist()


def test_every_deviation_says_what_was_done_and_why(judged_claims):
    text = choices.deviation_sections(complete_runs(n=4), judged_claims).data
    for entry in choices.deviations():
        assert f"{{rubric}} {entry['title']}\n:name: deviation-{entry['id'].lower()}\n" in text
    assert "p(y|x) differs by up to 0.57" in text  # a claim's evidence
    assert "relative weight of wrong-side points, mean of 40 draws: DR " in text
    assert "**Measured:** not measured: " in text
    assert "synthetic: DDR-uLSIF better than Unweighted in 6 of 6 cases (paired)" in text


def test_readings_of_the_moments():
    found = claim_computations.soft_moment_errors(draws=3)
    assert 0.01 < found["change"] < 0.2
    (sentence,) = choices.weighted_centers(None)
    assert "posteriors of their centres" in sentence
    assert "(mean of 20 draws)" in sentence


def test_center_weights_vanish_without_a_regulariser():
    rng = np.random.default_rng(0)
    K, weight, s = rng.random((40, 5)), rng.uniform(0.1, 1, 5), rng.random(5)
    plain = claim_computations._fitted_ratio(K, s, 1e-12)
    weighted = claim_computations._fitted_ratio(K * weight, s * weight, 1e-12)
    np.testing.assert_allclose(weighted, plain, rtol=1e-6, atol=1e-8)


def test_every_universe_has_a_name_in_words():
    names = [universe_name(universe) for universe in read()["universes"]]
    assert len(set(names)) == len(names)
    assert all(" " in name for name in names)
