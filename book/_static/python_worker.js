// Python beside the page: loads the interpreter from the site once, then answers calls in order.
import { loadPyodide } from "./python/pyodide.mjs";

const home = new URL("./python/", import.meta.url).href;
const say = (progress) => postMessage({ progress });
const bytes = async (name) => {
  const response = await fetch(home + name);
  if (!response.ok) throw new Error(`${name} is not in this copy of the site`);
  return new Uint8Array(await response.arrayBuffer());
};

const start = async () => {
  say("Loading Python, once: about 40 MB …");
  const archive = bytes("ours.zip");
  const python = await loadPyodide({ indexURL: home, packageBaseUrl: home, packages: ["scikit-learn"], env: { MPLBACKEND: "agg", HOME: "/home" } });
  const folder = python.runPython("import sysconfig; sysconfig.get_path('purelib')");
  python.unpackArchive(await archive, "zip", { extractDir: folder });
  const ask = python.runPython(`
import importlib, json, warnings
# threadpoolctl asks Pyodide for its libraries in a way that warns; no reader can do anything about it.
warnings.filterwarnings("ignore", r"JsProxy\.as_object_map", RuntimeWarning)
def ask(name, arguments):
    module, _, function = name.partition(".")
    answer = getattr(importlib.import_module("companion.browser." + module), function)
    return json.dumps(answer(*json.loads(arguments)), allow_nan=False)
ask`);
  return { python, folder, ask };
};

const collected = new Set();
// What the code imports, and the digits when it names them: they are too large for the other pages.
const prepare = async ({ python, folder }, code) => {
  await python.loadPackagesFromImports(code, { messageCallback: (text) => say(`${text} …`), errorCallback: say });
  for (const name of ["usps", "mnist"])
    if (!collected.has(name) && new RegExp(name, "i").test(code)) {
      say(`Loading the digits of ${name.toUpperCase()} …`);
      python.FS.writeFile(`${folder}/ddr/paper/data/${name}.npz`, await bytes(`${name}.npz`));
      collected.add(name);
    }
};

let started;
const answer = async ({ id, name, args, code }) => {
  try {
    const running = await (started ??= start());
    if (code) await prepare(running, code);
    postMessage({ id, answer: JSON.parse(running.ask(name, JSON.stringify(args))) });
  } catch (error) {
    const lines = String(error.message ?? error).trim().split("\n");
    postMessage({ id, error: lines.at(-1).replace(/^\w*Error: /, "") });
  }
};
let queue = Promise.resolve();
addEventListener("message", ({ data }) => (queue = queue.then(() => answer(data))));
