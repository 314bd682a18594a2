"""The three lines at the head of each notebook, computed from the published runs."""

import numpy as np
from sklearn.naive_bayes import GaussianNB

from companion.evidence import protocol_search
from companion.evidence.claim_computations import posterior_change  # noqa: F401 - for a notebook
from companion.evidence.gains import (
    METHOD,
    NO_WEIGHTS,
    RIVAL,
    accuracies,
    mean_interval,
    paired,
    runs_of,
)
from companion.evidence.multiverse import protocol_of, universe_name
from companion.evidence.printed import printed_gains, printed_means
from companion.evidence.tables import points
from companion.paths import PROTOCOLS
from companion.runs.protocols import load_protocol
from companion.runs.results import published_results
from ddr.paper.mixture import FourClusters

#: Weights of the ablation, by the universe whose DDR-uLSIF has them.
PARTS = {
    "class ratio alone": "class-ratio-only",
    "prior ratio alone": "prior-ratio-only",
    "both: DDR": "baseline",
}
#: Universes of biased sampling that have another learner.
LEARNERS = ("baseline", "learner-width-narrow", "learner-width-cv", "lambda-wide")


# ------------------------------------------------------------------------------ small pieces


def mean_gain(results, experiment, protocol, rival=NO_WEIGHTS, method=METHOD):
    """Mean gain over the cases with the ends of its interval, in points."""
    return mean_interval(paired(results, experiment, protocol, method, rival)["gain"])


def part_gains(results, experiment):
    """Gain over no weights of the plain ratio and of each part of DDR's weight."""
    universes = {"plain ratio": ("baseline", RIVAL)}
    universes |= {name: (universe, METHOD) for name, universe in PARTS.items()}
    return {
        name: mean_gain(results, experiment, protocol_of(universe), method=method)
        for name, (universe, method) in universes.items()
    }


def all_part_gains(results):
    """:func:`part_gains` of every table."""
    names = {"synthetic": "synthetic data", "biased": "ten datasets", "cross": "digits"}
    return {name: part_gains(results, experiment) for experiment, name in names.items()}


def choice_gains(results):
    """Gains of DDR-uLSIF with the chosen and with a random direction, over the common runs."""
    protocols = {"largest gap": "matched", "random direction": "universe:omega-random"}
    runs = {name: runs_of(results, "biased", protocol) for name, protocol in protocols.items()}
    keys = [rows[["case", "seed"]].drop_duplicates() for rows in runs.values()]
    common = keys[0].merge(keys[1])
    return {
        f"over {rival}": {
            name: mean_gain(rows.merge(common), "biased", protocols[name], rival)
            for name, rows in runs.items()
        }
        for rival in (RIVAL, NO_WEIGHTS)
    }


def learner_gains(results):
    """Gain of DDR-uLSIF over no weights with each learner of biased sampling, worst learner first.

    The names tell the mean accuracy without weights.
    """
    names = {protocol_of(name): universe_name(name) for name in LEARNERS}
    found = {}
    for protocol, name in (names | {"tuned": "the tuned protocol"}).items():
        bare = means_of(results, "biased", protocol)[NO_WEIGHTS].mean()
        found[bare] = f"{name} ({bare:.1f} %)", mean_gain(results, "biased", protocol)
    return dict(found[bare] for bare in sorted(found))


def exact_risks(mixture, across=0.2, up=0.005):
    """Test risk of the best rule for training, as three kinds of weights estimate it.

    Sums over a grid take the place of infinitely many training points; it is fine in the direction
    in which the rule changes its mind.
    """
    grid = np.meshgrid(np.arange(-4, 10, across), np.arange(-4, 10, up))
    grid = np.stack(grid, axis=-1).reshape(-1, 2)
    rule, plain = mixture.bayes_predict(grid, "train"), mixture.marginal_ratio(grid)
    risks = {"no weights": 0.0, "plain ratio": 0.0, "joint ratio": 0.0}
    for c, prior in zip((1, 2), mixture.train_priors, strict=True):
        lost = prior * mixture.class_density(grid, c, "train") * (rule != c) * across * up
        for name, weight in zip(risks, (1, plain, mixture.joint_ratio(grid, c)), strict=True):
            risks[name] += float(np.sum(weight * lost))
    return risks


def with_true_weights(n, seed=0):
    """Test accuracy of naive Bayes with the true weights, and of the best rule."""
    mixture, streams = FourClusters(), np.random.SeedSequence(seed).spawn(2)
    X, y = mixture.sample(n, "train", random_state=streams[0])
    X_test, y_test = mixture.sample(n, "test", random_state=streams[1])
    weights = {
        "no weights": None,
        "plain ratio": mixture.marginal_ratio(X),
        "joint ratio": mixture.joint_ratio(X, y),
    }
    found = {
        name: GaussianNB().fit(X, y, sample_weight=w).score(X_test, y_test)
        for name, w in weights.items()
    }
    return found | {"best rule": float(np.mean(mixture.bayes_predict(X_test) == y_test))}


def _percent(share):
    return f"{100 * share:.1f} %"


def means_of(results, experiment, protocol):
    """Mean accuracy in points, one row a case, one column a method."""
    return 100 * accuracies(results, experiment, protocol).groupby(level="case").mean()


def synthetic_means(results):
    """Mean accuracies by training size under each protocol, and the printed ones, in points."""
    methods = [NO_WEIGHTS, RIVAL, METHOD]
    printed = 100 * printed_means("synthetic")[methods]
    tables = {p: means_of(results, "synthetic", p) for p in PROTOCOLS}
    return {p: t.loc[printed.index, methods] for p, t in tables.items()}, printed


# ------------------------------------------------------------------------------ the answers


def why_weight_by_class():
    """Answer the question of the notebook on theory."""
    mixture, between = FourClusters(), np.array([[1.0, 3.0]])
    risks, prior = exact_risks(mixture), np.array(mixture.test_priors)
    one, two = (mixture.joint_ratio(between, c)[0] for c in (1, 2))
    twice = prior**2 / np.sum(prior**2)
    return [
        f"The best rule for training errs on {_percent(risks['joint ratio'])} of the test points. "
        f"Weighted by class, training points say just that; weighted by the plain ratio of the "
        f"inputs they say {_percent(risks['plain ratio'])}, unweighted "
        f"{_percent(risks['no weights'])}.",
        f"Half-way between two clusters, at (1, 3), a training point of class 1 should weigh "
        f"{one:.2f}, one of class 2 should weigh {two:.2f}. The plain ratio gives both "
        f"{mixture.marginal_ratio(between)[0]:.2f}.",
        f"The recipe needs one repair: as printed it counts the test prior twice, and class 1, "
        f"with {_percent(prior[0])} of the test points, would get {_percent(twice[0])} of the "
        "weight.",
    ]


def where_the_gain_comes_from():
    """Answer the question of the notebook on the synthetic data."""
    results = published_results()
    over = {p: mean_gain(results, "synthetic", p, RIVAL)[0] for p in ("matched", "tuned")}
    plain = {p: means_of(results, "synthetic", p)[RIVAL].mean() for p in over}
    printed, true = printed_gains("synthetic", METHOD, RIVAL).mean(), with_true_weights(100_000)
    return [
        f"From estimation. With the settings nearest to the paper DDR adds "
        f"{points(over['matched'])} points to the plain ratio (paper: {points(printed)}) and "
        f"{points(mean_gain(results, 'synthetic', 'matched')[0])} to no weights.",
        f"With the true weights the plain ratio reaches {_percent(true['plain ratio'])}, the joint "
        f"weight {_percent(true['joint ratio'])}, the best possible rule "
        f"{_percent(true['best rule'])}.",
        f"Tuned settings (a width by cross-validation, free coefficients) lift the plain ratio "
        f"from {plain['matched']:.1f} % to {plain['tuned']:.1f} %, and DDR then adds "
        f"{points(over['tuned'])} points.",
    ]


def what_ddr_corrects():
    """Answer the question of the notebook on biased sampling."""
    results = published_results()
    (by_class, prior, both), there = (
        [part_gains(results, e)[part][0] for part in PARTS] for e in ("biased", "synthetic")
    )
    mostly = "the share of the classes" if prior > by_class else "the densities within the classes"
    random = mean_gain(results, "biased", "universe:omega-random")[0]
    bare = {p: means_of(results, "biased", p)[NO_WEIGHTS].mean() for p in ("matched", "tuned")}
    tuned = mean_gain(results, "biased", "tuned")[0]
    return [
        f"On these ten datasets mostly {mostly}. Over no weights DDR's prior ratio alone gains "
        f"{points(prior)} points, its class-wise ratio alone {points(by_class)}, both together "
        f"{points(both)}. On the synthetic data: {points(there[1])}, {points(there[0])} and "
        f"{points(there[2])}.",
        f"The direction of the bias was chosen with test labels. Along a random one DDR gains "
        f"{points(random)} instead of {points(both)}.",
        f"A better learner leaves less: tuned, it reaches {bare['tuned']:.1f} % without weights "
        f"instead of {bare['matched']:.1f} %, and DDR changes that by {points(tuned)} points.",
    ]


def what_preprocessing_decides():
    """Answer the question of the notebook on the digits."""
    results = published_results()
    steps, matched = means_by_step(), means_of(results, "cross", "matched")
    moved = (steps[_BOTH] - steps[_NEITHER]).abs().mean()
    by_ddr = (matched[METHOD] - matched[NO_WEIGHTS]).abs().mean()
    misses = [f"{step} {print_miss(means):.1f}" for step, means in steps.items()]
    same = []
    for protocol in ("clipped", "matched"):
        wide = accuracies(results, "cross", protocol)
        share = float(np.mean(wide[METHOD] == wide[NO_WEIGHTS]))
        costs = ", ".join(f"{C:g}" for C in load_protocol("cross", protocol)["learner"]["Cs"])
        same.append(f"{_percent(share)} of the runs of the protocol {protocol} (C in {costs})")
    return [
        f"Clipping and scaling alone move the unweighted accuracy of a task by {moved:.1f} points "
        f"on average; DDR's weights move it by {by_ddr:.1f}.",
        f"They decide whether the paper's table appears. Points by which our unweighted means "
        f"miss the printed ones: {'; '.join(misses)}.",
        f"Weights act only where digits violate the margin. DDR's accuracy is exactly the "
        f"unweighted one in {' and in '.join(same)}.",
    ]


_NEITHER, _BOTH = "clipped, one range", "unclipped, each pixel's own range"
#: Two ways to resize and two to scale, by their names in the search for the protocol.
STEPS = {
    _NEITHER: "bicubic, antialiased, clipped | one range for the collection",
    "unclipped, one range": "bicubic, antialiased, unclipped | one range for the collection",
    "clipped, each pixel's own range": "bicubic, antialiased, clipped | each pixel, the two digits",
    _BOTH: "bicubic, antialiased, unclipped | each pixel, the two digits",
}


def means_by_step():
    """Unweighted accuracies of the search, one row a task, one column a way of preprocessing."""
    responses = protocol_search.published("cross", "responses")
    chosen = protocol_search.selected(responses.query("stage == 'second'"), [0.1, 1.0])
    found = chosen.pivot_table(index="case", columns="variant", values="accuracy", sort=False)
    cases = load_protocol("cross")["cases"][::2]
    found = 100 * found.reindex(index=cases, columns=list(STEPS.values()))
    return found.set_axis(list(STEPS), axis=1)


def print_miss(means):
    """Mean absolute deviation of the digits' unweighted means from the printed ones, in points."""
    printed = 100 * printed_means("cross")[NO_WEIGHTS]
    return float((means - printed.loc[means.index]).abs().mean())


def unweighted_by_protocol(results, cases):
    """The printed unweighted accuracies of some tasks, and ours, in points."""
    printed = 100 * printed_means("cross")[NO_WEIGHTS]
    chosen = [case for case in printed.index if case in cases]
    ours = {p: means_of(results, "cross", p)[NO_WEIGHTS][chosen] for p in ("clipped", "matched")}
    return {"paper": printed[chosen]} | ours
