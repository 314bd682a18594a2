"""The gain of DDR-uLSIF over uLSIF under each open choice, with its interval."""

import numpy as np
import pandas as pd
from scipy import stats

from companion.runs.multiverse import METHODS, read, universes


def universe_gains(results, experiment):
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
