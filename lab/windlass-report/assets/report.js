// The report's behaviour: draws the charts, tooltips, zoom buttons, downloads, copy buttons, tables.
// Text from the report only ever becomes text nodes, never markup.
const windlass = (() => {
  "use strict";

  const tooltip = document.getElementById("tooltip");

  function showTooltip(event, pairs) {
    tooltip.replaceChildren(...pairs.map(([key, value]) => {
      const line = document.createElement("div");
      const name = document.createElement("span");
      const text = document.createElement("span");
      name.className = "key";
      name.textContent = key;
      text.textContent = value;
      line.append(name, text);
      return line;
    }));
    tooltip.hidden = false;
    const gap = 14;
    const { width, height } = tooltip.getBoundingClientRect();
    const left = event.clientX + gap + width > innerWidth ? event.clientX - gap - width : event.clientX + gap;
    const top = event.clientY + gap + height > innerHeight ? event.clientY - gap - height : event.clientY + gap;
    tooltip.style.left = `${Math.max(4, left)}px`;
    tooltip.style.top = `${Math.max(4, top)}px`;
  }

  function hideTooltip() {
    tooltip.hidden = true;
  }

  function numberFormat(specifier) {
    return vega.defaultLocale().format(specifier);
  }

  function announce(text) {
    document.querySelector(".announcement").textContent = text;
  }

  // Vega's data are CSV text inside the specification; this reads it once more for the readout.
  function rowsOf(spec) {
    return vega.read(spec.data.values, spec.data.format);
  }

  // The legend takes as many columns as the names leave room for.
  function fitLegend(spec, width) {
    const shape = spec.layer[0].encoding.shape;
    // A heat map has a scale of colours and no legend of series.
    if (!shape) return;
    const names = shape.scale.domain;
    const longest = Math.max(...names.map((name) => name.length));
    spec.config.legend.columns = Math.max(1, Math.min(names.length, Math.floor(width / (longest * 6.6 + 46))));
    spec.config.legend.labelLimit = width - 40;
  }

  async function drawChart(figure, linked) {
    const spec = JSON.parse(figure.querySelector('script[type="application/json"]').textContent);
    const plot = figure.querySelector(".plot");
    plot.replaceChildren();
    fitLegend(spec, plot.clientWidth);
    const view = new vega.View(vega.parse(vegaLite.compile(spec).spec), {
      renderer: "svg",
      container: plot,
      hover: true,
      logLevel: vega.Warn,
      tooltip: (handler, event, item, value) => {
        if (value === null || value === undefined) hideTooltip();
        else showTooltip(event, Object.entries(value));
      },
    });
    await view.runAsync();
    offerCsv(figure, spec);
    offerSvg(figure, () => view.toSVG());
    if (spec.usermeta.readout.length > 0) readOut(plot, view, spec);
    if (plot.hasAttribute("data-zoom")) makeZoomable(figure, plot, view);
    if (plot.dataset.linked) link(linked, plot.dataset.linked, view);
  }

  // Charts of one axis of time show the same stretch of it: whichever the reader moves, the others follow.
  function link(linked, name, view) {
    const group = linked.get(name) ?? { views: [], leader: null, domain: null, following: false };
    linked.set(name, group);
    group.views.push(view);
    view.addSignalListener("zoom_x", (_, domain) => {
      if (group.following && view !== group.leader) return;
      Object.assign(group, { leader: view, domain });
      follow(group);
    });
  }

  async function follow(group) {
    if (group.following) return;
    group.following = true;
    await Promise.resolve(); // the leader is being evaluated, and takes no further run before that is under way
    let shown;
    do {
      shown = group.domain;
      await group.leader.runAsync();
      for (const view of group.views.filter((view) => view !== group.leader)) {
        // Both ends of a zoom are known, or neither.
        const y = shown && (view.signal("zoom_y") ?? view.scale("y").domain());
        await view.signal("zoom_x", shown).signal("zoom_y", y).runAsync();
      }
    } while (shown !== group.domain);
    group.following = false;
  }

  // A link to what can be opened opens it.
  function openTarget() {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!(target instanceof HTMLDetailsElement)) return;
    target.open = true;
    target.scrollIntoView();
  }

  // Zoom ------------------------------------------------------------------------------------

  function makeZoomable(figure, plot, view) {
    const home = domains(view);
    // A page must scroll past a chart: the wheel zooms only once the reader has chosen the chart.
    plot.addEventListener("wheel", (event) => {
      if (document.activeElement !== plot) event.stopPropagation();
    }, { capture: true, passive: true });
    plot.addEventListener("pointerdown", () => plot.focus({ preventScroll: true }), { capture: true });
    for (const button of figure.querySelectorAll("[data-zoom-by]")) {
      button.addEventListener("click", () => {
        const by = button.dataset.zoomBy;
        if (by === "reset") setDomains(view, home);
        else setDomains(view, scaled(view, domains(view), Number(by)));
        announce(describe(view));
      });
    }
    plot.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowDown: [0, -0.1], ArrowUp: [0, 0.1] }[event.key];
      if (!step) return;
      event.preventDefault();
      setDomains(view, moved(view, domains(view), step));
      announce(describe(view));
    });
  }

  const axes = ["x", "y"];

  function canZoom(view, axis) {
    return view.scale(axis).domain().every(Number.isFinite);
  }

  function domains(view) {
    return Object.fromEntries(axes.filter((axis) => canZoom(view, axis)).map((axis) => [axis, view.scale(axis).domain()]));
  }

  function setDomains(view, wanted) {
    for (const [axis, domain] of Object.entries(wanted)) view.signal(`zoom_${axis}`, domain);
    view.runAsync();
  }

  // Maps a domain through its scale's own space, so that a logarithmic axis zooms evenly.
  function mapDomain(view, axis, domain, change) {
    const scale = view.scale(axis);
    const [from, to] = domain.map((value) => scale(value));
    return change(from, to).map((pixel) => scale.invert(pixel));
  }

  function scaled(view, now, by) {
    return Object.fromEntries(Object.entries(now).map(([axis, domain]) => [axis, mapDomain(view, axis, domain, (from, to) => {
      const middle = (from + to) / 2;
      return [middle + (from - middle) * by, middle + (to - middle) * by];
    })]));
  }

  function moved(view, now, [right, up]) {
    return Object.fromEntries(Object.entries(now).map(([axis, domain]) => [axis, mapDomain(view, axis, domain, (from, to) => {
      const shift = (to - from) * (axis === "x" ? right : up);
      return [from + shift, to + shift];
    })]));
  }

  function describe(view) {
    const number = numberFormat(".4~g");
    return Object.entries(domains(view))
      .map(([axis, [from, to]]) => `${axis} from ${number(from)} to ${number(to)}`)
      .join(", ");
  }

  // Values under the pointer, for curves with too many points to show each ------------------

  function readOut(plot, view, spec) {
    const rows = rowsOf(spec);
    const curves = spec.usermeta.readout.map(({ name, step }) => ({
      name, step, points: rows.filter((row) => row.series === name),
    }));
    const number = numberFormat(",.7~r");
    view.addEventListener("pointermove", (event, item) => {
      if (item && item.tooltip) return;
      const svg = plot.querySelector("svg").getBoundingClientRect();
      const x = event.clientX - svg.left - view.origin()[0];
      const y = event.clientY - svg.top - view.origin()[1];
      if (x < 0 || y < 0 || x > view.width() || y > view.height()) return hideTooltip();
      const at = view.scale("x").invert(x);
      const found = curves.map((curve) => [curve.name, valueAt(curve, at)]).filter(([, value]) => value !== null);
      if (found.length === 0) return hideTooltip();
      showTooltip(event, [[spec.usermeta.xLabel, number(Number(at.toPrecision(6)))], ...found.map(([name, value]) => [name, number(value)])]);
    });
    plot.addEventListener("pointerleave", hideTooltip);
  }

  function valueAt({ points, step }, x) {
    let low = 0;
    let high = points.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (points[middle].x <= x) low = middle + 1;
      else high = middle;
    }
    const before = points[low - 1];
    const after = points[low];
    if (!before) return null;
    if (step || !after) return after || before.x === x ? before.y : null;
    return x - before.x <= after.x - x ? before.y : after.y;
  }

  // Downloads -------------------------------------------------------------------------------

  function offerCsv(figure, spec) {
    const body = spec.data.values.slice(spec.data.values.indexOf("\n") + 1);
    const blob = new Blob([`${spec.usermeta.csvHeader}\n${body}`], { type: "text/csv" });
    figure.querySelector("a.csv").href = URL.createObjectURL(blob);
  }

  // The drawing is made when asked for, so that it shows the zoom of that moment.
  function offerSvg(figure, draw) {
    const link = figure.querySelector("a.svg");
    link.addEventListener("click", async (event) => {
      if (link.dataset.ready) return;
      event.preventDefault();
      const svg = (await draw()).replace("<svg ", '<svg color="#1c1c1a" style="background:#fff" ');
      const url = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
      link.href = url;
      link.dataset.ready = "yes";
      link.click();
      delete link.dataset.ready;
      setTimeout(() => URL.revokeObjectURL(url), 10000);
    });
  }

  // Copying ---------------------------------------------------------------------------------

  async function copy(button) {
    const code = button.parentElement.querySelector("code");
    try {
      await navigator.clipboard.writeText(code.textContent);
    } catch {
      // Some browsers refuse the clipboard to files; the reader can copy what is selected.
      getSelection().selectAllChildren(code);
      if (!document.execCommand("copy")) {
        announce("Selected; press the copy keys.");
        return;
      }
    }
    button.textContent = "Copied";
    announce("Copied");
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  }

  // Tables of claims --------------------------------------------------------------------------

  // Rows from which on a table is worth sorting and filtering.
  const LONG = 8;

  // A row together with what stands below it on paper.
  function groups(body) {
    const all = [];
    for (const row of body.rows) {
      if (row.classList.contains("printed-note") || row.classList.contains("row-note")) all.at(-1)?.push(row);
      else all.push([row]);
    }
    return all;
  }

  function compare(a, b) {
    const [x, y] = [a, b].map((text) => (text.startsWith("±") ? NaN : parseFloat(text)));
    if (Number.isFinite(x) && Number.isFinite(y)) return x - y;
    // What has no value comes last.
    if ((a === "") !== (b === "")) return a === "" ? 1 : -1;
    return a.localeCompare(b, "en", { numeric: true });
  }

  function sortable(head, column, body, rows) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const next = { ascending: "descending", descending: null }[head.ariaSort];
      const order = next === undefined ? "ascending" : next;
      for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
      if (order) head.setAttribute("aria-sort", order);
      const text = ([row]) => (row.cells[column].querySelector(".badge") ?? row.cells[column]).textContent.trim();
      const sign = order === "descending" ? -1 : 1;
      const sorted = order ? [...rows].sort((a, b) => sign * compare(text(a), text(b))) : rows;
      body.append(...sorted.flat());
    });
  }

  function labelled(text, control) {
    const label = document.createElement("label");
    label.append(`${text} `, control);
    return label;
  }

  function filterable(table, rows) {
    const nameOf = ([row]) => row.querySelector(".badge")?.lastChild.textContent.trim() ?? "";
    const names = new Map();
    for (const row of rows) names.set(nameOf(row), (names.get(nameOf(row)) ?? 0) + 1);
    const choice = document.createElement("select");
    choice.append(new Option(`all (${rows.length})`, ""));
    for (const [name, count] of names) if (name) choice.append(new Option(`${name} (${count})`, name));
    const words = document.createElement("input");
    words.type = "search";
    const show = () => {
      const wanted = words.value.toLowerCase();
      let left = 0;
      for (const row of rows) {
        const fits = (!choice.value || nameOf(row) === choice.value) && row[0].textContent.toLowerCase().includes(wanted);
        left += fits;
        for (const part of row) part.hidden = !fits;
      }
      announce(`${left} of ${rows.length} rows`);
    };
    choice.addEventListener("change", show);
    words.addEventListener("input", show);
    const controls = document.createElement("p");
    controls.className = "table-controls";
    controls.append(labelled("Verdict", choice), labelled("containing", words));
    table.closest(".scroll").before(controls);
  }

  // The text of a node with links where `target` knows a place for what the pattern finds.
  function linkWords(node, pattern, target) {
    for (const text of [...node.childNodes].filter((child) => child.nodeType === Node.TEXT_NODE)) {
      const parts = text.textContent.split(pattern).map((part, n) => {
        const id = n % 2 ? target(part) : undefined;
        if (!id) return part;
        const anchor = document.createElement("a");
        anchor.href = `#${id}`;
        anchor.textContent = part;
        return anchor;
      });
      if (parts.some((part) => typeof part !== "string")) text.replaceWith(...parts);
    }
  }

  // Claims name places in the paper, which are sections here, and notes by their letters and number.
  function linkClaims(root) {
    const notes = new Map();
    for (const head of root.querySelectorAll("#fidelity-table tbody th")) {
      const name = head.textContent.trim();
      head.id = `note-${name}`;
      notes.set(name, head.id);
    }
    const places = new Map();
    for (const heading of root.querySelectorAll("section[id] > h2")) {
      const [, kind, numbers] = /^(Table|Figure|Equation)s? ([\d and]+)/.exec(heading.textContent) ?? [];
      for (const number of numbers?.match(/\d+/g) ?? []) places.set(`${kind} ${number}`, heading.parentElement.id);
    }
    const place = (name) => places.get(name.replace(/^Figs?\./, "Figure"));
    for (const row of root.querySelectorAll("#claims-table tbody tr:not(.printed-note)")) {
      linkWords(row.cells[0], /((?:Table|Figs?\.|Figure|Equation) \d+)/, place);
    }
    for (const note of root.querySelectorAll(".note")) linkWords(note, /\b([A-Z]+-\d+)\b/, (name) => notes.get(name));
  }

  function enliven(root) {
    for (const head of root.querySelectorAll(".table th.verdict")) {
      const table = head.closest("table");
      const [body] = table.tBodies;
      const rows = groups(body);
      if (rows.length < LONG) continue;
      [...head.parentElement.cells].forEach((cell, column) => sortable(cell, column, body, rows));
      filterable(table, rows);
    }
    linkClaims(root);
  }

  // -----------------------------------------------------------------------------------------

  // Brings a page, or new sections of one, to life.
  async function draw(root) {
    for (const button of root.querySelectorAll(".copy")) {
      button.addEventListener("click", () => copy(button));
    }
    enliven(root);
    for (const figure of root.querySelectorAll("figure.drawing")) {
      offerSvg(figure, async () => new XMLSerializer().serializeToString(figure.querySelector("svg")));
    }
    const charts = [...root.querySelectorAll("figure.chart")].filter((figure) => figure.querySelector(".plot"));
    const linked = new Map();
    await Promise.all(charts.map((figure) => drawChart(figure, linked).catch((error) => {
      console.error(`${figure.id}:`, error);
      const failure = document.createElement("p");
      failure.className = "failure";
      failure.textContent = `This chart could not be drawn: ${error.message}`;
      figure.querySelector(".plot").replaceChildren(failure);
    })));
  }

  addEventListener("hashchange", openTarget);
  openTarget();
  draw(document).then(() => { document.documentElement.dataset.charts = "drawn"; });
  return { draw, announce };
})();
