// Python in the page: one worker that runs what a reader asks for, and the buttons that ask.
window.ddrPython = (() => {
  const here = document.currentScript.src;
  const calls = new Map();
  let worker, turn = Promise.resolve(), number = 0, report = () => {};

  const make = (tag, options = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), options);
    element.append(...children);
    return element;
  };
  const button = (textContent, onclick) => make("button", { type: "button", textContent, onclick });
  const absent = () =>
    location.protocol === "file:"
      ? "A page opened from disk may not start Python: type `python -m http.server -d _build/html` and read it over http, or use `ddr-book run`."
      : window.ddrHasPython
        ? ""
        : "This copy of the site came without Python: `make site-python html` adds it, or use `ddr-book run`.";
  const stop = (why) => {
    worker?.terminate();
    worker = undefined;
    for (const { reject } of calls.values()) reject(new Error(why));
    calls.clear();
  };
  // Ask Python for module.function(*args); `code` tells which packages it needs.
  const call = (name, args, code = "") =>
    new Promise((resolve, reject) => {
      if (!worker) {
        worker = new Worker(new URL("python_worker.js", here), { type: "module" });
        worker.onerror = () => stop("Python could not start in this browser.");
        worker.onmessage = ({ data }) => {
          if (data.progress) return report(data.progress);
          const { resolve, reject } = calls.get(data.id);
          calls.delete(data.id);
          if ("error" in data) reject(new Error(data.error));
          else resolve(data.answer);
        };
      }
      calls.set(++number, { resolve, reject });
      worker.postMessage({ id: number, name, args, code });
    });
  // One piece of work at a time; its clock starts once Python is there. Problems end in `status`.
  const session = (work, { status, code, limit = 300, cancel }) => {
    const stopped = (why) => () => stop(why);
    cancel.onclick = stopped("Cancelled.");
    cancel.hidden = false;
    status.textContent = "Waiting for what runs already …";
    turn = turn.then(async () => {
      report = (text) => (status.textContent = text);
      let clock;
      try {
        await call("cells.begin", [], code);
        report("Starting …");
        clock = setTimeout(stopped(`Stopped after ${limit} s, the time limit.`), limit * 1000);
        await work(report);
      } catch (error) {
        status.textContent = error.message;
      } finally {
        clearTimeout(clock);
        cancel.hidden = true;
      }
    });
    return turn;
  };
  const shown = ({ kind, html, text, data }) =>
    kind === "printed" ? make("pre", { innerHTML: html, tabIndex: 0 })
    : kind === "html" ? make("div", { className: "output text_html", innerHTML: html, tabIndex: 0 })
    : kind === "picture" ? make("img", { src: `data:image/png;base64,${data}`, alt: "Figure of this run" })
    : make("p", { className: "ddr-problem", textContent: text });
  return { make, button, absent, call, session, shown };
})();

document.addEventListener("DOMContentLoaded", () => {
  const { make, button, absent, call, session, shown } = window.ddrPython;
  const card = JSON.parse(document.getElementById("ddr-card")?.textContent ?? "null");
  const cells = card?.cells ?? [];
  const places = document.querySelectorAll("article div.cell");
  const seconds = (start) => `${((performance.now() - start) / 1000).toFixed(1)} s`;
  const verdict = ({ failed, moved }) =>
    failed ? "it failed"
    : moved === undefined ? ""
    : moved === 0 ? "the numbers are the published ones"
    : moved === null ? "the words differ from the published ones"
    : `${moved} number${moved > 1 ? "s differ" : " differs"} from the published output (marked)`;
  const result = (answer) => {
    const box = make("div", { className: "ddr-here cell_output" }, ...answer.outputs.map(shown));
    const title = ["Run here", verdict(answer)].filter(Boolean).join(": ");
    box.prepend(make("p", { className: "ddr-here-title", textContent: title }));
    return box;
  };

  // A Run button below a cell or a block of code, with an editable copy.
  const runnable = (place, source, cell) => {
    const before = (cell?.needs ?? []).map((at) => cells.find((each) => each.at === at).source);
    const status = make("span", { role: "status" });
    const output = make("div");
    const cancel = button("Cancel");
    let editor;
    const edit = () => {
      editor = make("textarea", { value: source, spellcheck: false, rows: source.split("\n").length + 1 });
      editor.setAttribute("aria-label", "Editable copy of the code; Ctrl and Enter run it");
      editor.addEventListener("keydown", (event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.shiftKey)) {
          event.preventDefault();
          start();
        }
      });
      box.prepend(editor);
      again.textContent = "Run again";
      again.after(button("Reset", () => (editor.value = source)));
    };
    const start = () => {
      if ((status.textContent = absent())) return;
      if (!editor) edit();
      const code = [...before, editor.value].join("\n");
      session(async (report) => {
        await call("cells.begin", [card?.declarations ?? ""]);
        const began = performance.now();
        for (const each of before) {
          report("Running the cells that this one needs …");
          await call("cells.run", [each]);
        }
        report("Running …");
        const answer = await call("cells.run", [editor.value, cell?.published, cell?.tolerance]);
        output.replaceChildren(result(answer));
        report(`Done in ${seconds(began)}.`);
      }, { status, code, cancel });
    };
    const again = button("Run", start);
    cancel.hidden = true;
    const box = make("div", { className: "ddr-run-box" }, again, cancel, status, output);
    place.after(box);
  };
  for (const cell of cells) runnable(places[cell.at], cell.source, cell);
  for (const block of document.querySelectorAll("article div.ddr-run"))
    runnable(block, block.querySelector("pre").textContent.trim());

  // The whole notebook with other parameters, from its form.
  const form = window.ddrForm;
  if (!form || !cells.length) return;
  const status = make("span", { role: "status" });
  const cancel = button("Cancel");
  const limit = make("select", {}, ...[60, 300, 1800].map((s) => make("option", { value: s, textContent: `at most ${s / 60} min` })));
  limit.setAttribute("aria-label", "Time limit");
  const link = make("a", { textContent: "Link to these parameters" });
  const start = () => {
    if (form.problem.textContent || (status.textContent = absent())) return;
    const given = form.given();
    const code = [card.declarations, ...Object.values(given), ...cells.map((cell) => cell.source)].join("\n");
    session(async (report) => {
      const { problem } = await call("cells.begin", [card.declarations, Object.entries(given)]);
      if (problem) return report(problem);
      for (const old of document.querySelectorAll(".ddr-here.ddr-whole")) old.remove();
      const began = performance.now();
      const count = { same: 0, other: 0, failed: 0 };
      for (const [i, cell] of cells.entries()) {
        report(`Running cell ${i + 1} of ${cells.length} …`);
        const answer = await call("cells.run", [cell.source, cell.published, cell.tolerance]);
        if (answer.failed) count.failed++;
        else if (answer.moved === 0) count.same++;
        else if (answer.moved !== undefined) count.other++;
        if (!answer.outputs.length) continue;
        const box = result(answer);
        box.classList.add("ddr-whole");
        places[cell.at].after(box);
      }
      const failures = count.failed ? ` ${count.failed} cells failed.` : "";
      report(`Done in ${seconds(began)}: of the outputs below, ${count.same} are as published and ${count.other} differ.${failures}`);
    }, { status, code, cancel, limit: Number(limit.value) });
  };
  const update = () => (link.href = `?${new URLSearchParams(form.given())}#ddr-form`);
  form.element.addEventListener("input", update);
  update();
  cancel.hidden = true;
  form.element.prepend(
    make("div", { className: "ddr-run-line" }, button("Run here", start), limit, cancel, link, status),
    make("p", { textContent: "Runs the open cells in this page; what the companion draws and judges needs one of the commands below." }),
  );
});
