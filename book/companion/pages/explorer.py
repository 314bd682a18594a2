"""What the two explorers show: results computed beforehand, put into the page as JSON.

The first lets a reader change the kernel width, the strength of the shift and the method on the
paper's mixture; the second an open choice, and shows the gain of each table.
"""

import json

import numpy as np
from contourpy import contour_generator
from sklearn.naive_bayes import GaussianNB

from companion.evidence.gains import RIVAL
from companion.evidence.printed import table_title
from companion.evidence.universes import BASELINE, universe_gains, universe_name
from companion.figures.synthetic import WINDOW
from companion.paths import EXPERIMENTS
from ddr import ULSIF, effective_sample_size
from ddr.paper.comparison import THREE, fit_three
from ddr.paper.mixture import FourClusters
from ddr.paper.shifts import mixture_shift

WIDTHS = (0.5, 1.0, 2.0, 4.0)
STRENGTHS = (0.0, 0.25, 0.5, 0.75, 1.0)
#: Samples of one size; the first is drawn, the accuracy is the mean over all.
N_TRAIN, N_TEST, DRAWS = 150, 1000, 5


def files(evidence):
    """Give the data of both explorers."""
    return {
        "explorer_shift.md": embedded("ddr-shift", shift_data()),
        "explorer_choices.md": embedded("ddr-choices", choices_data(evidence.results)),
    }


def embedded(name, data):
    """Put data into a page: a page opened from disk may not fetch a file."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    script = f'<script type="application/json">{text}</script>'
    return f'```{{raw}} html\n<div id="{name}" class="ddr-explorer">{script}</div>\n```\n'


def mixture_of(strength):
    """The paper's mixture, its shift scaled: none at 0, the paper's at 1."""
    left, prior = 0.5 + 0.4 * strength, 0.5 + 0.1 * strength
    mixing = ((left, 1 - left), (1 - left, left))
    return FourClusters(train_mixing=mixing, test_priors=(prior, 1 - prior))


def shift_data():
    """Points, weights, boundaries and accuracies for each strength, width and method."""
    data = {"widths": WIDTHS, "strengths": STRENGTHS, "methods": THREE, "window": WINDOW}
    samples, states = [], {}
    for place, strength in enumerate(STRENGTHS):
        draws = [
            mixture_shift(N_TRAIN, N_TEST, mixture=mixture_of(strength), random_state=seed)
            for seed in range(DRAWS)
        ]
        first = draws[0]
        samples.append({"x": first.X_train.round(2).tolist(), "y": first.y_train.tolist()})
        for width in WIDTHS:
            ratio = ULSIF(sigma=width, clip="coefficients", random_state=0)
            found = [
                fit_three(draw.X_train, draw.y_train, draw.X_test, GaussianNB(), ratio)
                for draw in draws
            ]
            for number, method in enumerate(THREE):
                shown = _state([fits[method] for fits in found], draws)
                states[f"{place}/{WIDTHS.index(width)}/{number}"] = shown
    return data | {"samples": samples, "states": states}


def _state(fitted, draws):
    scores = [f.model.score(d.X_test, d.y_test) for f, d in zip(fitted, draws, strict=True)]
    weights, model = fitted[0][:2]
    return {
        "accuracy": round(100 * float(np.mean(scores)), 1),
        "size": round(float(effective_sample_size(weights))),
        "weights": (weights / weights.mean()).round(2).tolist(),
        "lines": _boundary(model),
    }


def _boundary(model, steps=60):
    across, up = np.linspace(*WINDOW[:2], steps), np.linspace(*WINDOW[2:], steps)
    points = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
    first = model.predict_proba(points)[:, 0].reshape(steps, steps)
    return [line.round(2)[::2].tolist() for line in contour_generator(across, up, first).lines(0.5)]


def choices_data(results):
    """The gain of each table under each open choice."""
    shown, tables = ["gain", "low", "high", "over_none"], {}
    for experiment in EXPERIMENTS:
        found = universe_gains(results, experiment)[shown].round(2)
        tables[table_title(experiment)] = found.T.to_dict("list")
    names = {u: universe_name(u) for found in tables.values() for u in found}
    choices = [
        {"name": names[u], "gains": {t: found.get(u) for t, found in tables.items()}}
        for u in sorted(names, key=lambda u: (u != BASELINE, names[u]))
    ]
    return {"rival": RIVAL, "choices": choices}
