// The browser of questions: finds, filters and opens them. All that was said is text here, never markup.
// question_browser.py writes the data; the lists below name what stands where.

const AT_ONCE = 50; // questions listed before one asks for more
const SIGNS = { right: "✓", wrong: "✗", "no answer": "!", "no verdict": "?", "not scored": "·" };
const CLASSES = { right: "right", wrong: "wrong", "no answer": "error", "no verdict": "error", "not scored": "unscored" };

function browse(section, data) {
  const texts = data.texts;
  const questions = data.rows.map(([group, item, id, text, category, golds, unanswerable, evidence, answers]) => ({
    group, item, id, text, category, golds, unanswerable, evidence,
    own: [texts[text], ...golds, data.categories[category] ?? "", item, id].join("\n").toLowerCase(),
    answers: answers.map(([memory, said, verdict, cause, missing, f1, recalled, tokens, context, votes, spent]) => ({
      memory, said, verdict, cause, missing, f1, recalled, tokens, context, votes, spent,
    })),
  }));
  let lowered = null; // the texts in small letters, made when something is first searched for
  let shown = [];
  let listed = 0;

  const memoryName = (memory) => data.memories[memory][0];
  const named = (memory) => [made("span", `swatch ${data.memories[memory][1]}`), memoryName(memory)];

  function sign(verdict, memory) {
    const name = data.verdicts[verdict];
    const mark = made("b", `verdict ${CLASSES[name]}`, SIGNS[name]);
    mark.title = `${memoryName(memory)}: ${name}`;
    mark.setAttribute("role", "img");
    mark.setAttribute("aria-label", mark.title);
    return mark;
  }

  // Filters

  function select(label, options) {
    const field = made("label", "field");
    const input = document.createElement("select");
    input.append(...options);
    field.append(made("span", "unseen", label), input);
    input.addEventListener("change", update);
    return [field, input];
  }

  function option(text, value) {
    const node = made("option", "", text);
    node.value = value;
    return node;
  }

  function grouped(label, options) {
    const group = document.createElement("optgroup");
    group.label = label;
    group.append(...options);
    return options.length ? [group] : [];
  }

  const ends = new Map(); // outcomes that occur: a verdict or "cause: …", and of how many answers
  for (const { answers } of questions) {
    for (const { verdict, cause } of answers) {
      const name = data.verdicts[verdict];
      ends.set(name, (ends.get(name) ?? 0) + 1);
      if (name === "wrong") ends.set(`wrong:${cause}`, (ends.get(`wrong:${cause}`) ?? 0) + 1);
    }
  }
  const outcomes = (names, told) =>
    names.filter(([key]) => ends.has(key)).map(([key, name]) => option(`${told}${name} (${ends.get(key)})`, key));
  const whole = data.verdicts.map((name) => [name, name]);
  const causes = data.causes.map((name, place) => [`wrong:${place}`, name]);

  const form = made("form", "filters");
  form.setAttribute("role", "search");
  const search = document.createElement("input");
  search.type = "search";
  search.placeholder = "Search questions and answers";
  search.setAttribute("aria-label", "Search questions, golds, answers and reasons");
  const deep = document.createElement("input");
  deep.type = "checkbox";
  const deepField = made("label", "field check");
  deepField.append(deep, "and what was recalled");
  const [memoryField, memory] = select("Memory", [
    option("any memory", ""),
    ...data.memories.map(([name], place) => option(name, place)),
  ]);
  const [endField, end] = select("Outcome", [
    option("any outcome", ""),
    ...outcomes(whole, ""),
    ...grouped("wrong because", outcomes(causes, "")),
  ]);
  const [categoryField, category] = select("Category", [
    option("any category", ""),
    ...data.categories
      .map((name, place) => [name, place])
      .sort(([one], [other]) => one.localeCompare(other, "en", { numeric: true }))
      .map(([name, place]) => option(name, place)),
  ]);
  const [groupField, group] = select("Comparison", [
    option("all comparisons", ""),
    ...data.groups.map((name, place) => option(name, place)),
  ]);
  const reset = made("button", "plain", "Show all");
  reset.type = "button";
  form.append(search, deepField, memoryField, endField);
  if (data.categories.length > 1) form.append(categoryField);
  if (data.groups.length > 1) form.append(groupField);

  const status = made("p", "sub status");
  const found = made("span", "");
  found.setAttribute("role", "status");
  const openAll = made("button", "plain open-all", "Open all");
  openAll.type = "button";
  status.append(found, " ", openAll, " ", reset);

  // What is listed

  function matches(words) {
    if (!words) return null;
    lowered ??= texts.map((text) => text.toLowerCase());
    return lowered.map((text) => text.includes(words));
  }

  function says(answer, hits) {
    if (hits[answer.said] || answer.votes.some((vote) => hits[vote[4]])) return true;
    return deep.checked && answer.context !== null && answer.context[1].some((text) => hits[text]);
  }

  function fits(answer) {
    if (memory.value !== "" && answer.memory !== Number(memory.value)) return false;
    if (end.value === "") return true;
    const [name, cause] = end.value.split(":");
    return data.verdicts[answer.verdict] === name && (cause === undefined || answer.cause === Number(cause));
  }

  function update() {
    const words = search.value.trim().toLowerCase();
    const hits = matches(words);
    const narrowed = memory.value !== "" || end.value !== "";
    shown = questions.filter((question) => {
      if (category.value !== "" && question.category !== Number(category.value)) return false;
      if (group.value !== "" && question.group !== Number(group.value)) return false;
      if (narrowed && !question.answers.some(fits)) return false;
      return hits === null || question.own.includes(words) || question.answers.some((answer) => says(answer, hits));
    });
    const all = questions.length.toLocaleString("en");
    const some = `${shown.length.toLocaleString("en")} of ${all} questions.`;
    found.textContent = shown.length === questions.length ? `${all} questions.` : some;
    reset.hidden = !(words || narrowed || category.value || group.value);
    openAll.hidden = !shown.length;
    openAll.textContent = "Open all";
    listed = 0;
    list.replaceChildren(head);
    more();
  }

  function more() {
    next.remove();
    const rows = shown.slice(listed, listed + AT_ONCE).map(row);
    listed += rows.length;
    list.append(...rows);
    const left = shown.length - listed;
    if (left) {
      next.textContent = `Show ${Math.min(AT_ONCE, left)} more of ${left.toLocaleString("en")}`;
      list.append(next);
    }
  }

  function row(question) {
    const node = made("details", "question");
    const summary = made("summary", "");
    const strip = made("span", "strip");
    const of = new Map(question.answers.map((answer) => [answer.memory, answer]));
    strip.append(...data.memories.map((_, place) => (of.has(place) ? sign(of.get(place).verdict, place) : made("b", "verdict"))));
    summary.append(made("span", "asked", texts[question.text]), strip);
    node.append(summary);
    lazily(node, () => [opened(question)]);
    return node;
  }

  // What a thing holds is made when it is first opened: by a click before it shows, else as soon as it is open.
  const unmade = new WeakMap();

  function lazily(node, make) {
    unmade.set(node, make);
    node.firstElementChild.addEventListener("click", () => fill(node));
    node.addEventListener("toggle", () => fill(node));
  }

  function fill(node) {
    const make = unmade.get(node);
    unmade.delete(node);
    if (make) node.append(...make());
  }

  // An opened question

  function opened(question) {
    const body = made("div", "opened");
    const expected = made("p", "expected", "Expected: ");
    const gold = question.golds.join(" / ");
    expected.append(made("b", "", question.unanswerable ? "not answered in the conversation" : gold || "no gold answer"));
    if (question.category >= 0) expected.append(" ", made("span", "badge", data.categories[question.category]));
    const where = question.id.startsWith(question.item) ? [question.id] : [question.item, question.id];
    if (data.groups.length > 1) where.unshift(data.groups[question.group]);
    if (question.evidence.length) where.push(`evidence ${question.evidence.join(", ")}`);
    expected.append(" ", made("span", "faint", where.join(" · ")));
    const answers = made("ul", "");
    answers.append(...question.answers.map(answered));
    body.append(expected, ...evidence(question), answers);
    return body;
  }

  // The evidence in words, as far as some memory recalled it.
  function evidence(question) {
    const held = new Set();
    for (const { context } of question.answers) {
      context?.[1].forEach((text, place) => context[2][place] === "1" && held.add(text));
    }
    if (!held.size) return [];
    const quoted = made("blockquote", "evidence");
    quoted.append(...[...held].map((text) => made("p", "", texts[text])));
    return [quoted];
  }

  function answered(answer) {
    const item = made("li", "");
    const who = made("span", "who");
    who.append(...named(answer.memory));
    const said = made("span", "said");
    said.append(sign(answer.verdict, answer.memory), " ", texts[answer.said]);
    item.append(who, said, made("span", "faint", figures(answer)), ...why(answer), ...trace(answer));
    return item;
  }

  function figures({ f1, recalled }) {
    const told = [];
    if (f1 !== null) told.push(`F1 ${f1.toFixed(2)}`);
    if (recalled !== null) told.push(`evidence ${Math.round(recalled * 100)} %`);
    return told.join(" · ");
  }

  function why({ cause, missing, votes }) {
    const parts = [];
    if (cause >= 0) {
      const name = data.causes[cause];
      parts.push(made("span", "badge cause-name", missing.length ? `${name}: ${missing.join(", ")}` : name));
    }
    votes.forEach(([rubric, correct, wrong, errors, reason], place) => {
      const vote = made("span", place ? "vote faint" : "vote");
      const marks = `${"✓".repeat(correct)}${"✗".repeat(wrong)}${"?".repeat(errors)}`;
      vote.append(made("b", "", `${data.rubrics[rubric]} ${marks}`), place ? "" : ` ${texts[reason]}`);
      if (place) vote.title = texts[reason];
      parts.push(vote);
    });
    if (!parts.length) return [];
    const line = made("span", "why");
    line.append(...parts.flatMap((part) => [part, " "]));
    return [line];
  }

  function trace({ context, tokens, spent }) {
    const node = made("details", "trace");
    const told = [];
    if (context) told.push(recalledWords(context, tokens));
    if (spent.length) told.push(spentWords(spent));
    if (!told.length) return [];
    node.append(made("summary", "", told.join(" · ")));
    lazily(node, () => [...(context ? recalled(context) : []), ...(spent.length ? [calls(spent)] : [])]);
    return [node];
  }

  function recalledWords([size, , signs], tokens) {
    const marked = [...signs].filter((mark) => mark === "1").length;
    const told = size ? `${size.toLocaleString("en")} recalled` : "nothing recalled";
    const of = tokens ? `, ${tokens.toLocaleString("en")} tokens` : "";
    return `${told}${of}${marked ? `, ${marked} evidence` : ""}`;
  }

  function spentWords(spent) {
    const mine = spent.filter(([stage]) => data.stages[stage] !== "judge");
    const sum = (place) => mine.reduce((total, entry) => (entry[place] === null ? NaN : total + entry[place]), 0);
    const [callCount, read, written, usd] = [1, 2, 4, 6].map(sum);
    const plural = callCount === 1 ? "call" : "calls";
    const told = [`${callCount} ${plural}`, `${tokenWords(read)} in`, `${tokenWords(written)} out`];
    if (!Number.isNaN(usd) && mine.length) told.push(count(usd, "usd"));
    return told.join(", ");
  }

  function secondsWords(value) {
    return value < 0.0995 ? `${(value * 1000).toPrecision(2)} ms` : `${value.toPrecision(2)} s`;
  }

  function tokenWords(value) {
    return value === null || Number.isNaN(value) ? "?" : value.toLocaleString("en");
  }

  function recalled([size, items, signs, places]) {
    const nodes = [];
    if (places) {
      const all = items.length ? `${size.toLocaleString("en")} items, of which the evidence:` : `${size.toLocaleString("en")} items.`;
      nodes.push(made("p", "faint", all));
    } else if (signs.includes("?")) {
      nodes.push(made("p", "faint", "The ledger does not tell which turns the unmarked items are."));
    }
    const lines = made("ol", "recalled");
    items.forEach((text, place) => {
      const line = made("li", signs[place] === "1" ? "is-evidence" : "", texts[text]);
      line.value = places ? places[place] : place + 1;
      if (signs[place] === "1") line.prepend(made("b", "tag", "evidence"), " ");
      lines.append(line);
    });
    if (items.length) nodes.push(lines);
    return nodes;
  }

  function calls(spent) {
    const table = made("table", "calls");
    const heads = ["stage", "calls", "in", "cached", "out", "embedded", "cost", "time", "failed"];
    const kept = heads.map((_, place) => place < 3 || spent.some((entry) => entry[place] || entry[place] === null));
    const line = (cells, name) => {
      const row = document.createElement("tr");
      row.append(...cells.filter((_, place) => kept[place]).map((cell) => made(name, "", cell)));
      return row;
    };
    table.createTHead().append(line(heads, "th"));
    table.createTBody().append(
      ...spent.map(([stage, number, read, cached, written, embedded, usd, seconds, failed]) =>
        line([
          data.stages[stage], number, tokenWords(read), tokenWords(cached), tokenWords(written), tokenWords(embedded),
          usd === null ? "no price" : count(usd, "usd"), secondsWords(seconds), failed,
        ], "td")),
    );
    return table;
  }

  // What one meets

  const head = section.querySelector(".strip-head");
  const list = made("div", "questions");
  const next = made("button", "next");
  next.type = "button";
  next.addEventListener("click", more);
  search.addEventListener("input", update);
  deep.addEventListener("change", update);
  form.addEventListener("submit", (event) => event.preventDefault());
  reset.addEventListener("click", () => {
    form.reset();
    update();
  });
  openAll.addEventListener("click", () => {
    const all = [...list.querySelectorAll("details.question")];
    const open = !all.every((each) => each.open);
    all.forEach((each) => {
      fill(each);
      each.open = open;
    });
    openAll.textContent = open ? "Close all" : "Open all";
  });
  section.querySelector(".questions").replaceWith(form, status, list);
  update();

  // A part of a bar leads to its questions.
  for (const mark of document.querySelectorAll(".causes .mark[data-cause]")) {
    const name = mark.dataset.cause;
    const key = data.verdicts.includes(name) ? name : `wrong:${data.causes.indexOf(name)}`;
    const value = ends.has(key) ? key : { "no answer: an error": "no answer", "the judge gave no verdict": "no verdict" }[name];
    if (!value) continue;
    mark.classList.add("leads");
    const follow = () => {
      form.reset();
      memory.value = String(data.memories.findIndex(([name]) => name === mark.dataset.memory));
      end.value = value;
      const mine = data.groups.flatMap((name, place) => (name.startsWith(mark.dataset.group) ? [place] : []));
      if (data.groups.length > 1 && mine.length === 1) group.value = String(mine[0]);
      update();
      hide();
      section.scrollIntoView();
    };
    mark.addEventListener("click", follow);
    mark.addEventListener("keydown", (event) => event.key === "Enter" && follow());
  }
}

for (const section of document.querySelectorAll("#questions")) {
  browse(section, JSON.parse(section.querySelector("script.told").textContent));
}
