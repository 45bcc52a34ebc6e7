// The page is whole without this script; it adds sorting, tooltips and switching memories off.
"use strict";

const tip = document.getElementById("tip");

function place(x, y) {
  const box = tip.getBoundingClientRect();
  const left = x + 14 + box.width > innerWidth - 8 ? x - box.width - 14 : x + 14;
  const top = y + 14 + box.height > innerHeight - 8 ? y - box.height - 14 : y + 14;
  tip.style.left = `${Math.max(8, left)}px`;
  tip.style.top = `${Math.max(8, top)}px`;
}

function show(x, y, ...nodes) {
  tip.replaceChildren(...nodes);
  tip.hidden = false;
  place(x, y);
}

function hide() {
  tip.hidden = true;
}

function made(name, css, text) {
  const node = document.createElement(name);
  if (css) node.className = css;
  if (text !== undefined) node.textContent = text;
  return node;
}

function count(value, unit) {
  if (unit === "usd") return `$${value >= 1 ? value.toFixed(2) : value.toPrecision(3)}`;
  if (value >= 999500) return `${(value / 1e6).toFixed(1)}M`;
  if (value >= 99950) return `${(value / 1e3).toFixed(0)}k`;
  return Math.round(value).toLocaleString("en");
}

// Tooltips: what a mark tells, on hover and on focus. The native title would say it twice.
for (const mark of document.querySelectorAll(".chart .mark")) {
  mark.querySelector("title")?.remove();
  const told = mark.getAttribute("aria-label");
  mark.addEventListener("pointermove", (event) => show(event.clientX, event.clientY, made("div", "", told)));
  mark.addEventListener("pointerleave", hide);
  mark.addEventListener("focus", () => {
    const box = mark.getBoundingClientRect();
    show(box.left + box.width / 2, box.top + box.height / 2, made("div", "", told));
  });
  mark.addEventListener("blur", hide);
}

// The line chart: every memory's bill at the turn under the pointer, or under the arrow keys.
for (const plot of document.querySelectorAll(".plot")) {
  const charted = plot.closest(".charted");
  const unit = charted.dataset.unit;
  const series = JSON.parse(charted.querySelector("script.series").textContent);
  const [x0, x1, turns, top, bottom] = ["x0", "x1", "turns", "top", "bottom"].map((key) => Number(plot.dataset[key]));
  const svg = plot.ownerSVGElement;
  const hover = plot.querySelector(".hover");
  const rule = document.createElementNS("http://www.w3.org/2000/svg", "line");
  rule.setAttribute("class", "rule");
  rule.setAttribute("y1", top);
  rule.setAttribute("y2", bottom);
  rule.setAttribute("visibility", "hidden");
  plot.insertBefore(rule, hover);
  plot.querySelectorAll("title").forEach((title) => title.remove());
  hover.setAttribute("tabindex", "0");
  hover.setAttribute("role", "slider");
  hover.setAttribute("aria-label", "turn");
  hover.setAttribute("aria-valuemin", "1");
  hover.setAttribute("aria-valuemax", String(turns));
  let turn = turns;

  function at(x, y) {
    const place = x0 + ((turn - 1) / (turns - 1)) * (x1 - x0);
    rule.setAttribute("x1", place);
    rule.setAttribute("x2", place);
    rule.setAttribute("visibility", "visible");
    const off = hidden(charted);
    const rows = Object.entries(series)
      .filter(([memory, { costs }]) => costs.length >= turn && !off.has(memory))
      .sort((one, other) => other[1].costs[turn - 1] - one[1].costs[turn - 1]);
    // Beyond what was measured a cost is the fitted model's.
    const told = ({ costs, measured }) => count(costs[turn - 1], unit) + (turn > measured ? " fitted" : "");
    const list = rows.map(([memory, line]) => {
      const row = made("div", "row");
      row.append(made("span", `swatch ${line.css}`), made("span", "", memory), made("b", "", told(line)));
      return row;
    });
    hover.setAttribute("aria-valuenow", String(turn));
    hover.setAttribute("aria-valuetext", `turn ${turn}: ${rows.map(([m, s]) => `${m} ${told(s)}`).join(", ")}`);
    show(x, y, made("div", "head", `turn ${turn}`), ...list);
  }
  function leave() {
    rule.setAttribute("visibility", "hidden");
    hide();
  }
  hover.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width;
    turn = Math.min(turns, Math.max(1, Math.round(1 + ((x - x0) / (x1 - x0)) * (turns - 1))));
    at(event.clientX, event.clientY);
  });
  hover.addEventListener("pointerleave", leave);
  const byKey = () => {
    const box = svg.getBoundingClientRect();
    const scale = box.width / svg.viewBox.baseVal.width;
    at(box.left + (x0 + ((turn - 1) / (turns - 1)) * (x1 - x0)) * scale, box.top + top * scale);
  };
  hover.addEventListener("focus", byKey);
  hover.addEventListener("blur", leave);
  hover.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, PageUp: 10, PageDown: -10, Home: -turns, End: turns }[event.key];
    if (!step) return;
    event.preventDefault();
    turn = Math.min(turns, Math.max(1, turn + step));
    byKey();
  });
}

// The map: what is forecast for a conversation of the length and message size under the pointer.
for (const plane of document.querySelectorAll(".plane")) {
  const svg = plane.ownerSVGElement;
  const { turns, tokens, even, ratio } = JSON.parse(svg.parentElement.querySelector("script.tiles").textContent);
  const [x0, x1, y0, y1] = ["x0", "x1", "y0", "y1"].map((key) => Number(plane.dataset[key]));
  const within = (share, most) => Math.min(most - 1, Math.max(0, Math.floor(share * most)));
  const hover = plane.querySelector(".hover");
  hover.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    const scale = svg.viewBox.baseVal.width / box.width;
    const column = within(((event.clientX - box.left) * scale - x0) / (x1 - x0), turns.length);
    const row = within((y1 - (event.clientY - box.top) * scale) / (y1 - y0), tokens.length);
    const tile = row * turns.length + column;
    const pays = even[tile] < 0 ? "never pays" : even[tile] ? `pays from turn ${even[tile]}` : "pays from the start";
    const share = ratio[tile];
    const end = share === null ? "" : `, at the end ${share < 1 ? `${Math.round(share * 100)} %` : `${share.toPrecision(2)}×`}`;
    show(
      event.clientX,
      event.clientY,
      made("div", "head", `${turns[column].toLocaleString("en")} turns of ${tokens[row]} tokens, forecast`),
      made("div", "", `${pays}${end}`),
    );
  });
  hover.addEventListener("pointerleave", hide);
}

// Legend: a memory can be switched off in every figure of its group.
function hidden(node) {
  const pressed = node.closest(".group").querySelectorAll(".legend button[aria-pressed=false]");
  return new Set([...pressed].map((button) => button.dataset.memory));
}

for (const legend of document.querySelectorAll(".legend")) {
  legend.classList.add("live");
  legend.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") === "false"));
    const off = hidden(button);
    for (const node of button.closest(".group").querySelectorAll("svg [data-memory]")) {
      node.classList.toggle("off", off.has(node.dataset.memory));
    }
  });
}

// Choices of one kind in a section go together: who looks at one cell sees that cell in every figure.
for (const input of document.querySelectorAll(".tabs > input[data-kind]")) {
  input.addEventListener("change", () => {
    for (const other of input.closest(".group").querySelectorAll(`input[data-kind="${input.dataset.kind}"]`)) {
      if (other.dataset.choice === input.dataset.choice) other.checked = true;
    }
  });
}

// Sorting: the better end first, then the other way round; what is unknown stays last.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    head.querySelector("button").addEventListener("click", () => {
      const first = head.dataset.better === "high" ? "descending" : "ascending";
      const other = first === "ascending" ? "descending" : "ascending";
      const order = head.getAttribute("aria-sort") === first ? other : first;
      heads.forEach((each) => each.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", order);
      const sign = order === "ascending" ? 1 : -1;
      const body = table.tBodies[0];
      const rows = [...body.rows].sort((one, two) => {
        const [a, b] = [one, two].map((row) => row.cells[column].dataset.value);
        if (a === undefined || b === undefined) return (a === undefined) - (b === undefined);
        if (head.dataset.better === "text") return sign * a.localeCompare(b, "en", { numeric: true });
        return sign * (Number(a) - Number(b));
      });
      body.append(...rows);
    });
  });
}

addEventListener("keydown", (event) => event.key === "Escape" && hide());
