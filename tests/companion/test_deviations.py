"""The deviations file and the look-up of measured effects."""

import numpy as np
import pandas as pd
import pytest
import yaml
from companion.evidence import deviations as dev
from companion.evidence import printed as paper
from companion.evidence.soft_moments import soft_moment_errors
from companion.evidence.universes import universe_effect, universe_name
from companion.pages import deviations as deviations_page
from companion.paths import EXPERIMENTS
from paper_runs import runs_like_the_paper


@pytest.fixture(scope="module")
def printed_runs():
    return pd.concat([runs_like_the_paper(e) for e in EXPERIMENTS], ignore_index=True)


def changed_runs(runs, experiment, universe, method, shift, seeds=30):
    """The same runs under another choice that moves one method by `shift`."""
    part = runs[(runs["experiment"] == experiment) & (runs["seed"] < seeds)].copy()
    part.loc[part["method"] == method, "accuracy"] += shift
    return part.assign(protocol=f"universe:{universe}")


def test_every_deviation_is_complete():
    entries = dev.deviations()
    assert len(entries) >= 12
    for entry in entries:
        for key in ("open", "ours", "why"):
            assert entry[key].endswith("."), (entry["id"], key)
    assert len({e["title"] for e in entries}) == len(entries)


def test_known_effect_is_found(printed_runs):
    # The literal normalisation costs DDR three points and leaves uLSIF alone.
    other = changed_runs(printed_runs, "biased", "literal-normalization", "DDR-uLSIF", -0.03)
    found = universe_effect(pd.concat([printed_runs, other]), "biased", "literal-normalization")
    means = paper.values("biased").groupby("method")["mean"].mean()
    gain = 100 * (means["DDR-uLSIF"] - means["uLSIF"])
    assert found["gain_baseline"] == pytest.approx(gain)
    assert found["gain_changed"] == pytest.approx(gain - 3)
    assert found["accuracy_changed"] == pytest.approx(100 * means["DDR-uLSIF"] - 3)
    assert (found["cases"], found["runs"]) == (10, 300)


def test_baseline_uses_the_same_runs_as_the_universe(printed_runs):
    other = changed_runs(printed_runs, "cross", "small-c", "uLSIF", 0.02, seeds=10)
    other = other[other["case"].str.endswith("0 vs 1")]
    found = universe_effect(pd.concat([printed_runs, other]), "cross", "small-c")
    assert (found["cases"], found["runs"]) == (2, 20)
    assert found["gain_changed"] - found["gain_baseline"] == pytest.approx(-2)


def test_a_baseline_of_the_multiverse_goes_before_the_published_runs(printed_runs):
    other = changed_runs(printed_runs, "cross", "small-c", "DDR-uLSIF", -0.05)
    baseline = changed_runs(printed_runs, "cross", "baseline", "DDR-uLSIF", -0.01)
    found = universe_effect(pd.concat([printed_runs, other, baseline]), "cross", "small-c")
    assert found["gain_changed"] - found["gain_baseline"] == pytest.approx(-4)


def test_sentences_say_not_measured_or_give_numbers(printed_runs):
    entries = {e["id"]: e for e in dev.deviations()}
    first = entries["D1"]
    assert dev.effect_sentences(printed_runs, first)[0] == (
        "synthetic, *soft moments divided by all test rows*: not measured"
    )
    other = changed_runs(printed_runs, "synthetic", "literal-normalization", "DDR-uLSIF", -0.001)
    sentence = dev.effect_sentences(pd.concat([printed_runs, other]), first)[0]
    # Printed synthetic means: DDR-uLSIF .973483, uLSIF .964750.
    assert sentence == (
        "synthetic, *soft moments divided by all test rows* instead of what is done here: gain "
        "over uLSIF +0.77 points, with what is done here +0.87; accuracy of DDR-uLSIF 97.25 % and "
        "97.35 % (the same 180 runs of 6 cases)"
    )
    assert dev.effect_sentences(printed_runs, entries["D19"])[0].startswith("not measured: ")
    counts = dev.effect_sentences(printed_runs, entries["D12"])
    assert len(counts) == 3
    assert "synthetic: DDR-uLSIF better than Unweighted in 6 of 6 cases (paired)" in counts[0]
    assert dev.effect_sentences(printed_runs.iloc[:0], entries["D12"]) == [
        "not measured: no runs stored"
    ]
    assert "p(y|x) differs by up to 0.57" in dev.effect_sentences(None, entries["D14"])[0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": "D2"}, "must have the id D1"),
        ({"extra": 1}, r"see \['extra'\]"),
        ({"effect": {"guess": 1}}, "effect of D1 must be one of universes"),
        ({"effect": {"computed": "os"}}, "computed effect of D1 must be one of t_test_counts"),
        ({"effect": {"universes": {"a": ["toy"]}}}, "must name universes of book"),
    ],
)
def test_a_bad_file_is_refused(change, message, tmp_path):
    path = tmp_path / "deviations.yml"
    path.write_text(yaml.safe_dump([dev.deviations()[0] | change]), encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        dev.deviations(path)


def test_page_has_a_section_for_every_deviation(printed_runs):
    effects = dev.measured_effects(printed_runs)
    text = deviations_page.sections_text(effects)
    for entry in dev.deviations():
        assert f"## {entry['title']}\n" in text
    assert text.count("**Measured effect:**\n  - ") == len(effects)


def test_a_universe_that_is_not_computed_cannot_be_an_effect(tmp_path):
    entry = dev.deviations()[0] | {"effect": {"universes": {"linear-svc": ["cross"]}}}
    path = tmp_path / "deviations.yml"
    path.write_text(yaml.safe_dump([entry]))
    with pytest.raises(
        ValueError, match=r"universes of book/multiverse\.yml that an experiment has, got 'l"
    ):
        dev.deviations(path)


def test_readings_of_the_moments():
    found = soft_moment_errors(draws=3)
    assert 0.01 < found["change"] < 0.2
    (sentence,) = dev.weighted_centers(None)
    assert "posteriors of their centres" in sentence
    assert "(mean of 20 draws)" in sentence


def test_center_weights_vanish_without_a_regulariser():
    from companion.evidence import soft_moments as readings

    rng = np.random.default_rng(0)
    K, weight, s = rng.random((40, 5)), rng.uniform(0.1, 1, 5), rng.random(5)
    plain = readings._ratio(K, readings.second_moment(K), s, 1e-12)
    weighted = readings._ratio(K * weight, readings.second_moment(K * weight), s * weight, 1e-12)
    np.testing.assert_allclose(weighted, plain, rtol=1e-6, atol=1e-8)


def test_every_universe_has_a_name_in_words():
    from companion.runs.multiverse import read

    names = [universe_name(universe) for universe in read()["universes"]]
    assert len(set(names)) == len(names)
    assert all(" " in name for name in names)
