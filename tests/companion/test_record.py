"""The replication as data: whole, readable by the library, and equal to the evidence."""

import hashlib
import io
import platform
from itertools import product
from zipfile import ZipFile

import pandas as pd
import pytest
import sklearn
from companion.cli import cli
from companion.evidence.verdicts import judge
from companion.kit import record
from companion.paths import EXPERIMENTS, PROTOCOLS, ROOT
from paper_runs import complete_runs
from rocrate.rocrate import ROCrate


@pytest.fixture(scope="module")
def runs():
    return complete_runs(n=4)


@pytest.fixture(scope="module")
def archive(runs, tmp_path_factory):
    path = tmp_path_factory.mktemp("crate") / "made" / "replication.zip"
    record.write_record(path, runs)
    return path


@pytest.fixture(scope="module")
def crate(archive):
    return ROCrate(archive)


def test_every_table_has_the_action_that_made_it(crate):
    actions = crate.get_by_type("CreateAction")
    assert {a.id for a in crate.root_dataset["mentions"]} == {a.id for a in actions}
    made = {result.id: action for action in actions for result in action["result"]}
    for experiment, protocol in product(EXPERIMENTS, PROTOCOLS):
        name = f"{experiment}-{protocol}"
        action = made[f"{name}.csv"]
        assert action == made[f"runs/{name}.csv"]
        assert action["instrument"] == crate.mainEntity
        inputs = {thing.id for thing in action["object"]}
        assert {f"inputs/{name}.yml", "inputs/paper_values.yml"} <= inputs
        command = action["description"].split()
        assert command[0] == "ddr-book"
        cli.commands["reproduce"].make_context("reproduce", command[2:])  # which it understands
    assert made["claims.csv"]["instrument"] == crate.mainEntity


def test_files_hold_the_evidence_and_have_their_sha256(crate, archive, runs):
    with ZipFile(archive) as files:
        contents = {name: files.read(name) for name in files.namelist()}
    known = {e.id: e["sha256"] for e in crate.get_by_type("File") if e.get("sha256")}
    assert known == {name: hashlib.sha256(contents[name]).hexdigest() for name in known}
    made = {name for name in contents if name.endswith((".csv", ".yml", ".lock"))}
    assert set(known) == made
    for experiment, protocol in product(EXPERIMENTS, PROTOCOLS):
        name = f"{experiment}-{protocol}.csv"
        values = pd.read_csv(io.BytesIO(contents[name]))
        judged = judge(runs, experiment, protocol).values.reset_index(drop=True)
        assert values["value"].tolist() == judged["value"].tolist()
        assert values["mean"].tolist() == pytest.approx(judged["mean"].tolist(), nan_ok=True)
        stored = runs[(runs["experiment"] == experiment) & (runs["protocol"] == protocol)]
        rows = pd.read_csv(io.BytesIO(contents[f"runs/{name}"]))
        assert rows["accuracy"].tolist() == pytest.approx(stored["accuracy"].tolist())
    data = [e for e in crate.get_entities() if e.id.startswith("#data-")]
    for entity in data:
        content = (ROOT / "ddr" / "paper" / "data" / entity.id[6:]).read_bytes()
        assert hashlib.sha256(content).hexdigest() == entity["sha256"]
    assert len(data) == 8


def test_programs_and_versions_are_named(crate):
    program = crate.mainEntity
    needs = {thing["name"]: thing for thing in program["softwareRequirements"]}
    assert needs["scikit-learn"]["version"] == sklearn.__version__
    assert program["programmingLanguage"]["version"] == platform.python_version()
    assert program["version"]
