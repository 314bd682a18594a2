"""What the page "Is my data shifted?" asks for: answers as JSON, an example, and the script."""

import base64
import inspect
import io

import pandas as pd

from companion.browser import my_data
from ddr.paper.datasets import load

_SHOWN = 6  # columns of a row to label


def columns(source, target):
    """Columns of the source, the likeliest label first, and how many rows both files have."""
    old, new = my_data.read_table(source, "the source"), my_data.read_table(target, "the target")
    names = sorted(old, key=lambda name: (name in new, -list(old).index(name)))
    return {"columns": list(map(str, names)), "rows": [len(old), len(new)]}


def report(source, target, label, told=()):
    """What is seen of the shift, what to do, and the rows to label next."""
    model, *_, notes, shown = my_data.study(source, target, label, told)
    seen = model.report_
    held = io.BytesIO()
    seen.plot().savefig(held, format="png", dpi=110)
    rows = [question[0] for question in seen.questions]
    values = shown.iloc[rows, :_SHOWN].astype("string").fillna("").to_numpy().tolist()
    return {
        "notes": notes,
        "report": seen._repr_html_(),
        "picture": base64.b64encode(held.getvalue()).decode(),
        "decision": seen.advice,
        "classes": list(map(str, model.classes_.tolist())),
        "columns": list(map(str, shown.columns[:_SHOWN])),
        "questions": list(zip(rows, values, strict=True)),
    }


def downloads(source, target, label, told=()):
    """Weights and predictions as CSV, and the script that makes both again."""
    call = f'main("source.csv", "target.csv", {label!r}, {[tuple(pair) for pair in told]!r})'
    script = f'{inspect.getsource(my_data)}\n\nif __name__ == "__main__":\n    {call}\n'
    return {
        "weights.csv": my_data.weights(source, target, label),
        "predictions.csv": my_data.predictions(source, target, label, told),
        "is_my_data_shifted.py": script,
    }


def example():
    """Diabetes among women of at least 30, by what is known of younger ones; the truth as well."""
    data = load("Diabete")
    table = pd.DataFrame(data.X, columns=data.feature_names)
    table["diagnosis"] = [data.labels[label].replace(" ", "_") for label in data.y.tolist()]
    older = table.pop("Age") >= 30
    target, form = table[older], {"index": False, "float_format": "%g"}
    return {
        "source": table[~older].to_csv(**form),
        "target": target.drop(columns="diagnosis").to_csv(**form),
        "label": "diagnosis",
        "truth": target["diagnosis"].tolist(),
    }
