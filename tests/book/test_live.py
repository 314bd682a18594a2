"""The live figure: its JavaScript computes what `ddr` computes, and its page reacts to the reader.

The page is made here around the scripts, so that nothing needs to be built.
"""

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from ddr import ULSIF, effective_sample_size
from ddr.paper import fit_three
from ddr.paper.mixture import FourClusters

pytestmark = pytest.mark.browser
STATIC = Path(__file__).resolve().parents[2] / "book" / "_static"
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Live</title>
<link rel="stylesheet" href="{0}/live.css"><div class="ddr-live" {1}></div>
<script src="{0}/live_math.js"></script><script src="{0}/live.js"></script></html>"""
N_PROBLEMS = 10
# Draws a problem in the page from a seed, and gives everything that Python needs to solve it too.
DRAW = """([seed, nTrain, nTest, nCenters]) => {
  const chance = ddrMath.chance(20, seed).flatMap(({ first, left }) => [first, left]);
  const world = (at) => ({
    prior: 0.2 + 0.6 * chance[at],
    left: [chance[at + 1], chance[at + 2]],
    centers: [1, 5, 4, 5, 1, 1, 4, 1].map((v, k) => v + 2 * chance[at + 3 + k] - 1)
      .reduce((pairs, v, k) => (k % 2 ? (pairs.at(-1).push(v), pairs) : [...pairs, [v]]), []),
  });
  const [trainWorld, testWorld] = [world(0), world(11)];
  const train = ddrMath.sample(trainWorld, ddrMath.chance(nTrain, seed + 1000));
  const test = ddrMath.sample(testWorld, ddrMath.chance(nTest, seed + 2000));
  const settings = { sigma: 0.6 + 2 * chance[22], lam: 0.05 + chance[23],
                     clip: seed % 2 ? "coefficients" : "ratio" };
  const found = ddrMath.compare({ train, test, ...settings, nCenters, maxIter: 10 });
  const grid = Array.from({ length: 400 }, (_, i) => [(i % 20) / 2 - 2, (i - (i % 20)) / 40 - 1]);
  const told = (state) => ({ ...state, grid: [...ddrMath.posteriors(state.model, grid.flat())] });
  const [none, plain, ...states] = [found.none, found.plain, ...found.states].map(told);
  const plane = (data) => ({ X: [...data.x], y: [...data.y] });
  return { train: plane(train), test: plane(test), grid, settings, none, plain, states,
           kept: found.kept, fall: found.fall };
}"""


@pytest.fixture(scope="module")
def tab(chromium, tmp_path_factory):
    page = chromium.new_page(viewport={"width": 1200, "height": 1000}, reduced_motion="reduce")
    page.troubles = []
    page.on("pageerror", lambda error: page.troubles.append(str(error)))
    page.on("request", lambda r: r.url.startswith("file:") or page.troubles.append(r.url))
    folder = tmp_path_factory.mktemp("live")

    def show(size="", hash=""):
        path = folder / f"live{size}.html"
        path.write_text(PAGE.format(STATIC.as_uri(), size), encoding="utf-8")
        page.goto("about:blank")
        page.goto(path.as_uri() + hash)

    page.show = show
    yield page
    page.close()
    assert page.troubles == []


@pytest.fixture(scope="module")
def problems(tab):
    tab.show()
    return [tab.evaluate(DRAW, [seed, 120, 150, 40]) for seed in range(N_PROBLEMS)]


def agrees(shown, computed, X, y, grid):
    """Check a state of the page: its weights, its boundary and its accuracy."""
    model, weights = computed.model, computed.weights
    np.testing.assert_allclose(shown["weights"], weights, rtol=0, atol=1e-8)
    np.testing.assert_allclose(shown["grid"], model.predict_proba(grid)[:, 0], rtol=0, atol=1e-8)
    assert shown["accuracy"] == pytest.approx(model.score(X, y), abs=1e-8)
    assert shown["size"] == pytest.approx(effective_sample_size(weights), abs=1e-6)


@pytest.mark.parametrize("place", range(N_PROBLEMS))
def test_the_page_computes_what_ddr_computes(problems, place):
    found = problems[place]
    (X, y), (X_test, y_test) = (
        (np.reshape(found[name]["X"], (-1, 2)), np.array(found[name]["y"]))
        for name in ("train", "test")
    )
    ratio = ULSIF(centers=X_test[:40], **found["settings"])
    computed = fit_three(X, y, X_test, GaussianNB(), ratio, max_iter=10)
    data = X_test, y_test, np.array(found["grid"])
    agrees(found["none"], computed["no weights"], *data)
    agrees(found["plain"], computed["plain ratio"], *data)
    ddr = computed["DDR"]
    for shown, state in zip(found["states"], ddr.states, strict=False):  # the page goes on to ten
        agrees(shown, state, *data)
        assert shown["information"] == pytest.approx(state.information, abs=1e-8)
    assert found["kept"] == ddr.kept
    last = len(ddr.states) - 1
    fell = last > 1 and ddr.states[last].information < ddr.states[last - 1].information
    assert found["fall"] == (last if fell else None)
    assert len(found["states"]) == 11


def test_the_ten_problems_stop_in_different_ways(problems):
    assert {problem["settings"]["clip"] for problem in problems} == {"coefficients", "ratio"}
    assert {problem["fall"] is None for problem in problems} == {True, False}


def test_best_boundary_and_samples_are_those_of_the_mixture(tab):
    tab.show()
    centers = [[1, 5], [4, 5], [1, 1], [4, 1]]
    world = {"prior": 0.6, "left": [0.3, 0.8], "centers": centers}
    X = np.random.default_rng(0).normal(2.5, 3, (200, 2))
    odds = tab.evaluate(
        "([world, X]) => X.map(([x, y]) => ddrMath.bestLogOdds(world)(x, y))", [world, X.tolist()]
    )
    mixture = FourClusters(test_priors=(0.6, 0.4), test_mixing=((0.3, 0.7), (0.8, 0.2)))
    posterior = mixture.posterior(X, "test")
    np.testing.assert_allclose(odds, np.log(posterior[:, 0] / posterior[:, 1]), atol=1e-8)
    found = tab.evaluate(
        """(world) => {
          const { x, y } = ddrMath.sample(world, ddrMath.chance(200000, 7));
          return { X: [...x], y };
        }""",
        world,
    )
    X, y = np.reshape(found["X"], (-1, 2)), np.array(found["y"])
    assert np.mean(y == 0) == pytest.approx(0.6, abs=0.005)
    # Class 1 has three tenths of its points in its left cluster, class 2 eight.
    for c, middle in ((0, [0.3 * 1 + 0.7 * 4, 5]), (1, [0.8 * 1 + 0.2 * 4, 1])):
        np.testing.assert_allclose(X[y == c].mean(axis=0), middle, atol=0.03)


def numbers(tab):
    """The accuracies that the sentence names, by method, in percent."""
    text = tab.locator(".live-sentence").inner_text()
    found = re.match(
        r"DDR is right on ([\d.]+) % of the test points, the plain ratio on ([\d.]+) %, no weights "
        r"on ([\d.]+) %; the best boundary on ([\d.]+) %",
        text,
    )
    return dict(zip(("ddr", "plain", "none", "best"), map(float, found.groups()), strict=True))


def settled(tab):
    """Wait for the means over further samples, which come when the reader pauses."""
    tab.wait_for_function("!document.querySelector('[aria-busy]')")
    tab.locator(".live-others").get_by_text("Mean of 30").wait_for()
    found = re.findall(r"([\d.]+) %", tab.locator(".live-others").inner_text())
    return dict(zip(("none", "plain", "ddr", "best"), map(float, found), strict=True))


def preset(tab, name):
    tab.show()
    settled(tab)
    tab.evaluate("document.querySelector('.live-others').textContent = ''")
    tab.get_by_role("button", name=name).click()
    means = settled(tab)
    assert tab.get_by_role("button", name=name).get_attribute("aria-pressed") == "true"
    return means, tab.locator(".live-sentence").inner_text()


def test_every_preset_makes_its_point_in_the_mean_over_samples(tab):
    means, _ = preset(tab, "A strong shift")
    assert means["none"] + 5 < means["plain"] < means["ddr"] - 2 < means["best"]
    means, _ = preset(tab, "The paper's mixture")
    assert means["none"] < means["plain"] < means["ddr"] < means["best"] < means["none"] + 4
    means, _ = preset(tab, "No shift")
    assert max(means.values()) - min(means.values()) < 1
    means, text = preset(tab, "Only shares change")
    assert means["none"] < means["ddr"] < means["best"] - 1
    assert "falls in round 2, so round 1 is kept" in text
    means, text = preset(tab, "Self-training fails")
    assert means["ddr"] < means["none"] - 10
    assert re.search("It rose from .* while DDR got worse: it cannot see errors", text)
    means, text = preset(tab, "The rule helps")
    stopped, further = re.search(
        r"falls in round (\d+).* would be right on ([\d.]+)", text
    ).groups()
    assert int(stopped) < 10
    assert float(further) < numbers(tab)["ddr"]


def test_a_handle_follows_the_mouse_and_the_keys(tab):
    tab.show()
    handle = tab.locator("[data-panel=test] .live-handle").nth(1)
    before, label = numbers(tab), handle.get_attribute("aria-label")
    assert label == "Test centre of class 1, right: 4.0, 4.5"
    box = handle.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    tab.mouse.move(x, y)
    tab.mouse.down()
    tab.mouse.move(x, y + 80, steps=5)
    tab.mouse.up()
    tab.wait_for_function(f"!document.querySelector('[aria-label=\"{label}\"]')")
    assert numbers(tab) != before
    handle.focus()
    place = float(handle.get_attribute("aria-label").split()[-2].rstrip(","))
    handle.press("ArrowLeft")
    handle.press("Shift+ArrowLeft")
    moved = f"right: {place - 0.6:.1f},"
    tab.wait_for_function(
        "moved => document.activeElement.getAttribute('aria-label').includes(moved)", arg=moved
    )


def test_knobs_reach_the_method(tab):
    tab.show()
    link, seen = tab.locator(".ddr-live a"), [numbers(tab)]
    for knob in tab.locator("[data-knob]").all():
        before = link.get_attribute("href")
        if knob.evaluate("knob => knob.type") == "range":
            low, high = (float(knob.get_attribute(end)) for end in ("min", "max"))
            knob.fill(f"{low + 0.3 * (high - low):.1f}")
        else:
            knob.select_option("the ratio")
        moved = "was => document.querySelector('.ddr-live a').getAttribute('href') !== was"
        tab.wait_for_function(moved, arg=before)
        seen.append(numbers(tab))
    assert len({tuple(found.values()) for found in seen}) > len(seen) / 2
    knob.fill("0")  # the last one is DDR's round
    tab.wait_for_function("document.querySelector('.ddr-live a').href.endsWith(',0')")
    assert numbers(tab)["ddr"] == numbers(tab)["none"]
    tab.get_by_role("button", name="Stop by the rule").click()
    tab.wait_for_function("document.querySelector('.ddr-live a').href.endsWith(',-1')")


def test_a_link_keeps_the_state(tab):
    tab.show("data-small")
    tab.get_by_role("button", name="Self-training fails").click()
    settled(tab)
    text, link = tab.locator(".live-sentence").inner_text(), tab.locator(".ddr-live a")
    href = link.get_attribute("href")
    assert href.startswith("live.html#live=")
    tab.show(hash=href.removeprefix("live.html"))
    assert tab.locator(".live-sentence").inner_text().startswith(text)
    tab.show(hash="#live=1,2,nonsense")
    assert tab.get_by_role("button", name="A strong shift").get_attribute("aria-pressed") == "true"


def test_a_finger_drags(chromium, tab):
    context = chromium.new_context(has_touch=True, viewport={"width": 390, "height": 844})
    page = context.new_page()
    tab.show()
    page.goto(tab.url)
    handle = page.locator("[data-panel=test] .live-handle").first
    label, box = handle.get_attribute("aria-label"), handle.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    assert min(box["width"], box["height"]) >= 24
    session = context.new_cdp_session(page)
    for kind, far in (("Start", 0), ("Move", 20), ("Move", 40)):
        points = [{"x": x + far, "y": y}]
        session.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points})
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    page.wait_for_function(f"!document.querySelector('[aria-label=\"{label}\"]')")
    overflow = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert overflow <= 0
    context.close()


def test_a_move_costs_less_than_a_thirtieth_of_a_second(tab):
    """Processor time of the page, as other programs run beside this one."""
    tab.show()
    settled(tab)
    session = tab.context.new_cdp_session(tab)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def spent():
        found = session.send("Performance.getMetrics")["metrics"]
        return {metric["name"]: metric["value"] for metric in found}["TaskDuration"]

    begun = spent()
    tab.evaluate(
        """async () => {
          const knob = document.querySelector("[data-knob]");
          for (let i = 0; i < 60; i++) {
            knob.value = 0.3 + 0.005 * i;
            knob.dispatchEvent(new Event("input"));
            await new Promise(requestAnimationFrame); // which comes after the frame's drawing
          }
        }"""
    )
    assert 0 < (spent() - begun) / 60 < 1 / 30
