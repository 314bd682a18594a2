// The live figure: the reader moves the clusters of a mixture and sees what three methods make of it.
// What is computed stands in live_math.js. A page asks for it by <div class="ddr-live">, data-small for four panels.
(() => {
  "use strict";
  const math = globalThis.ddrMath;
  const [N_TRAIN, N_TEST, N_CENTERS, MAX_ITER, LAM, OTHERS] = [300, 500, 50, 10, 0.1, 30];
  const WINDOW = [-2.5, 7.5, -1.5, 7.5]; // left, right, bottom, top
  // A state is a row of numbers: a link can hold it, and one glides into the next. A world takes eleven:
  // share of class 1, shares of the left cluster in either class, four centres.
  const AT = { train: 0, test: 11, sigma: 22, clip: 23, seed: 24, round: 25 };
  const WHERE_IT_STOPS = -1;
  const CLIPS = ["coefficients", "ratio"];
  const WORLDS = { train: "Training", test: "Test" };
  const CLUSTERS = ["class 1, left", "class 1, right", "class 2, left", "class 2, right"];
  const METHODS = { none: "No weights", plain: "Plain ratio", ddr: "DDR" };

  const apart = [1, 5, 4, 5, 1, 1, 4, 1];
  const near = [1, 4.5, 4, 4.5, 1, 1.5, 4, 1.5];
  const preset = (name, point, train, test) => ({ name, point, state: [...train, ...test, 1, 0, 1, WHERE_IT_STOPS] });
  const PRESETS = [
    preset(
      "A strong shift",
      "In training, class 1 lies left and class 2 right; in the test sample it is the other way round.",
      [0.5, 0.9, 0.1, ...near],
      [0.6, 0.1, 0.9, ...near],
    ),
    preset(
      "The paper's mixture",
      "Table 1 of the paper: the same shift, milder, and classes that are easy to tell apart. Little is left to gain.",
      [0.5, 0.9, 0.1, ...apart],
      [0.6, 0.5, 0.5, ...apart],
    ),
    preset(
      "No shift",
      "Weights of one would be right. What the methods make of chance alone is what weighting costs.",
      [0.5, 0.5, 0.5, ...near],
      [0.5, 0.5, 0.5, ...near],
    ),
    preset(
      "Only shares change",
      "The classes lie where they were, but class 1 is now 90 % of the test sample. DDR gains, and its rule stops it too early.",
      [0.5, 0.5, 0.5, ...near],
      [0.9, 0.5, 0.5, ...near],
    ),
    preset(
      "Self-training fails",
      "One cluster of class 1 moved next to class 2. The first guess gives it to class 2, and every round believes that more.",
      [0.5, 0.3, 0.9, ...apart],
      [0.7, 0.5, 0.5, 1, 5, 5.5, 2, 1, 1, 4, 1],
    ),
    preset(
      "The rule helps",
      "Mutual information falls after the first rounds, the loop stops, and further rounds would have been worse.",
      [0.3, 0.1, 0.7, ...apart],
      [0.7, 0.9, 0.9, 1, 5, 4, 5, 2.5, 3, 4, 1],
    ),
  ];

  const knobsOf = (at) => [
    ["share of class 1", at, 0.05, 0.95, 0.01],
    ["class 1 at the left", at + 1, 0, 1, 0.01],
    ["class 2 at the left", at + 2, 0, 1, 0.01],
  ];
  const WIDTH = ["kernel width", AT.sigma, 0.3, 5, 0.1];
  const LIMITS = [];
  for (const at of [AT.train, AT.test]) {
    for (const [, i, low, high] of knobsOf(at)) LIMITS[i] = [low, high];
    for (let k = 0; k < 8; k++) LIMITS[at + 3 + k] = k % 2 ? [-1, 7] : [-2, 7];
  }
  LIMITS.push([0.3, 5], [0, 1], [1, 9999], [WHERE_IT_STOPS, MAX_ITER]);
  const within = (v, i) => Math.min(Math.max(v, LIMITS[i][0]), LIMITS[i][1]);

  const toHash = (state) => `#live=${state.map((v) => Number(v.toFixed(3))).join(",")}`;
  function fromHash(hash) {
    const values = (hash.match(/^#live=([-\d.,]+)$/)?.[1] ?? "").split(",").map(parseFloat);
    if (values.length !== LIMITS.length || !values.every(Number.isFinite)) return null;
    return values.map((v, i) => within(i > AT.sigma ? Math.round(v) : v, i));
  }

  const worldOf = (state, at) => ({
    prior: state[at],
    left: state.slice(at + 1, at + 3),
    centers: [3, 5, 7, 9].map((k) => state.slice(at + k, at + k + 2)),
  });
  const drawn = new Map(); // the chance of each sample, by seed
  function chanceOf(n, seed) {
    if (!drawn.has(seed)) drawn.set(seed, math.chance(n, seed));
    return drawn.get(seed);
  }

  // Everything that a state decides.
  function compute(state, seed = state[AT.seed]) {
    const [trainWorld, testWorld] = [worldOf(state, AT.train), worldOf(state, AT.test)];
    const train = math.sample(trainWorld, chanceOf(N_TRAIN, 2 * seed));
    const test = math.sample(testWorld, chanceOf(N_TEST, 2 * seed + 1));
    const options = { sigma: state[AT.sigma], lam: LAM, clip: CLIPS[state[AT.clip]], nCenters: N_CENTERS, maxIter: MAX_ITER };
    const found = math.compare({ train, test, ...options });
    const round = state[AT.round] === WHERE_IT_STOPS ? found.kept : state[AT.round];
    const best = math.bestLogOdds(testWorld);
    const ddr = found.states[round];
    return { ...found, options, train, test, ddr, round, best, ceiling: math.accuracy(best, test) };
  }

  const percent = (v) => `${(100 * v).toFixed(1)} %`;

  // What one sees, in words; every number is computed.
  function sentence({ none, plain, ddr, states, kept, fall, ceiling }, small) {
    const [start, end, last] = [states[0], states[kept], states.at(-1)];
    const rule = fall
      ? ` Mutual information falls in round ${fall}, so round ${kept} is kept; round ${MAX_ITER} would be right on ${percent(last.accuracy)}.`
      : ` Mutual information does not fall at any round up to ${MAX_ITER}; round ${kept} is kept.`;
    const trap =
      end.accuracy < start.accuracy && end.information > start.information
        ? ` It rose from ${start.information.toFixed(2)} to ${end.information.toFixed(2)} while DDR got worse: it cannot see errors.`
        : "";
    const right =
      `DDR is right on ${percent(ddr.accuracy)} of the test points, the plain ratio on ${percent(plain.accuracy)}, no weights on ` +
      `${percent(none.accuracy)}; the best boundary on ${percent(ceiling)}${ddr.accuracy > ceiling ? ", which DDR passes by luck" : ""}.`;
    return small ? right : right + rule + trap;
  }

  // A canvas in points of the screen, with the colours of the theme and the way from data to screen.
  function pen(canvas) {
    const [width, height, scale] = [canvas.clientWidth, canvas.clientHeight, devicePixelRatio || 1];
    [canvas.width, canvas.height] = [width * scale, height * scale];
    const look = getComputedStyle(canvas);
    const context = canvas.getContext("2d");
    context.scale(scale, scale);
    context.font = "12px sans-serif";
    const [left, right, bottom, top] = WINDOW;
    const at = ([x, y]) => [((x - left) / (right - left)) * width, ((top - y) / (top - bottom)) * height];
    return Object.assign(context, { at, width, height, color: (name) => look.getPropertyValue(`--live-${name}`) });
  }

  function drawPoints(c, { x, y }, radius) {
    for (const k of [0, 1]) {
      c.fillStyle = c.color(k ? "two" : "one");
      c.beginPath();
      y.forEach((own, i) => {
        if (own !== k) return;
        const [[a, b], r] = [c.at([x[2 * i], x[2 * i + 1]]), radius(i)];
        c.moveTo(a + (k ? 0 : r), b - (k ? 1.2 * r : 0));
        if (k === 0) return c.arc(a, b, r, 0, 7);
        c.lineTo(a + 1.1 * r, b + 0.7 * r);
        c.lineTo(a - 1.1 * r, b + 0.7 * r);
      });
      c.globalAlpha = 0.6;
      c.fill();
    }
    c.globalAlpha = 1;
  }

  function drawLine(c, pieces, color, dash, width) {
    c.beginPath();
    for (const [from, to] of pieces) (c.moveTo(...c.at(from)), c.lineTo(...c.at(to)));
    Object.assign(c, { strokeStyle: c.color(color), lineWidth: width });
    c.setLineDash(dash);
    c.stroke();
    c.setLineDash([]);
  }

  // Mutual information and accuracy, round by round; pale after the round in which the loop stops.
  function drawRounds(c, { states, round, fall }) {
    const across = (t) => 16 + (t / MAX_ITER) * (c.width - 32);
    const write = (text, x, y) => ((c.fillStyle = c.color("text")), c.fillText(text, x, y));
    const draw = (values, title, top, height, mark) => {
      const [low, high] = [Math.min(...values), Math.max(...values)];
      const place = (t) => [across(t), top + height * (1 - (values[t] - low) / (high - low || 1))];
      if (mark) write("falls", across(mark) - 12, place(mark)[1] + 20);
      write(title, 8, top - 14);
      values.forEach((_, t) => {
        c.globalAlpha = t > (fall ?? MAX_ITER) ? 0.3 : 1;
        c.strokeStyle = c.color("text");
        c.beginPath();
        if (t > 0) (c.moveTo(...place(t - 1)), c.lineTo(...place(t)), c.stroke(), c.beginPath());
        c.arc(...place(t), t === round ? 6 : 3, 0, 7);
        c.fillStyle = c.color(t === round ? "ddr" : "text");
        c.fill();
      });
      c.globalAlpha = 1;
    };
    const half = c.height / 2;
    const [information, right] = ["information", "accuracy"].map((key) => states.map((state) => state[key]));
    draw(information, `information ${information[round].toFixed(3)}, round ${round}`, 34, half - 70, fall);
    draw(right, `right ${percent(right[round])}, round ${round}`, half + 34, half - 50);
  }

  const captioned = (name) => (found) => `${percent(found[name].accuracy)} right, worth ${found[name].size.toFixed(0)} of ${N_TRAIN} points`;
  const PANELS = {
    train: ["Training", () => `${N_TRAIN} labelled points`],
    test: ["Test", () => `${N_TEST} points, classes unseen`],
    rounds: ["Rounds of DDR", ({ kept }) => `mutual information, accuracy; ${kept} is kept`],
    ...Object.fromEntries(Object.entries(METHODS).map(([name, title]) => [name, [title, captioned(name)]])),
  };

  function drawPanel(name, canvas, found) {
    const c = pen(canvas);
    const { train, test, best } = found;
    if (name === "rounds") return drawRounds(c, found);
    if (name in WORLDS) return drawPoints(c, found[name], () => 2.2);
    const method = found[name];
    const mean = N_TRAIN / method.weights.reduce((total, w) => total + w, 0);
    drawPoints(c, train, (i) => 2.6 * Math.sqrt(method.weights[i] * mean));
    drawLine(c, found.bestLine, "text", [2, 5], 2);
    drawLine(c, math.zeroLine(math.logOdds(method.model), WINDOW, 40), name, [], 3);
  }

  const button = (text, data) => `<button type="button" ${data}>${text}</button>`;
  const slider = ([label, i, low, high, step]) =>
    `<label>${label} <output></output><input type="range" data-knob="${i}" min="${low}" max="${high}" step="${step}"></label>`;
  const handles = (world) =>
    CLUSTERS.map((name, k) => button(name[6], `class="live-handle live-class-${name[6]}" data-at="${AT[world] + 3 + 2 * k}"`)).join("");
  const panel = (name) =>
    `<div class="live-panel" data-panel="${name}"><p><b class="live-${name}">${PANELS[name][0]}</b><br><span></span></p>` +
    `<div class="live-stage"><canvas role="img"></canvas>${name in WORLDS ? handles(name) : ""}</div></div>`;
  const controls = () =>
    Object.entries(WORLDS).map(([at, title]) => `<fieldset><legend>${title}</legend>${knobsOf(AT[at]).map(slider).join("")}</fieldset>`).join("") +
    `<fieldset><legend>Method</legend>${slider(WIDTH)}
    <label>clipped at zero <select data-knob="${AT.clip}">${CLIPS.map((name, i) => `<option value="${i}">the ${name}</option>`).join("")}</select></label>
    ${slider(["round of DDR", AT.round, 0, MAX_ITER, 1])}</fieldset>`;
  const skeleton = (small) => {
    const ends = `<a href="#">${small ? "All knobs" : "Link to what is shown"}</a>`;
    return `
    <div class="live-buttons" role="group" aria-label="Examples">${PRESETS.map((p, i) => button(p.name, `data-preset="${i}"`)).join("")}
      ${small ? ends : ""}</div>
    <p><span class="live-point"></span> Drag the numbered centres, or use the arrow keys. A training point is as large as its weight;
      a line is what is learned, the dotted line the best boundary.</p>
    <div class="live-panels">${(small ? ["test", "none", "plain", "ddr"] : Object.keys(PANELS)).map(panel).join("")}</div>
    <p class="live-sentence" aria-live="polite"></p><p class="live-others"></p>
    ${small ? "" : `<div class="live-controls">${controls()}</div>
    <div class="live-buttons">${button("New sample", "data-new")} ${button("Stop by the rule", "data-rule")} ${ends}</div>`}`;
  };

  function start(box) {
    const small = box.hasAttribute("data-small");
    box.innerHTML = skeleton(small);
    const all = (selector) => [...box.querySelectorAll(selector)];
    const one = (selector) => box.querySelector(selector);
    let state = (!small && fromHash(location.hash)) || [...PRESETS[0].state];
    let [waiting, later, gliding] = [0, 0, 0];

    function show() {
      waiting = 0;
      const found = compute(state);
      found.bestLine = math.zeroLine(found.best, WINDOW, 40);
      for (const each of all("[data-panel]")) {
        const [name, canvas] = [each.dataset.panel, each.querySelector("canvas")];
        each.querySelector("span").textContent = PANELS[name][1](found);
        canvas.setAttribute("aria-label", `${PANELS[name][0]}: ${PANELS[name][1](found)}`);
        drawPanel(name, canvas, found);
      }
      one(".live-sentence").textContent = sentence(found, small);
      showState(found.round);
      clearTimeout(later);
      later = setTimeout(settled, 400);
    }
    const redraw = () => (waiting ||= requestAnimationFrame(show));

    function showState(round) {
      for (const handle of all("[data-at]")) {
        const at = Number(handle.dataset.at);
        const [x, y] = [state[at], state[at + 1]];
        handle.style.left = `${((x - WINDOW[0]) / (WINDOW[1] - WINDOW[0])) * 100}%`;
        handle.style.top = `${((WINDOW[3] - y) / (WINDOW[3] - WINDOW[2])) * 100}%`;
        const [world, k] = [at < AT.test ? "Training" : "Test", (at - 3) % 11 >> 1];
        handle.setAttribute("aria-label", `${world} centre of ${CLUSTERS[k]}: ${x.toFixed(1)}, ${y.toFixed(1)}`);
      }
      for (const knob of all("[data-knob]")) {
        const i = Number(knob.dataset.knob);
        knob.value = i === AT.round ? round : state[i];
        if (knob.type === "range") knob.previousElementSibling.value = i < AT.sigma ? `${Math.round(100 * state[i])} %` : knob.value;
      }
      const place = PRESETS.findIndex((p) => p.state.every((v, i) => i >= AT.seed || Math.abs(v - state[i]) < 1e-9));
      all("[data-preset]").forEach((each, i) => each.setAttribute("aria-pressed", i === place));
      one("[data-rule]")?.setAttribute("aria-pressed", state[AT.round] === WHERE_IT_STOPS);
      one(".live-point").textContent = place < 0 ? "A state of your own." : PRESETS[place].point;
      one("a").href = (small ? "live.html" : "") + toHash(state);
    }

    // When the reader pauses: the same worlds, sampled again and again.
    function settled() {
      box.removeAttribute("aria-busy");
      const totals = [0, 0, 0, 0, 0];
      let seed = state[AT.seed];
      const next = () => {
        const { none, plain, ddr, ceiling } = compute(state, ++seed);
        const values = [none.accuracy, plain.accuracy, ddr.accuracy, ceiling, ddr.accuracy > plain.accuracy];
        values.forEach((v, i) => (totals[i] += v / OTHERS));
        if (seed < state[AT.seed] + OTHERS) return (later = setTimeout(next));
        const [a, b, c, best, ahead] = totals;
        one(".live-others").textContent =
          `Mean of ${OTHERS} other samples: no weights ${percent(a)}, plain ratio ${percent(b)}, DDR ${percent(c)}, ` +
          `best boundary ${percent(best)}; DDR beats the plain ratio in ${Math.round(ahead * OTHERS)}.`;
      };
      later = setTimeout(next);
    }

    function change(changes) {
      cancelAnimationFrame(gliding);
      for (const [i, v] of Object.entries(changes)) state[i] = within(v, i);
      box.setAttribute("aria-busy", "true");
      redraw();
    }

    function glide(target) {
      const [from, begun] = [[...state], performance.now()];
      const length = matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 500;
      const step = () => {
        const part = length ? Math.min((performance.now() - begun) / length, 1) : 1;
        change(target.map((v, i) => (i < AT.clip ? from[i] + part * (v - from[i]) : v)));
        if (part < 1) gliding = requestAnimationFrame(step);
      };
      step();
    }

    for (const handle of all("[data-at]")) {
      const at = Number(handle.dataset.at);
      handle.addEventListener("pointerdown", (event) => handle.setPointerCapture(event.pointerId));
      handle.addEventListener("pointermove", (event) => {
        if (!handle.hasPointerCapture(event.pointerId)) return;
        const { left, top, width, height } = handle.parentElement.getBoundingClientRect();
        const x = WINDOW[0] + ((event.clientX - left) / width) * (WINDOW[1] - WINDOW[0]);
        change({ [at]: x, [at + 1]: WINDOW[3] - ((event.clientY - top) / height) * (WINDOW[3] - WINDOW[2]) });
      });
      handle.addEventListener("keydown", (event) => {
        const move = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowDown: [1, -1], ArrowUp: [1, 1] }[event.key];
        if (!move) return;
        event.preventDefault();
        change({ [at + move[0]]: state[at + move[0]] + move[1] * (event.shiftKey ? 0.5 : 0.1) });
      });
    }
    for (const knob of all("[data-knob]"))
      knob.addEventListener("input", () => change({ [knob.dataset.knob]: Number(knob.value) }));
    all("[data-preset]").forEach((each, i) => each.addEventListener("click", () => glide(PRESETS[i].state)));
    one("[data-new]")?.addEventListener("click", () => change({ [AT.seed]: (state[AT.seed] % 9000) + OTHERS + 1 }));
    one("[data-rule]")?.addEventListener("click", () => change({ [AT.round]: WHERE_IT_STOPS }));
    if (!small) addEventListener("hashchange", () => change(fromHash(location.hash) ?? state));
    new ResizeObserver(redraw).observe(box);
    new MutationObserver(redraw).observe(document.documentElement, { attributeFilter: ["data-theme"] });
    show();
  }

  for (const box of document.querySelectorAll(".ddr-live:empty")) start(box);
})();
