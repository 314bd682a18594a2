"""The bundled data are the right tables, whole, and the mixture is the one of the paper."""

import numpy as np
import pytest
from scipy import stats

from ddr.paper import datasets
from ddr.paper.datasets import FourClusters, load
from ddr.paper.mixture import MEANS

USPS_COUNTS = [1553, 1269, 929, 824, 852, 716, 834, 792, 708, 821]


@pytest.mark.parametrize(
    ("name", "shape", "negative", "positive", "low", "high"),
    [
        ("GermanCredit", (1000, 24), 300, 700, 0, 184),
        ("DelveSplice", (3175, 60), 1527, 1648, 1, 4),
        ("Ionosphere", (351, 34), 126, 225, -1, 1),
        ("Australian", (690, 14), 383, 307, 0, 100001),
        ("BreastCancer", (683, 9), 444, 239, 1, 10),
        ("Diabete", (768, 8), 500, 268, 0, 846),
    ],
)
def test_known_facts_of_the_small_sets(name, shape, negative, positive, low, high):
    table = load(name)
    assert table.X.shape == shape
    assert table.X.dtype == np.float64
    assert ((table.y == -1).sum(), (table.y == 1).sum()) == (negative, positive)
    assert (table.X.min(), table.X.max()) == (low, high)


def test_first_rows_are_those_of_the_sources():
    german = [1, 6, 4, 12, 5, 5, 3, 4, 1, 67, 3, 2, 1, 2, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1]
    assert load("GermanCredit").X[0].tolist() == german
    assert load("Diabete").X[0].tolist() == [6, 148, 72, 35, 0, 33.6, 0.627, 50]
    assert load("BreastCancer").X[0].tolist() == [5, 1, 1, 1, 2, 1, 3, 1, 1]
    assert load("Ionosphere").X[0, :4].tolist() == [1, 0, 0.99539, -0.05889]


def test_usps_digits():
    table, pair = load("USPS"), load("USPS3v8")
    assert table.X.shape == (9298, 256)
    assert np.bincount(table.y).tolist() == USPS_COUNTS
    assert -1 <= table.X.min() < -0.999
    assert 0.999 < table.X.max() <= 1
    assert pair.name == "USPS3v8"
    assert np.array_equal(pair.X[pair.y == -1], table.X[table.y == 3])
    assert np.array_equal(pair.X[pair.y == 1], table.X[table.y == 8])


def test_mnist_is_the_start_of_the_training_file():
    table = load("MNIST")
    assert table.X.shape == (20000, 784)
    assert table.X.dtype == np.uint8
    assert table.y[:10].tolist() == [5, 0, 4, 1, 9, 2, 1, 3, 1, 4]
    assert (table.X.min(), table.X.max()) == (0, 255)
    assert np.bincount(table.y).tolist()[:3] == [1994, 2281, 1929]


@pytest.mark.parametrize("name", datasets.names())
def test_every_set_says_what_it_is(name):
    table = load(name)
    assert table.name == name
    entry = datasets.manifest()["datasets"][name]
    for text in (entry["description"], entry["licence"], entry["citation"]):
        assert len(text) > 8
    assert set(np.unique(table.y)) == set(table.labels)
    if table.feature_names is not None:
        assert len(set(table.feature_names)) == table.X.shape[1]
    assert not table.X.flags.writeable


@pytest.mark.parametrize("damage", ["flip", "cut", "missing"])
@pytest.mark.hardening("damage")
def test_a_damaged_file_is_named_with_its_remedy(tmp_path, monkeypatch, damage):
    content = bytearray((datasets.DATA_FOLDER / "ionosphere.npz").read_bytes())
    content[len(content) // 2] ^= 1
    if damage != "missing":
        (tmp_path / "ionosphere.npz").write_bytes(content[:500] if damage == "cut" else content)
    monkeypatch.setattr(datasets, "DATA_FOLDER", tmp_path)
    datasets._load.cache_clear()
    kind = "missing" if damage == "missing" else "damaged"
    said = rf"ionosphere\.npz of Ionosphere is {kind}; restore it from git"
    with pytest.raises(datasets.DataFileError, match=said):
        load("Ionosphere")
    monkeypatch.undo()
    assert load("Ionosphere").X.shape == (351, 34)


def test_mixture_is_that_of_the_papers_table():
    mixture = FourClusters()
    assert mixture.prior_ratio([1, 2]) == pytest.approx([1.2, 0.8])
    # At a cluster's centre its own Gaussian is 1 / (2 pi); the others are exp(-9/2) and so on.
    at_left_top = 0.9 + 0.1 * np.exp(-9 / 2)
    assert mixture.class_density(MEANS[0, :1], 1)[0] == pytest.approx(at_left_top / (2 * np.pi))
    assert mixture.class_density([[4.0, 1.0]], 2, "test")[0] == pytest.approx(
        (0.5 + 0.5 * np.exp(-9 / 2)) / (2 * np.pi)
    )


def test_ratios_and_posteriors_agree_with_their_definitions():
    mixture = FourClusters()
    X, y = mixture.sample(500, "train", 3)
    densities = {d: mixture.density(X, d) for d in ("train", "test")}
    np.testing.assert_allclose(mixture.marginal_ratio(X), densities["test"] / densities["train"])
    joint = {
        d: mixture.class_density(X, y, d) * np.array(getattr(mixture, f"{d}_priors"))[y - 1]
        for d in ("train", "test")
    }
    np.testing.assert_allclose(mixture.joint_ratio(X, y), joint["test"] / joint["train"])
    for domain in ("train", "test"):
        posterior = mixture.posterior(X, domain)
        np.testing.assert_allclose(posterior.sum(axis=1), 1)
        picked = posterior[np.arange(len(y)), y - 1]
        np.testing.assert_allclose(picked, joint[domain] / densities[domain])
        assert np.array_equal(mixture.bayes_predict(X, domain), posterior.argmax(axis=1) + 1)


@pytest.mark.parametrize("domain", ["train", "test"])
def test_samples_fit_the_stated_mixture(domain):
    mixture = FourClusters()
    X, y = mixture.sample(20_000, domain, 11)
    priors = np.array(getattr(mixture, f"{domain}_priors"))
    mixing = np.array(getattr(mixture, f"{domain}_mixing"))
    assert stats.chisquare(np.bincount(y)[1:], priors * len(y)).pvalue > 1e-3
    for row in (0, 1):
        points = X[y == row + 1]
        for axis in (0, 1):
            centres = MEANS[row, :, axis]

            def cdf(t, centres=centres, row=row):
                return mixing[row] @ stats.norm.cdf(t - centres[:, None])

            assert stats.kstest(points[:, axis], cdf).pvalue > 1e-3
