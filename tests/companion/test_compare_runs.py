"""A rerun beside the published run: means are paired by case and method, not by their place."""

import nbformat
from companion.evidence.tables import html
from companion.kit import compare_runs
from companion.kit.rerun_page import as_rerun
from companion.paths import RUNS
from pandas import DataFrame


def test_means_are_paired_by_case_and_method(tmp_path, make_notebook):
    def notebook(cases, means):
        cells = [f"{mean} ± 0.01 (near)" for mean in means]
        table = DataFrame({"Case": list(cases), "uLSIF": cells})
        other = DataFrame({"Case": ["a"], "uLSIF": ["0.1"]})
        shown = html(other, "Means"), html(table, "Our Table 2")
        outputs = [nbformat.v4.new_output("display_data", data={"text/html": h}) for h in shown]
        return make_notebook("# T", ("table", {"outputs": outputs}))

    (tmp_path / "notebooks").mkdir()
    (tmp_path / RUNS).mkdir(parents=True)
    nbformat.write(notebook("ab", ("0.50", "0.70")), tmp_path / "notebooks" / "02_x.ipynb")
    assert compare_runs.means_picture(tmp_path) is None
    rerun = as_rerun(notebook("bc", ("0.75", "0.10")), "02_x", "r", {}, 1.0)
    nbformat.write(rerun, tmp_path / RUNS / "02_x-r.ipynb")
    expected = {"02_x-r": {("b", "uLSIF"): (0.70, 0.75)}}
    assert compare_runs.means_beside_published(tmp_path) == expected
    assert compare_runs.means_picture(tmp_path).data.startswith(b"\x89PNG")
    assert "older" not in compare_runs.runs_table(tmp_path).data
    rerun.metadata["ddr"]["run"]["results"] = "those of another day"
    nbformat.write(rerun, tmp_path / RUNS / "02_x-r.ipynb")
    assert "| r, older than the results it shows |" in compare_runs.runs_table(tmp_path).data
