// Is my data shifted? Two files go to Python in this page; the report, rows to label and a decision come back.
document.addEventListener("DOMContentLoaded", () => {
  const place = document.getElementById("ddr-data");
  if (!place) return;
  const { make, button, absent, call, session, shown } = window.ddrPython;
  const LARGEST = 20e6; // bytes
  const packages = "import ddr, pandas, matplotlib";
  const texts = { source: "", target: "" };
  let told = new Map(), accepted = told, truth;
  const status = make("p", { role: "status" });
  const cancel = button("Cancel");
  cancel.hidden = true;
  const label = make("select", { id: "ddr-data-label" });
  const answer = make("div");
  const ask = (work) => {
    if ((status.textContent = absent())) return;
    session(work, { status, code: packages, cancel, limit: 600 });
  };
  const mine = () => [texts.source, texts.target, label.value, [...told]];

  // The two files, by a button or dropped.
  const columns = async (report) => {
    answer.replaceChildren();
    told = accepted = new Map();
    report("Reading …");
    const found = await call("my_data_page.columns", [texts.source, texts.target]);
    label.replaceChildren(...found.columns.map((name) => make("option", { value: name, textContent: name })));
    report(`${found.rows[0]} source rows, ${found.rows[1]} target rows. Choose the column of labels, then look.`);
  };
  const take = async (kind, file) => {
    status.textContent = "";
    truth = undefined;
    if (!file) return;
    if (file.size > LARGEST) {
      status.textContent = `The ${kind} must have at most 20 MB, got ${(file.size / 1e6).toFixed(0)}: take a sample of its rows.`;
      return;
    }
    texts[kind] = (await file.text()).replace(/^\uFEFF/, "");
    if (texts.source && texts.target) ask(columns);
    else status.textContent = `Now the ${kind === "source" ? "target" : "source"}.`;
  };
  const file = (kind, words) => {
    const input = make("input", { type: "file", accept: ".csv,.tsv,.txt,text/csv", id: `ddr-data-${kind}` });
    input.addEventListener("change", () => take(kind, input.files[0]));
    const box = make("div", { className: "ddr-drop" }, make("label", { htmlFor: input.id, textContent: words }), input);
    box.addEventListener("dragover", (event) => event.preventDefault());
    box.addEventListener("drop", (event) => {
      event.preventDefault();
      take(kind, event.dataTransfer.files[0]);
    });
    return box;
  };
  const example = () =>
    ask(async (report) => {
      const made = await call("my_data_page.example", []);
      Object.assign(texts, { source: made.source, target: made.target });
      await columns(report);
      label.value = made.label;
      truth = made.truth;
      await look(report);
    });

  // The report, and the rows to label.
  const table = (found) => {
    const choices = ["", ...found.classes];
    const rows = found.questions.map(([row, values]) => {
      const select = make("select", {}, ...choices.map((each) => make("option", { value: each, textContent: each || "not yet" })));
      select.setAttribute("aria-label", `Label of row ${row}`);
      select.dataset.row = row;
      return make("tr", {}, ...[row, ...values, select].map((each) => make("td", {}, each)));
    });
    const heads = ["row", ...found.columns, "label"].map((text) => make("th", { textContent: text }));
    return make("table", {}, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...rows));
  };
  const labelling = (found) => {
    const box = make("div", { className: "ddr-labels output text_html", tabIndex: 0 }, table(found));
    const typed = () => [...box.querySelectorAll("select")].filter((each) => each.value);
    const upload = make("textarea", { rows: 3, placeholder: "row,label" });
    upload.setAttribute("aria-label", "Or paste labels here, a line for each: row,label");
    const chosen = make("input", { type: "file", accept: ".csv,.txt,text/csv" });
    chosen.setAttribute("aria-label", "Or choose a file of such lines");
    chosen.addEventListener("change", async () => (upload.value = await chosen.files[0].text()));
    const tell = () => {
      for (const select of typed()) told.set(Number(select.dataset.row), select.value);
      for (const line of upload.value.trim().split("\n").filter(Boolean)) {
        const [row, ...rest] = line.split(",");
        if (!/^\s*\d+\s*$/.test(row)) continue; // a line of names
        told.set(Number(row), rest.join(",").trim());
      }
      ask(look);
    };
    const parts = [make("h3", { textContent: "Label these rows first" }), box,
      make("p", { textContent: "Rows count from 0, below the line of names. Or paste lines of row,label, or choose a file of them:" }), upload, chosen,
      button("Tell these labels", tell)];
    if (truth)
      parts.push(button("Fill in the truth (example only)", () => {
        for (const each of box.querySelectorAll("select")) each.value = truth[each.dataset.row];
      }));
    return make("div", { className: "ddr-labels" }, ...parts);
  };
  const download = () =>
    ask(async (report) => {
      report("Computing weights and predictions …");
      for (const [name, text] of Object.entries(await call("my_data_page.downloads", mine()))) {
        const link = make("a", { href: URL.createObjectURL(new Blob([text])), download: name });
        link.click();
        setTimeout(() => URL.revokeObjectURL(link.href), 10000);
      }
      report("Saved: weights.csv, predictions.csv and is_my_data_shifted.py, which makes them again from source.csv and target.csv.");
    });
  const look = async (report) => {
    report("Fitting the candidates …");
    const found = await call("my_data_page.report", mine()).catch((problem) => {
      told = new Map(accepted);
      throw problem;
    });
    accepted = new Map(told);
    const picture = shown({ kind: "picture", data: found.picture });
    picture.alt = "Held-out scores of source and target; ratio of the class priors, or gains after labels";
    answer.replaceChildren(
      make("h3", { textContent: "Decision" }),
      make("p", { className: "ddr-decision", textContent: found.decision }),
      ...found.notes.map((note) => make("p", { className: "ddr-note", textContent: note })),
      shown({ kind: "html", html: found.report }),
      picture,
      ...(found.questions.length ? [labelling(found)] : []),
      button("Save weights, predictions and the script", download),
    );
    report(told.size ? `${told.size} labels told.` : "");
  };

  const start = () => (texts.source && texts.target ? ask(look) : (status.textContent = "Two files first, or the example."));
  place.className = "ddr-data ddr-here cell_output";
  place.replaceChildren(
    make("p", {}, make("strong", { textContent: "Nothing leaves your machine: " }), "the files are read and computed with in this page."),
    file("source", "Source: rows with labels (CSV)"),
    file("target", "Target: rows without labels (CSV)"),
    make("div", { className: "ddr-drop" }, make("label", { htmlFor: label.id, textContent: "Column of labels" }), label),
    make("div", { className: "ddr-run-line" }, button("Is it shifted?", start), button("Try an example", example), cancel, status),
    answer,
  );
});
