// A form for the parameters of a notebook: it checks them and writes the commands of a rerun.
document.addEventListener("DOMContentLoaded", () => {
  const data = document.getElementById("ddr-card");
  if (!data) return;
  const card = JSON.parse(data.textContent);
  const make = (tag, options = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), options);
    element.append(...children);
    return element;
  };
  const isList = (p) => Array.isArray(p.default);
  const isNumber = (p) => /int|float/.test(p.type);
  const shown = (p) =>
    isList(p) ? p.default.join(", ") : typeof p.default === "boolean" ? (p.default ? "True" : "False") : String(p.default);

  // Reading and checking, with the sentences of `ddr-book run`.
  const scalar = (p, text) => {
    if (isNumber(p)) {
      const whole = p.type.includes("int");
      const written = whole ? /^[+-]?\d+$/ : /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
      if (!written.test(text)) throw `${p.name} must be ${/^[aeiou]/.test(p.type) ? "an" : "a"} ${p.type}, got '${text}'`;
      const value = Number(text);
      const outside = (p.low !== null && value < p.low) || (p.high !== null && value > p.high);
      if (!p.choices.length && outside) throw `${p.name} must lie in ${p.allowed}, got ${text}`;
    }
    if (p.choices.length && !p.choices.includes(text)) throw `${p.name} must be one of ${p.allowed}; got '${text}'`;
    return isNumber(p) ? Number(text) : text;
  };
  const read = (p, text) => {
    if (!isList(p)) return scalar(p, text.trim());
    const parts = text.split(",").map((part) => part.trim()).filter(Boolean);
    if (!parts.length) throw `${p.name} must be a non-empty ${p.type}`;
    const twice = parts.find((part, i) => parts.indexOf(part) !== i);
    if (twice) throw `${p.name} must not have ${twice} twice`;
    return parts.map((part) => scalar(p, part));
  };
  const quoted = (text) => (/^[\w.,+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

  // The form.
  const asked = new URLSearchParams(location.search); // a link may carry parameters
  const form = make("form", { className: "ddr-form", id: "ddr-form", noValidate: true });
  const fields = new Map();
  for (const p of card.parameters) {
    const id = `ddr-p-${p.name}`;
    const choices = p.type === "bool" ? ["True", "False"] : isList(p) ? [] : p.choices;
    const field = choices.length
      ? make("select", { id }, ...choices.map((c) => make("option", { value: c, textContent: c })))
      : make("input", { id, type: "text", spellcheck: false, autocomplete: "off" });
    field.value = asked.get(p.name) ?? shown(p);
    const hints = [p.meaning, p.allowed && `allowed: ${p.allowed}`, p.paper && `paper: ${p.paper}`];
    const hint = make("small", { id: `${id}-hint`, textContent: hints.filter(Boolean).join(" · ") });
    field.setAttribute("aria-describedby", hint.id);
    form.append(make("div", {}, make("label", { htmlFor: id, textContent: p.name }), field, hint));
    fields.set(p, field);
  }
  const name = make("input", { id: "ddr-p-run-name", type: "text", value: "mine", spellcheck: false });
  form.append(
    make("div", {}, make("label", { htmlFor: name.id, textContent: "name of the run" }), name,
      make("small", { textContent: "1 to 40 lower-case letters, digits, - or _" })),
  );
  const problem = make("p", { className: "ddr-problem", role: "alert" });
  const commands = ["ddr-book", "papermill"].map((tool) => {
    const code = make("code", { id: `ddr-command-${tool}` });
    const button = make("button", { type: "button", textContent: `Copy the ${tool} command` });
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = `Copy the ${tool} command`), 1500);
    });
    form.append(make("pre", { tabIndex: 0 }, code), button);
    return { code, button };
  });
  form.prepend(problem);

  const update = () => {
    const given = [];
    problem.textContent = "";
    for (const [p, field] of fields) {
      field.removeAttribute("aria-invalid");
      try {
        const value = read(p, field.value);
        if (JSON.stringify(value) !== JSON.stringify(p.default) && field.value !== shown(p)) given.push([p, value]);
      } catch (sentence) {
        field.setAttribute("aria-invalid", "true");
        problem.textContent ||= String(sentence);
      }
    }
    if (!/^[a-z0-9][a-z0-9_-]{0,39}$/.test(name.value))
      problem.textContent ||= `name must be 1 to 40 lower-case letters, digits, - or _, got '${name.value}'`;
    const plain = given.map(([p, v]) => `-p ${p.name} ${quoted([v].flat().map((e) => (fields.get(p).tagName === "SELECT" ? fields.get(p).value : String(e))).join(","))}`);
    const asYaml = Object.fromEntries(given.map(([p, v]) => [p.name, p.type === "bool" ? v === "True" || v === true : v]));
    const path = `notebooks/${card.notebook}.ipynb`;
    const texts = [
      ["ddr-book run", card.notebook, ...plain, `--name ${name.value}`].join(" "),
      [`papermill ${path} out.ipynb --cwd notebooks -k python3`, given.length ? `-y ${quoted(JSON.stringify(asYaml))}` : ""].join(" ").trim(),
    ];
    commands.forEach(({ code, button }, i) => {
      code.textContent = problem.textContent ? "" : texts[i];
      button.disabled = Boolean(problem.textContent);
    });
  };
  form.addEventListener("input", update);
  form.addEventListener("submit", (event) => event.preventDefault());
  update();

  const box = make("details", { className: "ddr-rerun" },
    make("summary", { textContent: "Run this notebook with other parameters" }),
    make("p", { textContent: "Change a value; the two commands below follow. Type one of them at the top of the repository." }), form);
  box.open = card.parameters.some((p) => asked.has(p.name));
  const changed = () => [...fields].filter(([p, field]) => field.value !== shown(p));
  const given = () => Object.fromEntries(changed().map(([p, field]) => [p.name, field.value]));
  window.ddrForm = { element: form, problem, given };
  const cell = document.querySelector("article .cell.tag_parameters");
  if (cell) cell.after(box);
  else data.before(box);
});
