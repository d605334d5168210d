// The page as a whole: filters, order, look, and everything started in turn.

const GROUPS = {
  suspects: ["Suspects", isSuspect],
  open: ["Undecided suspects", (row) => isSuspect(row) && !markOf(row)],
  marked: ["Marked", (row) => markOf(row) !== undefined],
  ties: ["Near-ties", isTie],
  all: ["All samples", () => true],
};
const last = (value) => (Number.isNaN(value) ? -Infinity : value);
const ORDERS = {
  worst: ["worst first", (a, b) => samples.quality[a] - samples.quality[b] || a - b],
  best: ["best first", (a, b) => samples.quality[b] - samples.quality[a] || a - b],
  sure: [
    "surest suggestion first",
    (a, b) => last(samples.probability[b]) - last(samples.probability[a]) || a - b,
  ],
  loss: [
    "highest mean loss first",
    (a, b) => last(samples.loss[b]) - last(samples.loss[a]) || a - b,
  ],
  weight: [
    "lowest weight first",
    (a, b) => (samples.weight[a] || 0) - (samples.weight[b] || 0) || a - b,
  ],
  index: ["by id", (a, b) => samples.index[a] - samples.index[b]],
};
const controls = {
  group: byId("filter-group"),
  given: byId("filter-given"),
  suggested: byId("filter-suggested"),
  order: byId("order"),
  search: byId("search"),
};

function fillControls() {
  const anyTie = samples.flags.some((flag) => (flag & 2) !== 0);
  for (const [key, [name]] of Object.entries(GROUPS)) {
    if (key !== "ties" || anyTie) controls.group.append(el("option", { value: key, text: name }));
  }
  for (const [key, [name]] of Object.entries(ORDERS)) {
    if (data.known[key] !== false)
      controls.order.append(el("option", { value: key, text: name }));
  }
  for (const select of [controls.given, controls.suggested]) {
    select.append(el("option", { value: "", text: "any class" }));
    data.classes.forEach((name, label) =>
      select.append(el("option", { value: label, text: isolated(name, 60) })),
    );
  }
}

/** The rows that the controls ask for; a whole id finds its sample whatever else is chosen. */
function chosen() {
  const words = controls.search.value.trim().toLowerCase();
  const id = /^#?(\d+)$/.exec(words);
  if (id && rowOf.has(+id[1])) return [rowOf.get(+id[1])];
  const belongs = GROUPS[controls.group.value][1],
    given = controls.given.value,
    suggested = controls.suggested.value;
  const rows = [];
  for (let row = 0; row < listed; row++) {
    if (!belongs(row)) continue;
    if (given !== "" && samples.given[row] !== +given) continue;
    if (suggested !== "" && samples.suggested[row] !== +suggested) continue;
    if (
      words &&
      !nameOf(row).toLowerCase().includes(words) &&
      !(textOf(row) ?? "").toLowerCase().includes(words)
    )
      continue;
    rows.push(row);
  }
  return rows.sort(ORDERS[controls.order.value][1]);
}

function refresh() {
  const rows = chosen(),
    group = controls.group.value,
    name = GROUPS[group][0];
  const filtered =
    controls.given.value !== "" ||
    controls.suggested.value !== "" ||
    controls.search.value.trim() !== "";
  byId("gallery-title").textContent = name;
  byId("clear").hidden = !filtered && group === "suspects";
  byId("shown").textContent = `${count(rows.length)} shown, ${ORDERS[controls.order.value][0]}`;
  byId("empty").hidden = rows.length > 0;
  byId("empty").firstElementChild.textContent = filtered
    ? "Nothing fits these filters."
    : group === "suspects" && data.suspects === 0
      ? "No label looks wrong."
      : "Nothing here.";
  markConfusion(controls.given.value, controls.suggested.value);
  setView(rows);
}

function filterBy(given, suggested) {
  controls.given.value = given;
  controls.suggested.value = suggested;
  controls.search.value = "";
  if (given !== "") controls.group.value = "suspects";
  refresh();
  if (innerWidth <= 900 && given !== "") byId("gallery").scrollIntoView();
}

function tally() {
  const numbers = { keep: 0, relabel: 0, drop: 0 };
  for (const { decision } of marks.values()) numbers[decision]++;
  byId("tally").textContent = marks.size
    ? `${count(numbers.keep)} keep · ${count(numbers.relabel)} relabel · ${count(numbers.drop)} drop`
    : "No verdicts yet";
  byId("download").disabled = marks.size === 0;
  byId("undo").disabled = history.length === 0;
}

function limits() {
  const told = [];
  if (data.count > listed)
    told.push(
      `The page lists ${count(listed)} of ${count(data.count)} samples, suspects first; the tables have them all.`,
    );
  if (data.pictures) {
    let bare = 0;
    for (let row = data.pictures.count; row < listed; row++) bare += isSuspect(row);
    if (bare)
      told.push(
        `To keep the files small, ${plural(bare, "suspect has", "suspects have")} no thumbnail: those of the best quality.`,
      );
    else if (data.pictures.count < listed)
      told.push(
        `Thumbnails: all suspects, and ${count(data.pictures.count - Math.min(data.suspects, data.pictures.count))} other samples.`,
      );
  }
  if (data.textLimit) told.push(`Texts are cut after ${count(data.textLimit)} characters.`);
  if (data.nameLimit) told.push(`Names are cut after ${count(data.nameLimit)} characters.`);
  byId("limits").textContent = told.join(" ");
}

const LOOKS = ["system", "light", "dark"];
function showLook(look) {
  if (look === "system") delete document.documentElement.dataset.look;
  else document.documentElement.dataset.look = look;
  const next = LOOKS[(LOOKS.indexOf(look) + 1) % 3];
  byId("look").textContent = { system: "◐ System", light: "○ Light", dark: "● Dark" }[look];
  byId("look").setAttribute("aria-label", `Look: ${look}; change to ${next}`);
  for (const redraw of onLook) redraw();
}

function start() {
  let look = LOOKS.includes(store.get("mentornet-look")) ? store.get("mentornet-look") : "system";
  showLook(look);
  byId("look").addEventListener("click", () => {
    look = LOOKS[(LOOKS.indexOf(look) + 1) % 3];
    store.set("mentornet-look", look);
    showLook(look);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () =>
    onLook.forEach((redraw) => redraw()),
  );

  fillControls();
  restore();
  drawConfusion();
  drawOverview();
  startGallery();
  startDetail();
  refresh();
  limits();
  tally();
  onMarks.push(tally);

  let typing = 0;
  controls.search.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(refresh, 120);
  });
  for (const name of ["group", "given", "suggested", "order"])
    controls[name].addEventListener("change", refresh);
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  byId("filters").addEventListener("reset", () => setTimeout(refresh));
  byId("undo").addEventListener("click", undoHere);
  byId("download").addEventListener("click", download);
  byId("load").addEventListener("change", async (event) => {
    const [file] = event.target.files;
    if (file) await load(file);
    event.target.value = "";
  });
  byId("all-menu").addEventListener("click", (event) => {
    const button = event.target.closest("[data-all]");
    if (!button) return;
    markAll(button.dataset.all);
    byId("all-menu").open = false;
    byId("all-menu").querySelector("summary").focus();
  });
  addEventListener("click", (event) => {
    if (!byId("all-menu").contains(event.target)) byId("all-menu").open = false;
  });
  byId("all-menu").addEventListener("keydown", (event) => {
    if (event.key === "Escape") byId("all-menu").open = false;
  });
  addEventListener("pagehide", () => {
    if (saving) save();
  });
  addEventListener("visibilitychange", () => {
    if (saving) save();
  });
}

start();
