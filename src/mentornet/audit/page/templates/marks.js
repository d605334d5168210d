// The reader's verdicts: kept in the browser, undone step by step, downloaded and loaded as CSV.

const KEY = `mentornet-audit:${data.run}`;
const marks = new Map(); // sample's index → {decision, label}; label is a class, −1 for drop
const history = [];
const onMarks = [];
let kept = true;
let saving = 0;

const wordsFor = ({ decision, label }) =>
  decision === "relabel" ? `relabel to ${isolated(className(label))}` : decision;
const markOf = (row) => marks.get(samples.index[row]);

/** Set or take away several marks as one step: pairs of index and mark or null. */
function setMarks(changes) {
  history.push(changes.map(([index]) => [index, marks.get(index) ?? null]));
  if (history.length > 500) history.shift();
  apply(changes);
}

function apply(changes) {
  for (const [index, mark] of changes) {
    if (mark) marks.set(index, mark);
    else marks.delete(index);
  }
  clearTimeout(saving);
  saving = setTimeout(save, 150);
  for (const listener of onMarks) listener(changes.map(([index]) => index));
}

function undo() {
  const step = history.pop();
  if (!step) {
    say("Nothing to undo");
    return null;
  }
  apply(step);
  say(
    step.length === 1
      ? `Undone: sample ${step[0][0]}`
      : `Undone: ${plural(step.length, "mark", "marks")}`,
  );
  return step[0][0];
}

function save() {
  clearTimeout(saving);
  saving = 0;
  const kind = { keep: "k", relabel: "r", drop: "d" };
  const text = [...marks]
    .map(
      ([index, { decision, label }]) =>
        `${index}${kind[decision]}${decision === "relabel" ? label : ""}`,
    )
    .join(" ");
  const done = store.set(KEY, text);
  if (!done && kept)
    complain(
      "This browser does not let the page keep your marks. Download the verdicts before you close it.",
    );
  kept = done;
}

function restore() {
  const kind = { k: "keep", r: "relabel", d: "drop" };
  for (const word of (store.get(KEY) ?? "").split(" ")) {
    const found = /^(\d+)([krd])(\d*)$/.exec(word);
    if (!found || !rowOf.has(+found[1])) continue;
    const decision = kind[found[2]],
      row = rowOf.get(+found[1]);
    const label =
      decision === "relabel" ? +found[3] : decision === "keep" ? samples.given[row] : -1;
    if (label < data.classes.length) marks.set(+found[1], { decision, label });
  }
}

function verdictsCsv() {
  const rows = [...marks]
    .sort((a, b) => a[0] - b[0])
    .map(([index, { decision, label }]) => {
      const row = rowOf.get(index);
      return [
        String(index),
        nameOf(row),
        className(samples.given[row]),
        decision,
        label < 0 ? "" : className(label),
      ];
    });
  return toCsv([["index", "name", "given_label", "decision", "label"], ...rows]);
}

function download() {
  save();
  const link = el("a", {
    href: URL.createObjectURL(new Blob([verdictsCsv()], { type: "text/csv" })),
    download: "decisions.csv",
  });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  say(`${plural(marks.size, "verdict", "verdicts")} downloaded as decisions.csv`);
}

/** Read a verdicts file: all of it, or nothing and what is wrong with it. */
async function load(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const wide =
    bytes[0] === 0xff && bytes[1] === 0xfe
      ? "utf-16le"
      : bytes[0] === 0xfe && bytes[1] === 0xff
        ? "utf-16be"
        : "utf-8";
  try {
    const { changes, skipped } = readVerdicts(
      new TextDecoder(wide, { fatal: true }).decode(bytes),
    );
    if (changes.length) setMarks(changes);
    const rest = skipped
      ? `; ${plural(skipped, "other is", "others are")} about samples this page does not list`
      : "";
    const told = `${plural(changes.length, "verdict", "verdicts")} loaded${rest}`;
    say(told);
    byId("trouble").hidden = true;
    if (skipped) complain(`${told}.`);
  } catch (error) {
    const why =
      error instanceof TypeError ? "it is not UTF-8 text; save it as CSV UTF-8" : error.message;
    complain(`${isolated(file.name)} was not loaded: ${why}.`);
  }
}

function readVerdicts(text) {
  const rows = readCsv(text);
  if (!rows.length) throw Error("it is empty");
  const names = header(rows),
    place = (name) => names.indexOf(name);
  for (const name of ["index", "decision"])
    if (place(name) < 0) throw Error(`it has no column “${name}”`);
  const numbers = new Map();
  data.classes.forEach((name, label) => numbers.set(plain(name), label));
  data.classes.forEach((name, label) => numbers.set(name, label));
  const changes = new Map();
  let skipped = 0;
  for (const { line, cells } of rows.slice(1)) {
    const cell = (name) => (place(name) < 0 ? "" : (cells[place(name)] ?? ""));
    const fail = (why) => {
      throw Error(`line ${line}: ${why}`);
    };
    const label = (name) => {
      const text = cell(name);
      const known = [unguard(text), text, text.trim(), plain(text)].find((one) =>
        numbers.has(one),
      );
      return known === undefined
        ? fail(`there is no class ${isolated(cell(name))}`)
        : numbers.get(known);
    };
    const decision = cell("decision").trim().toLowerCase();
    if (!decision) continue;
    if (!["keep", "relabel", "drop"].includes(decision))
      fail(`a decision is keep, relabel or drop, not ${isolated(decision)}`);
    const number =
      /^(\d+)(?:\.0*)?$/.exec(cell("index").trim()) ??
      fail(`index must be a whole number, not ${isolated(cell("index"))}`);
    const row = rowOf.get(+number[1]);
    if (row === undefined) {
      if (listed === data.count)
        fail(`there is no sample ${number[1]}; does the file belong to another run?`);
      skipped++;
      continue;
    }
    if (cell("given_label").trim() && label("given_label") !== samples.given[row]) {
      fail(
        `sample ${number[1]} is given as ${isolated(cell("given_label"))} there, and as ${isolated(className(samples.given[row]))} here; does the file belong to another run?`,
      );
    }
    const mark = {
      decision,
      label:
        decision === "relabel" ? label("label") : decision === "keep" ? samples.given[row] : -1,
    };
    const before = changes.get(+number[1]);
    if (before && (before.decision !== decision || before.label !== mark.label))
      fail(`sample ${number[1]} is there twice, with different verdicts`);
    changes.set(+number[1], mark);
  }
  return { changes: [...changes], skipped };
}
