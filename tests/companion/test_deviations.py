"""The deviations file and the look-up of measured effects."""

import numpy as np
import pandas as pd
import pytest
from companion.evidence import claim_computations
from companion.evidence import deviations as dev
from companion.evidence import printed as paper
from companion.evidence.claims import claims
from companion.evidence.universes import universe_effect, universe_name
from companion.pages import deviations as deviations_page
from companion.paths import EXPERIMENTS
from companion.runs.multiverse import read, universes
from paper_runs import runs_like_the_paper


@pytest.fixture(scope="module")
def printed_runs():
    return pd.concat([runs_like_the_paper(e) for e in EXPERIMENTS], ignore_index=True)


def changed_runs(runs, experiment, universe, method, shift, seeds=30):
    """The same runs under another choice that moves one method by `shift`."""
    part = runs[(runs["experiment"] == experiment) & (runs["seed"] < seeds)].copy()
    part.loc[part["method"] == method, "accuracy"] += shift
    return part.assign(protocol=f"universe:{universe}")


def beside_baseline(runs, *others):
    """Runs of some universes, and the runs themselves as the baseline of the multiverse."""
    return pd.concat([runs, runs.assign(protocol="universe:baseline"), *others])


def test_every_deviation_is_complete():
    entries = dev.deviations()
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
            assert effect in dev._COMPUTED, entry["id"]
        if kind == "universes":
            for universe, experiments in effect.items():
                assert all(universe in names[e] for e in experiments), (entry["id"], universe)


def test_known_effect_is_found(printed_runs):
    # The literal normalisation costs DDR three points and leaves uLSIF alone.
    other = changed_runs(printed_runs, "biased", "literal-normalization", "DDR-uLSIF", -0.03)
    runs = beside_baseline(printed_runs, other)
    found = universe_effect(runs, "biased", "literal-normalization")
    means = paper.values("biased").groupby("method")["mean"].mean()
    gain = 100 * (means["DDR-uLSIF"] - means["uLSIF"])
    assert found["gain_baseline"] == pytest.approx(gain)
    assert found["gain_changed"] == pytest.approx(gain - 3)
    assert found["accuracy_changed"] == pytest.approx(100 * means["DDR-uLSIF"] - 3)
    assert (found["cases"], found["runs"]) == (10, 300)


def test_baseline_uses_the_same_runs_as_the_universe(printed_runs):
    other = changed_runs(printed_runs, "cross", "small-c", "uLSIF", 0.02, seeds=10)
    other = other[other["case"].str.endswith("0 vs 1")]
    found = universe_effect(beside_baseline(printed_runs, other), "cross", "small-c")
    assert (found["cases"], found["runs"]) == (2, 20)
    assert found["gain_changed"] - found["gain_baseline"] == pytest.approx(-2)


def test_the_baseline_is_that_of_the_multiverse(printed_runs):
    other = changed_runs(printed_runs, "cross", "small-c", "DDR-uLSIF", -0.05)
    baseline = changed_runs(printed_runs, "cross", "baseline", "DDR-uLSIF", -0.01)
    found = universe_effect(pd.concat([printed_runs, other, baseline]), "cross", "small-c")
    assert found["gain_changed"] - found["gain_baseline"] == pytest.approx(-4)


def test_sentences_say_not_measured_or_give_numbers(printed_runs):
    entries = {e["id"]: e for e in dev.deviations()}
    others = [
        changed_runs(printed_runs, e, "literal-normalization", "DDR-uLSIF", -0.001)
        for e in EXPERIMENTS
    ]
    runs = beside_baseline(printed_runs, *others)
    sentence = dev.effect_sentences(runs, None, entries["D1"])[0]
    # Printed synthetic means: DDR-uLSIF .973483, uLSIF .964750.
    assert sentence == (
        "synthetic, *soft moments divided by all test rows* instead of what is done here: gain "
        "over uLSIF +0.77 points, with what is done here +0.87; accuracy of DDR-uLSIF 97.25 % and "
        "97.35 % (the same 180 runs of 6 cases)"
    )
    assert dev.effect_sentences(runs, None, entries["D19"])[0].startswith("not measured: ")
    counts = dev.effect_sentences(runs, None, entries["D12"])
    assert len(counts) == 3
    assert "synthetic: DDR-uLSIF better than Unweighted in 6 of 6 cases (paired)" in counts[0]


def test_a_claim_can_be_an_effect(published):
    entries = {e["id"]: e for e in dev.deviations()}
    (sentence,) = dev.effect_sentences(None, published.claims, entries["D14"])
    assert "p(y|x) differs by up to 0.57" in sentence
    (sentence,) = dev.effect_sentences(None, published.claims, entries["D21"])
    assert sentence.startswith("relative weight of wrong-side points, mean of 40 draws: DR ")


def test_page_has_a_section_for_every_deviation(published):
    effects = dev.measured_effects(published.results, published.claims)
    text = deviations_page.sections_text(effects)
    for entry in dev.deviations():
        assert f"## {entry['title']}\n" in text
    assert text.count("**Measured effect:**\n  - ") == len(effects)


def test_readings_of_the_moments():
    found = claim_computations.soft_moment_errors(draws=3)
    assert 0.01 < found["change"] < 0.2
    (sentence,) = dev.weighted_centers(None)
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
