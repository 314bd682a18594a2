"""A rerun beside the published run: numbers are paired by what they are, not by their place."""

import nbformat
from companion.evidence.tables import html
from companion.kit.compare_runs import compare_runs, table_means
from pandas import DataFrame


def notebook(text, table, injected=False, caption="Means"):
    cells = [nbformat.v4.new_code_cell("one"), nbformat.v4.new_code_cell("two")]
    cells[0].outputs = [nbformat.v4.new_output("stream", text=text)]
    shown = nbformat.v4.new_output("execute_result", data={"text/html": html(table, caption)})
    cells[1].outputs = [shown]
    if injected:
        extra = nbformat.v4.new_code_cell(
            "# Parameters", metadata={"tags": ["injected-parameters"]}
        )
        cells.insert(0, extra)
    return nbformat.v4.new_notebook(cells=cells)


def test_numbers_are_paired_by_row_and_column():
    first = DataFrame({"Case": ["a", "b"], "Ours": ["0.50 \u00b1 0.01", "0.70"]})
    second = DataFrame({"Case": ["b", "c"], "Ours": ["0.75", "0.10"]})
    published = notebook("30 runs\nsame 1.5\n", first)
    rerun = notebook("5 runs\nsame 1.5\n", second, injected=True)
    pairs, alone = compare_runs(published, rerun)
    assert pairs.to_numpy().tolist() == [
        ["# runs", "30", "5"],
        ["same #", "1.5", "1.5"],
        ["Means \u203a b \u203a Ours", "0.70", "0.75"],
    ]
    assert alone == 3  # two numbers of row a, one of row c


def test_the_picture_takes_the_means_of_the_tables_alone():
    tables = [
        DataFrame({"Case": ["a", "b"], "uLSIF": [f"{mean} ± 0.01", "0.70 ± 0.20"]})
        for mean in ("0.50", "0.75")
    ]
    published, rerun = (notebook("0.3\n", table, caption="Our Table 2") for table in tables)
    means = {("a", "uLSIF"): (0.5, 0.75), ("b", "uLSIF"): (0.7, 0.7)}
    assert table_means(published, rerun) == means
