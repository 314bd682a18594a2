"""Results of the shifts on disk: one row group a task and seed, so that a stopped run goes on."""

import csv
import os

from benchmarks.environment import ROOT

SCORES = ROOT / "benchmarks" / "shift_scores.csv"
FEATURES = ROOT / "benchmarks" / "shift_features.csv"
_DIGITS = {"accuracy": 5, "log_loss": 4}


def read(path):
    """Rows of a file as dictionaries of words and numbers; none where there is no file."""
    if not path.exists():
        return []
    with open(path, newline="", encoding="utf-8") as file:
        return [{name: _value(word) for name, word in row.items()} for row in csv.DictReader(file)]


def _value(word):
    try:
        number = float(word)
    except ValueError:
        return word
    return int(number) if word.isdigit() else number


def done(features):
    """Tasks and seeds that are stored; the features are written last."""
    return {(row["task"], row["seed"]) for row in features}


def write(path, rows):
    """Replace a file at once, so that a kill leaves the old one or the new one."""
    rows = sorted(rows, key=lambda row: (row["task"], row["seed"], row["learner"]))
    partial = path.with_suffix(".tmp")
    with open(partial, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: _word(name, value) for name, value in row.items()} for row in rows)
    os.replace(partial, path)


def _word(name, value):
    return f"{value:.{_DIGITS.get(name, 4)}g}" if isinstance(value, float) else value
