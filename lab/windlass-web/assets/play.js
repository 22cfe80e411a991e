// The page around the laboratory: the text of a scenario is the one truth; whatever the reader drags or chooses changes it, and
// what is seen is always a run of it.
(() => {
  "use strict";

  const byId = (id) => document.getElementById(id);
  const text = byId("text");
  const examples = JSON.parse(byId("examples").textContent);
  let about = null;

  // The worker ------------------------------------------------------------------------------

  // Pause after the last change before the packets around reductions are drawn too, and the longest run that is made again for it.
  const SETTLED_MS = 500;
  const QUICK_MS = 3000;
  const TELL_AFTER_MS = 400;

  let module = null;
  let worker = null;
  let running = null;
  let waiting = null;
  let ticking = 0;
  let settling = 0;

  async function through(stream, bytes) {
    return new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer();
  }

  function bytesOf(base64) {
    return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  }

  async function start() {
    module ??= bytesOf(byId("module").textContent.trim());
    const url = URL.createObjectURL(new Blob([byId("engine").textContent], { type: "text/javascript" }));
    worker = new Worker(url);
    worker.addEventListener("message", ({ data }) => heard(data));
    worker.addEventListener("error", (event) => heard({ broken: event.message }));
    worker.postMessage({ module });
  }

  function heard(data) {
    if (data.ready) {
      const first = about === null;
      about = data.ready;
      byId("version").textContent = about.version;
      if (first) load().catch(() => say("The link holds no scenario."));
      else if (waiting) send();
      return;
    }
    const request = running;
    running = null;
    clearInterval(ticking);
    byId("stop").hidden = true;
    if (data.broken) {
      restart();
      say(`This run could not be made: ${data.broken}.`);
      return;
    }
    if (data.answer.error) refuse(data.answer.error);
    else accept(data, request);
    if (waiting) send();
  }

  function restart() {
    worker.terminate();
    start();
  }

  // Only the newest request counts: what the reader has dragged past is not run.
  function ask(request) {
    clearTimeout(settling);
    waiting = request;
    if (about && !running) send();
  }

  function send() {
    running = waiting;
    waiting = null;
    worker.postMessage({ ask: "show", ...running });
    const began = performance.now();
    ticking = setInterval(() => {
      const ms = performance.now() - began;
      if (ms < TELL_AFTER_MS) return;
      byId("stop").hidden = false;
      byId("result").classList.add("old");
      say(`Running … ${Math.round(ms / 1000)} s`);
    }, 200);
  }

  byId("stop").addEventListener("click", () => {
    running = waiting = null;
    clearInterval(ticking);
    byId("stop").hidden = true;
    restart();
    say("Stopped. Shorten the scenario's duration, or simplify it.");
  });

  function say(what) {
    byId("state").querySelector(".said").textContent = what;
  }

  // What a run came to ----------------------------------------------------------------------

  let drawing = Promise.resolve();

  function accept({ answer, took }, request) {
    if (request.turn) text.value = answer.text;
    refuse(null);
    showKnobs(answer.knobs);
    say(`Simulated in ${Math.max(1, Math.round(took))} ms.`);
    drawing = drawing.then(() => show(answer));
    if (request.detail === "curves" && took < QUICK_MS) {
      clearTimeout(settling);
      settling = setTimeout(() => ask({ text: text.value, detail: "packets" }), SETTLED_MS);
    }
  }

  // The new sections are drawn out of sight and then take the place of the old ones, so that nothing flickers.
  async function show(answer) {
    const stage = byId("stage");
    const old = stage.querySelector("#result:not(.coming)");
    const next = document.createElement("div");
    next.id = "result";
    next.className = "coming";
    next.innerHTML = answer.sections;
    stage.append(next);
    await windlass.draw(next);
    const kept = opened(old);
    for (const link of old.querySelectorAll("a.csv")) URL.revokeObjectURL(link.href);
    old.remove();
    next.className = "";
    reopen(next, kept);
    byId("title").textContent = answer.title;
    byId("summary").textContent = answer.summary;
    document.documentElement.dataset.shown = String(Number(document.documentElement.dataset.shown ?? 0) + 1);
  }

  // What a reader has opened of a run stays open when it is drawn again, and the keyboard stays where it was.
  const nameOf = (details) => `${details.closest("[id]").id} ${details.className}`;

  function opened(result) {
    const here = document.activeElement;
    return {
      open: new Set([...result.querySelectorAll("details[open]")].map(nameOf)),
      at: result.contains(here) && here.matches("summary") ? nameOf(here.parentElement) : null,
    };
  }

  function reopen(result, { open, at }) {
    for (const details of result.querySelectorAll("details")) {
      if (open.has(nameOf(details))) details.open = true;
      if (nameOf(details) === at) details.querySelector("summary").focus({ preventScroll: true });
    }
  }

  let place = null;

  function refuse(error) {
    const box = byId("problem");
    box.hidden = !error;
    text.setAttribute("aria-invalid", String(Boolean(error)));
    if (!error) return;
    place = error.line ? { line: error.line, column: error.column } : null;
    const where = place ? `Line ${place.line}, column ${place.column}: ` : "";
    box.querySelector(".what").textContent = `${where}${error.message}`;
    box.querySelector(".help").textContent = error.help ?? "";
    byId("there").hidden = !place;
    say("The scenario is not right; what is drawn is the run before.");
    byId("result").classList.add("old");
  }

  byId("there").addEventListener("click", () => {
    const lines = text.value.split("\n");
    const at = lines.slice(0, place.line - 1).reduce((sum, line) => sum + line.length + 1, 0) + place.column - 1;
    text.focus();
    text.setSelectionRange(at, Math.max(at, at + /^\S*/.exec(text.value.slice(at))[0].length));
  });

  // Values to drag --------------------------------------------------------------------------

  const digits = (value) => String(Number(value.toPrecision(3)));
  const scaled = (value, units) => {
    const [size, name] = units.find(([size]) => value >= size) ?? units.at(-1);
    return digits(value / size) + name;
  };
  // From the least to the most in equal steps of the logarithm; `zero` says that nothing is below the least.
  const KINDS = {
    rate: { label: "Rate", from: 1e4, to: 1e9, text: (v) => scaled(v, [[1e9, "Gbps"], [1e6, "Mbps"], [1e3, "kbps"]]) },
    delay: { label: "Delay", from: 1e-4, to: 1, zero: true, text: (v) => (v ? scaled(v, [[1, "s"], [1e-3, "ms"], [1e-6, "us"]]) : "0s") },
    loss: { label: "Loss", from: 1e-4, to: 0.3, zero: true, text: (v) => `${digits(v * 100)}%` },
    pkt: { label: "Queue", from: 1, to: 5000, text: (v) => `${Math.round(v)}pkt` },
    B: { label: "Queue", from: 1500, to: 1e7, text: (v) => `${Math.round(v)}B` },
    bdp: { label: "Queue", from: 0.05, to: 20, text: (v) => `${digits(v)}bdp` },
  };
  const STEPS = 300;

  function valueAt({ from, to, zero }, step) {
    return zero && step === 0 ? 0 : from * (to / from) ** (step / STEPS);
  }

  function stepOf({ from, to }, value) {
    return value < from ? 0 : Math.min(STEPS, Math.round((STEPS * Math.log(value / from)) / Math.log(to / from)));
  }

  let knobs = [];

  function showKnobs(found) {
    const same = found.length === knobs.length && found.every((knob, at) => knob.path.join() === knobs[at].path.join() && knob.unit === knobs[at].unit);
    if (!same) build(found);
    knobs = found;
    for (const [at, knob] of found.entries()) {
      for (const input of byId("knobs").querySelectorAll(`[data-knob="${at}"]`)) {
        if (input === document.activeElement && input.type !== "select-one") continue;
        input.value = input.type === "range" ? stepOf(KINDS[knob.unit ?? knob.kind], knob.value) : knob.text;
        if (input.type === "range") input.setAttribute("aria-valuetext", knob.text);
      }
    }
  }

  function element(name, values, ...children) {
    const made = Object.assign(document.createElement(name), values);
    made.append(...children);
    return made;
  }

  function build(found) {
    const groups = new Map();
    for (const [at, knob] of found.entries()) groups.set(knob.of, [...(groups.get(knob.of) ?? []), row(at, knob)]);
    byId("knobs").replaceChildren(...[...groups].map(([of, rows]) => element("fieldset", {}, element("legend", { textContent: of }), ...rows)));
  }

  function row(at, knob) {
    const turn = (value) => ask({ text: text.value, turn: { path: knob.path, value }, detail: "curves" });
    const known = (input) => Object.assign(input, { ariaLabel: `${KINDS[knob.unit ?? knob.kind]?.label ?? "Algorithm"} of ${knob.of}` });
    if (knob.kind === "algorithm") {
      const names = about.algorithms.includes(knob.text) ? about.algorithms : [knob.text, ...about.algorithms];
      const select = known(element("select", {}, ...names.map((name) => element("option", { value: name, textContent: name }))));
      select.dataset.knob = at;
      select.addEventListener("change", () => turn(select.value));
      return element("div", { className: "knob" }, element("span", { textContent: "Algorithm" }), select);
    }
    const kind = KINDS[knob.unit ?? knob.kind];
    const slider = known(element("input", { type: "range", min: 0, max: STEPS, step: 1 }));
    const exact = known(element("input", { type: "text", spellcheck: false }));
    exact.ariaLabel += ", exactly";
    slider.dataset.knob = exact.dataset.knob = at;
    slider.addEventListener("input", () => {
      exact.value = kind.text(valueAt(kind, Number(slider.value)));
      turn(exact.value);
    });
    exact.addEventListener("change", () => turn(exact.value));
    return element("div", { className: "knob" }, element("span", { textContent: kind.label }), slider, exact);
  }

  // The text --------------------------------------------------------------------------------

  let typing = 0;
  text.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(() => ask({ text: text.value, detail: "curves" }), 300);
    suggest(false);
  });

  const list = byId("completions");
  let suggested = null;
  let chosen = 0;

  function suggest(asked) {
    const at = text.selectionStart;
    suggested = about && completion.at(about.schema, text.value, at);
    const typed = suggested && at > suggested.start;
    if (!suggested || suggested.candidates.length === 0 || !(asked || typed)) return hush();
    list.replaceChildren(...suggested.candidates.map(({ word, means }, n) => {
      const item = element("li", { id: `completion-${n}`, role: "option" }, element("code", { textContent: word }));
      if (means) item.append(element("span", { className: "means", textContent: means.replaceAll("`", "") }));
      item.addEventListener("pointerdown", (event) => { event.preventDefault(); take(n); });
      return item;
    }));
    list.hidden = false;
    const lines = text.value.slice(0, at).split("\n").length;
    const height = parseFloat(getComputedStyle(text).lineHeight);
    list.style.top = `${text.offsetTop + Math.min(text.clientHeight, lines * height - text.scrollTop + 8)}px`;
    choose(0);
  }

  function hush() {
    list.hidden = true;
    suggested = null;
    text.removeAttribute("aria-activedescendant");
  }

  function choose(n) {
    chosen = (n + list.children.length) % list.children.length;
    [...list.children].forEach((item, at) => item.setAttribute("aria-selected", String(at === chosen)));
    list.children[chosen].scrollIntoView({ block: "nearest" });
    text.setAttribute("aria-activedescendant", list.children[chosen].id);
  }

  function take(n) {
    const { start, candidates } = suggested;
    const quote = text.value[start] === '"' && candidates[n].insert.startsWith('"') && text.value[text.selectionEnd] === '"' ? 1 : 0;
    text.setRangeText(candidates[n].insert, start, text.selectionEnd + quote, "end");
    hush();
    text.dispatchEvent(new Event("input"));
    hush();
  }

  text.addEventListener("keydown", (event) => {
    if (event.key === " " && event.ctrlKey) {
      event.preventDefault();
      suggest(true);
    } else if (!list.hidden && ["ArrowDown", "ArrowUp", "Enter", "Escape"].includes(event.key)) {
      event.preventDefault();
      if (event.key === "Enter") take(chosen);
      else if (event.key === "Escape") hush();
      else choose(chosen + (event.key === "ArrowDown" ? 1 : -1));
    }
  });
  text.addEventListener("blur", hush);

  // Examples, links and files ---------------------------------------------------------------

  const select = byId("example");
  select.append(element("option", { value: "", textContent: "–", disabled: true }));
  for (const { name } of examples) select.append(element("option", { value: name, textContent: name }));
  select.addEventListener("change", () => {
    history.replaceState(null, "", `#example=${encodeURIComponent(select.value)}`);
    load();
  });

  function run(scenario, name) {
    select.value = name ?? "";
    text.value = scenario;
    ask({ text: scenario, detail: "curves" });
  }

  // A link holds a scenario packed (`s`) or as it is (`toml`), or names an example.
  async function load() {
    const asked = new URLSearchParams(location.hash.slice(1));
    const example = (name) => examples.find((e) => e.name === name);
    if (asked.has("s")) {
      const packed = bytesOf(asked.get("s").replaceAll("-", "+").replaceAll("_", "/"));
      run(new TextDecoder().decode(await through(new DecompressionStream("deflate-raw"), packed)));
    } else if (asked.has("toml")) {
      run(asked.get("toml"));
    } else {
      const { name, text } = example(asked.get("example")) ?? examples[0];
      run(text, name);
    }
  }

  function loadAgain() {
    if (!/^#(s|toml|example)=/.test(location.hash)) return;
    load().catch(() => say("The link holds no scenario."));
  }
  addEventListener("hashchange", loadAgain);

  byId("share").addEventListener("click", async () => {
    const packed = new Uint8Array(await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(text.value)));
    const base64 = btoa(String.fromCharCode(...packed)).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
    history.replaceState(null, "", `#s=${base64}`);
    try {
      await navigator.clipboard.writeText(location.href);
      windlass.announce("The link is copied.");
      byId("share").textContent = "Copied";
    } catch {
      byId("share").textContent = "The address above is the link";
    }
    setTimeout(() => { byId("share").textContent = "Copy link"; }, 2500);
  });

  byId("save").addEventListener("click", () => {
    const url = URL.createObjectURL(new Blob([text.value], { type: "application/toml" }));
    element("a", { href: url, download: `${byId("title").textContent}.toml` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  });

  start().catch((error) => say(`This browser cannot start the laboratory: ${error.message}.`));
})();
