"""The replication as data: whole, readable by the library, and equal to the evidence."""

import json

import pytest
from companion.evidence.verdicts import judge
from companion.kit import record
from companion.paths import EXPERIMENTS
from paper_runs import complete_runs
from rocrate.rocrate import ROCrate


@pytest.fixture(scope="module")
def runs():
    return complete_runs(n=4)


@pytest.fixture(scope="module")
def crate(runs, tmp_path_factory):
    path = tmp_path_factory.mktemp("crate") / "made" / "replication.zip"
    record.write_record(path, runs)
    return ROCrate(path)


def test_every_reference_inside_it_resolves(crate):
    graph = crate.metadata.generate()["@graph"]
    known = {entity["@id"] for entity in graph}
    named = set(_references(graph)) - {"https://w3id.org/ro/crate/1.1", record.LICENCE}
    named = {each for each in named if not each.startswith("https://w3id.org/")}
    assert len(known) == len(graph)
    assert named <= known


def _references(node):
    if isinstance(node, list):
        for each in node:
            yield from _references(each)
    elif isinstance(node, dict):
        if set(node) == {"@id"}:
            yield node["@id"]
        for each in node.values():
            yield from _references(each)


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_every_value_has_its_entity(crate, runs, experiment):
    values = judge(runs, experiment).values
    entities = crate.get(f"{experiment}-matched.csv")["about"]
    assert len(entities) == len(values)
    for entity, row in zip(entities, values.itertuples(), strict=True):
        assert entity["value"] == pytest.approx(row.mean, abs=1e-6)
        assert entity["description"].endswith(f"; {row.value}")
        assert str(row.paper_mean) in entity["description"]
    json.dumps([entity.as_jsonld() for entity in entities], allow_nan=False)
