"""The replication as data: an RO-Crate with every printed value, ours, and the verdict."""

import datetime
from pathlib import Path

from rocrate.model.contextentity import ContextEntity
from rocrate.rocrate import ROCrate

from companion.evidence.printed import table_title
from companion.paths import EXPERIMENTS, PROTOCOLS
from ddr import __version__

PAPER = "https://doi.org/10.1137/1.9781611973440.95"
LICENCE = "https://opensource.org/licenses/MIT"
ARCHIVE = "replication.zip"
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


def write(folder, evidence):
    """Write the archive that the scoreboard offers."""
    crate = make_crate(evidence, Path(folder) / "replication")
    path = Path(folder) / ARCHIVE
    crate.write_zip(path)
    return [path]


def make_crate(evidence, folder):
    """Describe the tables of values and of claims, and each value as an entity of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    crate = ROCrate()
    crate.name = "Discriminative density-ratio estimation: a replication"
    crate.description = "Every value that the paper prints, the value measured here, the verdict."
    crate.license = LICENCE
    crate.datePublished = datetime.date.today().isoformat()
    crate.root_dataset["version"] = __version__
    paper = {"@type": "ScholarlyArticle", "name": "Discriminative Density-ratio Estimation"}
    crate.root_dataset["citation"] = crate.add(ContextEntity(crate, PAPER, paper))
    measured = [_column(crate, *column) for column in _COLUMNS.items()]
    for experiment in EXPERIMENTS:
        for protocol in PROTOCOLS:
            values = evidence.verdicts[experiment, protocol].values
            _add_table(crate, folder, values, f"{experiment}-{protocol}", measured)
    claims = folder / "claims.csv"
    evidence.claims.to_csv(claims, index=False)
    _add_file(crate, claims, "Verdicts on the paper's claims and on questions of ours")
    return crate


def _column(crate, name, meaning):
    properties = {"@type": "PropertyValue", "name": name, "description": meaning}
    return crate.add(ContextEntity(crate, f"#column-{name}", properties))


def _add_table(crate, folder, values, name, measured):
    path = folder / f"{name}.csv"
    values[list(_COLUMNS)].to_csv(path, index=False)
    experiment, protocol = name.split("-")
    about = f"{table_title(experiment)} beside our runs with {protocol} settings"
    file = _add_file(crate, path, about)
    file["variableMeasured"] = measured
    file["about"] = [
        crate.add(ContextEntity(crate, f"#{name}-{number}", _value(row)))
        for number, row in enumerate(values.itertuples())
    ]


def _value(row):
    """One value: ours as the value, the printed one and the verdict in words."""
    return {
        "@type": "PropertyValue",
        "name": f"accuracy of {row.method}, {row.case}",
        "description": f"printed {row.paper_mean} ± {row.paper_sd}; {row.value}",
        "value": round(row.mean, 6),
    }


def _add_file(crate, path, about):
    properties = {"name": about, "encodingFormat": "text/csv", "license": LICENCE}
    return crate.add_file(path, dest_path=path.name, properties=properties)
