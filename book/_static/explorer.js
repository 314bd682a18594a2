// Explorers of stored results. Each finds its data in its own element and draws with SVG.
document.addEventListener("DOMContentLoaded", () => {
  const svgNames = "http://www.w3.org/2000/svg";
  const draw = (tag, attributes) => {
    const element = document.createElementNS(svgNames, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  };
  const signed = (x) => (x < 0 ? "−" : "+") + Math.abs(x).toFixed(2);
  // A labelled list of choices; arrow keys move in it as in every list of a browser.
  const chooser = (box, title, names, start, redraw) => {
    const select = document.createElement("select");
    select.append(...names.map((name, i) => new Option(name, i, false, i === start)));
    const label = document.createElement("label");
    label.append(`${title} `, select);
    box.append(label);
    select.addEventListener("input", redraw);
    return () => Number(select.value);
  };
  const frame = (box, width, height) => {
    const answer = document.createElement("p");
    answer.setAttribute("aria-live", "polite");
    const picture = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });
    box.append(answer, picture);
    return (sentence, shapes) => {
      answer.textContent = sentence;
      picture.setAttribute("aria-label", sentence);
      picture.replaceChildren(draw("rect", { width, height, fill: "#fff" }), ...shapes);
    };
  };

  const shift = document.getElementById("ddr-shift");
  if (shift) {
    const data = JSON.parse(shift.querySelector("script").textContent);
    const [left, right, bottom, top] = data.window;
    const scale = 50;
    const at = ([x, y]) => [(x - left) * scale, (top - y) * scale];
    const redraw = () => {
      const [s, w, m] = [strength(), width(), method()];
      const state = data.states[`${s}/${w}/${m}`];
      const { x, y } = data.samples[s];
      const marks = x.map((point, i) => {
        const [cx, cy] = at(point);
        const r = Math.max(1.2, 4.5 * Math.sqrt(state.weights[i]));
        const look = { "fill-opacity": 0.6, fill: y[i] === 1 ? "#0072B2" : "#E69F00" };
        return y[i] === 1
          ? draw("circle", { cx, cy, r, ...look })
          : draw("path", { d: `M${cx} ${cy - 1.2 * r}l${1.1 * r} ${1.9 * r}h${-2.2 * r}z`, ...look });
      });
      const lines = state.lines.map((line) =>
        draw("polyline", { points: line.map((p) => at(p).join()).join(" "), fill: "none", stroke: "#000", "stroke-width": 2.5 }),
      );
      show(
        `${data.methods[m]}: ${state.accuracy} % of the test points are right (mean of several draws). ` +
          `The ${x.length} training points weigh as much as ${state.size}. ` +
          `Circles are class 1, triangles class 2; their size is the weight, the line is the learned boundary.`,
        [...marks, ...lines],
      );
    };
    const strengths = data.strengths.map((s) => (s === 0 ? "none" : s === 1 ? "as in the paper" : `${100 * s} % of it`));
    const strength = chooser(shift, "Shift:", strengths, data.strengths.length - 1, redraw);
    const width = chooser(shift, "Kernel width:", data.widths.map(String), 2, redraw);
    const method = chooser(shift, "Weights:", data.methods, 2, redraw);
    const show = frame(shift, (right - left) * scale, (top - bottom) * scale);
    redraw();
  }

  const choices = document.getElementById("ddr-choices");
  if (choices) {
    const data = JSON.parse(choices.querySelector("script").textContent);
    const ends = data.choices.flatMap((c) => Object.values(c.gains).flatMap((g) => g ?? []));
    const [low, high] = [Math.min(0, ...ends), Math.max(0, ...ends)];
    // Drawn for the width at hand, so that a phone does not shrink the letters.
    const room = Math.max(320, Math.min(600, choices.clientWidth));
    const across = (gain) => 20 + ((gain - low) / (high - low)) * (room - 40);
    const redraw = () => {
      const chosen = data.choices[choice()];
      const shapes = [];
      const sentences = [];
      Object.entries(chosen.gains).forEach(([table, gain], i) => {
        const y = 36 + 62 * i;
        const name = draw("text", { x: 8, y: y - 16, "font-size": 15 });
        name.textContent = gain ? `${table}: ${signed(gain[0])}` : `${table}: not affected`;
        shapes.push(name, draw("line", { x1: across(0), x2: across(0), y1: y - 11, y2: y + 19, stroke: "#000" }));
        sentences.push(gain ? `${table} ${signed(gain[0])} points over ${data.rival} and ${signed(gain[3])} over no weights` : `${table} is not affected`);
        const before = data.choices[0].gains[table];
        if (before) shapes.push(draw("line", { x1: across(before[0]), x2: across(before[0]), y1: y - 9, y2: y + 17, stroke: "#666", "stroke-dasharray": "3 3" }));
        if (!gain) return;
        const [from, to] = [across(Math.min(0, gain[0])), across(Math.max(0, gain[0]))];
        shapes.push(draw("rect", { x: from, width: to - from, y: y - 6, height: 20, fill: gain[0] < 0 ? "#D55E00" : "#0072B2" }));
        if (gain[1] !== null) shapes.push(draw("line", { x1: across(gain[1]), x2: across(gain[2]), y1: y + 4, y2: y + 4, stroke: "#000", "stroke-width": 2 }));
      });
      show(`With ${chosen.name}, DDR gains: ${sentences.join("; ")}.`, shapes);
    };
    const choice = chooser(choices, "Changed choice:", data.choices.map((c) => c.name), 0, redraw);
    const show = frame(choices, room, 190);
    redraw();
  }
});
