"""What notebooks display."""

import pandas as pd
from companion.kit import display as show

# --- tables ----------------------------------------------------------------------------------


def test_numbers_are_printed_as_asked_and_counts_as_they_are():
    frame = pd.DataFrame({"n": [100], "gain": [-1.234], "other": [0.5], "none": [float("nan")]})
    text = show.table(frame, "x", "+.1f", align="left").data
    assert all(cell in text for cell in [">100<", ">−1.2<", ">+0.5<", ">–<"])
    assert "text-align: left" in text
    assert ">0.5000<" in show.table(frame, "x").data


def test_claims_table_shows_the_asked_claims_only():
    empty = pd.DataFrame(columns=["experiment", "protocol", "case", "method", "seed", "accuracy"])
    text = show.claims_table(["C1", "C5"], empty, ["matched"]).data
    assert text.count("<tr>") == 2  # the header and C1; C5 is computed live
    assert "<strong>not tested</strong>" in text
