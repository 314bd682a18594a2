"""Is my data shifted? From two CSV files, labelled source rows and target rows, to a decision.

The page "Is my data shifted?" runs this file in the reader's browser, and hands it out as the
script that repeats an analysis; it needs pandas and ddr alone.
"""

import csv
import io
from copy import deepcopy
from functools import lru_cache
from pathlib import Path

import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ddr import DDRClassifier, GuardedDDRClassifier

MOST_ROWS, MOST_COLUMNS, MOST_CLASSES, MOST_WORDS = 20_000, 200, 20, 20
LEARNER = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))


def read_table(text, name):
    """Read the text of a CSV file, or say in one sentence why it is none."""
    if "\0" in text or text.startswith("PK"):
        raise ValueError(f"{name} must be a CSV file of text; save your table as CSV first")
    try:
        dialect = csv.Sniffer().sniff("\n".join(text.splitlines()[:5]), ",;\t")
        table = pd.read_csv(io.StringIO(text), sep=dialect.delimiter, skipinitialspace=True)
    except (ValueError, csv.Error) as error:  # pandas' own errors are ValueErrors
        reason = str(error).strip().splitlines()[-1]
        raise ValueError(f"{name} cannot be read as CSV with a line of names: {reason}") from None
    if not 10 <= len(table) <= MOST_ROWS:
        raise ValueError(f"{name} must have 10 to {MOST_ROWS:,} rows, got {len(table):,}")
    return table


def read_tables(source, target, label):
    """Read both files and take the label column out: X, y, X_target and the target as it came."""
    source, shown = read_table(source, "the source"), read_table(target, "the target")
    if label not in source:
        raise ValueError(f"the label must be a column of the source, got {label!r}")
    source = source.dropna(subset=[label])
    y = source.pop(label)
    classes = y.nunique()
    if not 2 <= classes <= MOST_CLASSES:
        raise ValueError(f"the label must have 2 to {MOST_CLASSES} classes; {label} has {classes}")
    if (few := y.value_counts()).min() < 5:
        raise ValueError(f"each class needs 5 rows; {few.idxmin()} of {label} has {few.min()}")
    return source, y, shown.drop(columns=label, errors="ignore"), shown


def prepare(source, target):
    """Turn both tables into the same numbers; return them with a sentence for each thing done."""
    common = [column for column in source if column in target]
    if not common:
        raise ValueError("source and target must have columns of the same names, got none")
    lone = sorted(map(str, {*source, *target} - {*common}))
    notes = [f"Only in one file, so not used: {', '.join(lone)}."] if lone else []
    both, n, parts = pd.concat([source[common], target[common]], ignore_index=True), len(source), []
    for name, column in both.items():
        missing, words = column.isna().sum(), column.astype("string").fillna("missing")
        if column[:n].nunique() < 2 and column[n:].nunique() < 2:
            notes.append(f"{name} is the same in every row, so not used.")
        elif pd.api.types.is_numeric_dtype(column):
            middle, became = column[:n].median(), "became the source's median"
            if missing:
                notes.append(f"{missing} missing values of {name} {became}, {middle:g}.")
            parts.append(column.fillna(middle))
        elif words.nunique() > MOST_WORDS:
            found = f"{words.nunique()} different words, more than {MOST_WORDS}"
            notes.append(f"{name} has {found}: not used.")
        else:
            parts.append(pd.get_dummies(words, prefix=name, prefix_sep=" = "))
            found = ", ".join(sorted(words.unique()))
            notes.append(f"{name} holds words: a column of zeros and ones for each of {found}.")
    if not parts:
        raise ValueError("no column is left that tells one row from another")
    table = pd.concat(parts, axis=1)
    if len(table.columns) > MOST_COLUMNS:
        raise ValueError(f"at most {MOST_COLUMNS} columns are allowed, got {len(table.columns)}")
    X = table.to_numpy(dtype=float)
    return X[:n], X[n:], notes


@lru_cache(maxsize=1)
def fit(source, target, label):
    """Fit the guard to the texts of two CSV files."""
    source, y, target, shown = read_tables(source, target, label)
    X, X_target, notes = prepare(source, target)
    model = GuardedDDRClassifier(LEARNER, random_state=0).fit(X, y.to_numpy(), X_target)
    return model, X, y.to_numpy(), X_target, notes, shown


def study(source, target, label, told=()):
    """Fit, tell the labels known so far, and return the model with what it was made from.

    ``told`` has pairs of a row of the target, counted from 0, and its label as text.
    """
    fitted, *rest = fit(source, target, label)
    model = deepcopy(fitted)
    model.ask(len(rest[2]))
    if told:
        words = {str(each): each for each in model.classes_.tolist()}
        unknown = [text for _, text in told if text not in words]
        if unknown:
            raise ValueError(f"labels must be one of {', '.join(words)}; got {unknown[0]!r}")
        rows = [int(row) for row, _ in told]
        model.tell(rows, [words[text] for _, text in told])
    return model, *rest


def weights(source, target, label):
    """DDR's weight of each source row, as CSV."""
    _, X, y, X_target, *_ = fit(source, target, label)
    ddr = DDRClassifier(LEARNER, random_state=0).fit(X, y, X_target)
    return pd.DataFrame({"weight": ddr.weights_}).to_csv(index_label="row")


def predictions(source, target, label, told=()):
    """The chosen model's prediction of each target row, and its probabilities, as CSV."""
    model, _, _, X_target, *_ = study(source, target, label, told)
    table = pd.DataFrame(model.predict_proba(X_target), columns=map(str, model.classes_))
    table.insert(0, "prediction", model.predict(X_target))
    return table.to_csv(index_label="row")


def main(source, target, label, told):
    """Repeat an analysis with files: print the report, write weights.csv and predictions.csv."""
    texts = [Path(name).read_text(encoding="utf-8-sig") for name in (source, target)]
    print(study(*texts, label, told)[0].report_)
    for name, text in {
        "weights.csv": weights(*texts, label),
        "predictions.csv": predictions(*texts, label, told),
    }.items():
        Path(name).write_text(text, encoding="utf-8")
