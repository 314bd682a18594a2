"""The replication as data: an RO-Crate with every printed value, ours, and the verdict."""

import datetime
import io
from itertools import product
from pathlib import Path

from rocrate.model.contextentity import ContextEntity
from rocrate.rocrate import ROCrate

from companion.evidence.claims import evaluate_claims
from companion.evidence.printed import table_title
from companion.evidence.verdicts import judge
from companion.paths import EXPERIMENTS, PROTOCOLS
from ddr import __version__

PAPER = "https://doi.org/10.1137/1.9781611973440.95"
LICENCE = "https://opensource.org/licenses/MIT"
_COLUMNS = {
    "case": "row of the paper's table",
    "method": "column of the paper's table",
    "paper_mean": "accuracy that the paper prints",
    "paper_sd": "standard deviation that it prints",
    "mean": "our mean accuracy",
    "sd": "our standard deviation",
    "n": "our number of runs",
    "low": "lower end of the 95 % interval of ours minus the paper's",
    "high": "its upper end",
    "value": "verdict: agrees, near or differs",
}


def write_record(path, results):
    """Write the archive that the scoreboard offers."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(make_crate(results).stream_zip()))


def make_crate(results):
    """Describe the tables of values and of claims, and each value as an entity of its own."""
    crate = ROCrate()
    crate.name = "Discriminative density-ratio estimation: a replication"
    crate.description = "Every value that the paper prints, the value measured here, the verdict."
    crate.license = LICENCE
    crate.datePublished = datetime.date.today().isoformat()
    crate.root_dataset["version"] = __version__
    paper = {"@type": "ScholarlyArticle", "name": "Discriminative Density-ratio Estimation"}
    crate.root_dataset["citation"] = crate.add(ContextEntity(crate, PAPER, paper))
    measured = [_property(crate, f"column-{c}", c, about) for c, about in _COLUMNS.items()]
    for experiment, protocol in product(EXPERIMENTS, PROTOCOLS):
        name, values = f"{experiment}-{protocol}", judge(results, experiment, protocol).values
        about = f"{table_title(experiment)} beside our runs with {protocol} settings"
        file = _add_table(crate, name, values[list(_COLUMNS)], about)
        file["variableMeasured"] = measured
        file["about"] = [_value(crate, f"{name}-{row.Index}", row) for row in values.itertuples()]
    about = "Verdicts on the paper's claims and our questions, as far as runs can test them"
    _add_table(crate, "claims", evaluate_claims(results, live=False), about)
    return crate


def _add_table(crate, name, table, about):
    properties = {"name": about, "encodingFormat": "text/csv", "license": LICENCE}
    return crate.add_file(
        io.StringIO(table.to_csv(index=False)), f"{name}.csv", properties=properties
    )


def _value(crate, name, row):
    """One value: ours as the value, the printed one and the verdict in words."""
    about = f"printed {row.paper_mean} ± {row.paper_sd}; {row.value}"
    title = f"accuracy of {row.method}, {row.case}"
    return _property(crate, name, title, about, value=round(row.mean, 6))


def _property(crate, identifier, name, about, **more):
    properties = {"@type": "PropertyValue", "name": name, "description": about, **more}
    return crate.add(ContextEntity(crate, f"#{identifier}", properties))
