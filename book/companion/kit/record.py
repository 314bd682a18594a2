"""The replication as data: a Workflow Run RO-Crate of what was computed from what, by what.

It holds every printed value, ours and the verdict; the runs behind them; and for each table the
action that computes and judges the runs, with the SHA-256 of every file.
"""

import datetime
import hashlib
import io
import platform
import subprocess
from importlib.metadata import version
from itertools import product
from pathlib import Path

from rocrate.model.computerlanguage import ComputerLanguage
from rocrate.model.contextentity import ContextEntity
from rocrate.rocrate import ROCrate

from companion.evidence.claims import evaluate_claims
from companion.evidence.printed import table_title
from companion.evidence.verdicts import judge
from companion.paths import BOOK, EXPERIMENTS, PROTOCOLS, ROOT, read_yaml
from ddr import __version__
from ddr.paper.datasets import manifest

PAPER = "https://doi.org/10.1137/1.9781611973440.95"
LICENCE = "https://opensource.org/licenses/MIT"
#: Its profiles, the packages that it names, and what the columns of its tables hold.
_SAID = read_yaml(BOOK / "record.yml")
_BIOSCHEMAS = "https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE"
_DONE = "http://schema.org/CompletedActionStatus"


def write_record(path, results):
    """Write the archive that the scoreboard offers."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(make_crate(results).stream_zip()))


def make_crate(results):
    """Describe tables and claims, and what they were made of by which program."""
    crate = _begin()
    program, data = _program(crate), _data(crate)
    printed = _add_input(crate, BOOK / "paper_values.yml", "The values that the paper prints")
    roles = _add_input(crate, BOOK / "cell_roles.yml", "Which cells a protocol was chosen by")
    all_runs = []
    for experiment, protocol in product(EXPERIMENTS, PROTOCOLS):
        name = f"{experiment}-{protocol}"
        settings = _add_input(crate, BOOK / "protocols" / f"{name}.yml", f"The settings of {name}")
        own = (results["experiment"] == experiment) & (results["protocol"] == protocol)
        runs = _add_table(crate, f"runs/{name}", results[own], f"Each run of {name}")
        values = judge(results, experiment, protocol).values[list(_SAID["columns"])]
        about = f"{table_title(experiment)} beside our runs with {protocol} settings"
        table = _add_table(crate, name, values, about)
        table["variableMeasured"] = [": ".join(column) for column in _SAID["columns"].items()]
        command = f"ddr-book reproduce {experiment} --protocol {protocol}"
        made_of = [settings, printed, roles, *data]
        _add_action(crate, name, command, program, made_of, [table, runs])
        all_runs.append(runs)
    about = "Verdicts on the paper's claims and our questions, as far as runs can test them"
    claims = _add_table(crate, "claims", evaluate_claims(results, live=False), about)
    asked = _add_input(crate, BOOK / "claims.yml", "The claims and questions, and their tests")
    command = "evaluate_claims(results, live=False)"
    _add_action(crate, "claims", command, program, [asked, printed, *all_runs], [claims])
    return crate


def _begin():
    """Begin a crate that says what it is."""
    crate = ROCrate(version="1.1")  # the version that the profiles build on
    crate.metadata.extra_terms["sha256"] = "https://w3id.org/ro/terms/workflow-run#sha256"
    crate.name = "Discriminative density-ratio estimation: a replication"
    crate.description = (
        "Every value that the paper prints, the value measured here, the verdict. Versions and "
        "commit are those by which the runs were judged."
    )
    crate.license = LICENCE
    crate.datePublished = datetime.date.today().isoformat()
    crate.root_dataset["version"] = __version__
    crate.root_dataset["conformsTo"] = [
        _entity(crate, url, "CreativeWork", name, version=url.rpartition("/")[2])
        for url, name in _SAID["profiles"].items()
    ]
    people = "The ddr companion's contributors"
    crate.root_dataset["author"] = _entity(crate, "#contributors", "Organization", people)
    title = "Discriminative Density-ratio Estimation"
    crate.root_dataset["citation"] = _entity(crate, PAPER, "ScholarlyArticle", title)
    return crate


def _program(crate):
    """The program that computes and judges, with the versions of what it stands on."""
    about = {"name": "Python", "version": platform.python_version()}
    needs = [_add_input(crate, ROOT / "requirements.lock", "The exact versions of all packages")]
    for name in _SAID["software"]:
        known, package = version(name), f"pkg:pypi/{name}@{version(name)}"
        entity = _entity(crate, package, "SoftwareApplication", name, version=known, url=package)
        needs.append(entity)
    properties = {"name": "ddr-book", "version": _commit(), "license": LICENCE}
    properties |= {"softwareRequirements": needs, "conformsTo": {"@id": _BIOSCHEMAS}}
    python = crate.add(ComputerLanguage(crate, "https://www.python.org/", about))
    source = ROOT / "book" / "companion" / "runs_commands.py"
    place = f"code/{source.name}"
    return crate.add_workflow(source, place, main=True, lang=python, properties=properties)


def _commit():
    """The commit that is checked out, marked where files differ from it; else our version."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return __version__
    return found.stdout.strip()


def _data(crate):
    """The datasets, not themselves in the crate, by the SHA-256 that the package checks."""
    found = []
    for name, entry in manifest()["datasets"].items():
        about = {"sha256": entry["sha256"], "license": entry["licence"]}
        about["description"] = entry["description"]
        found.append(_entity(crate, f"#data-{entry['file']}", "CreativeWork", name, **about))
    return found


def _add_action(crate, name, command, program, made_of, results):
    """One command: what it was given and what came of it."""
    about = {"name": name, "description": command, "actionStatus": _DONE}
    about["endTime"] = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    about["agent"] = {"@id": crate.root_dataset["author"].id}
    action = crate.add_action(
        program, f"#make-{name}", object=made_of, result=results, properties=about
    )
    crate.root_dataset.append_to("mentions", action)


def _add_input(crate, path, about):
    form = "application/yaml" if path.suffix == ".yml" else "text/plain"
    return _add_file(crate, f"inputs/{path.name}", path.read_bytes(), about, form)


def _add_table(crate, name, table, about):
    data = table.to_csv(index=False).encode()
    return _add_file(crate, f"{name}.csv", data, about, "text/csv")


def _add_file(crate, place, data, about, form):
    properties = {"name": about, "encodingFormat": form, "license": LICENCE}
    properties["sha256"] = hashlib.sha256(data).hexdigest()
    return crate.add_file(io.BytesIO(data), place, properties=properties)


def _entity(crate, identifier, kind, name, **more):
    return crate.add(ContextEntity(crate, identifier, {"@type": kind, "name": name, **more}))
