"""The multiverse: the matched protocol under every choice that the paper leaves open."""

from pathlib import Path

import numpy as np
import pandas as pd
import yaml
from scipy import stats

from companion.paths import BOOK
from companion.runs.protocols import EXPERIMENTS, changed, load_protocol
from companion.runs.reproduce import compute, reported, start_afresh
from companion.runs.results import published_results

METHODS = ["Unweighted", "uLSIF", "DDR-uLSIF"]


def universes(experiment, path=None):
    """Protocols of an experiment's universes."""
    content = read(path)
    base = changed(
        load_protocol(experiment),
        methods=METHODS,
        extra_methods={"cases": [], "methods": []},
        runs=content["runs"],
        problem=content["problem"].get(experiment, {}),
    )
    found = {}
    for name, universe in content["universes"].items():
        change = universe.get(experiment, universe.get("all"))
        if change is not None:
            found[name] = changed(base, protocol=f"universe:{name}", **change)
    return found


def read(path=None):
    """Read and check the list of universes."""
    content = yaml.safe_load(Path(path or BOOK / "multiverse.yml").read_text(encoding="utf-8"))
    for name, universe in content["universes"].items():
        unknown = set(universe) - {"name", "question", "all", *EXPERIMENTS}
        if unknown or "question" not in universe:
            raise ValueError(
                f"universe {name!r} must have a question and changes for all or for some of "
                f"{', '.join(EXPERIMENTS)}, got the keys {', '.join(sorted(universe))}"
            )
    return content


def reproduce_multiverse(
    experiments=EXPERIMENTS, folder="_build/reproduction", say=print, fresh=False, **options
):
    """Compute all universes into a store of their own and report their gains."""
    found = {experiment: universes(experiment) for experiment in experiments}
    if fresh:
        start_afresh(
            [p for protocols in found.values() for p in protocols.values()], folder, **options
        )
    for experiment, protocols in found.items():
        with reported(
            protocols.values(), folder, lambda line, e=experiment: say(f"{e}: {line}"), **options
        ):
            for number, (name, protocol) in enumerate(protocols.items(), start=1):
                say(f"{experiment}, universe {number} of {len(protocols)}: {name}")
                compute(protocol, folder, **options)
        for line in report(published_results(folder), published_results(), experiment):
            say(line)


def report(results, published, experiment):
    """Lines with the gain in each universe, beside the published one."""
    ours, theirs = gains(results, experiment), gains(published, experiment)
    width = max(map(len, ours.index), default=0)
    lines = [f"{experiment}: gain of DDR-uLSIF over uLSIF in points, by universe"]
    for name, row in ours.iterrows():
        known = f"{theirs.at[name, 'gain']:+.2f}" if name in theirs.index else "none"
        lines.append(f"  {name:<{width}}  {row['gain']:+6.2f}   published {known}")
    return lines


def gains(results, experiment):
    """Mean gain of DDR-uLSIF over uLSIF in each universe, over all cases and runs."""
    questions = {name: u["question"] for name, u in read()["universes"].items()}
    rows = []
    for name in universes(experiment):
        runs = results[
            (results["experiment"] == experiment) & (results["protocol"] == f"universe:{name}")
        ]
        if runs.empty:
            continue
        table = runs.pivot_table(index=["case", "seed"], columns="method", values="accuracy")
        by_case = table.groupby("case").mean()
        gain = 100 * (by_case["DDR-uLSIF"] - by_case["uLSIF"])
        half = stats.t.ppf(0.975, len(gain) - 1) * gain.std(ddof=1) / np.sqrt(len(gain))
        rows.append(
            {"universe": name, "question": questions[name]}
            | {method: by_case[method].mean() for method in METHODS}
            | {"gain": gain.mean(), "low": gain.mean() - half, "high": gain.mean() + half}
            | {"cases_won": int((gain > 0).sum()), "cases": len(gain)}
            | {"runs": table.groupby("case").size().min()}
        )
    columns = ["universe", "question", *METHODS, "gain", "low", "high"]
    return pd.DataFrame(rows, columns=[*columns, "cases_won", "cases", "runs"]).set_index(
        "universe"
    )
