// Suspects by given and suggested class, as a table of buttons that filter the gallery.

const MOST_CLASSES = 20;

function drawConfusion() {
  const pairs = new Map(),
    involved = new Float64Array(data.classes.length);
  const key = (given, suggested) => given * data.classes.length + suggested;
  for (let row = 0; row < listed; row++) {
    const given = samples.given[row],
      suggested = samples.suggested[row];
    if (!isSuspect(row) || suggested < 0) continue;
    pairs.set(key(given, suggested), (pairs.get(key(given, suggested)) ?? 0) + 1);
    involved[given]++;
    involved[suggested]++;
  }
  const all = [...involved.keys()];
  const shown =
    all.length <= MOST_CLASSES
      ? all
      : all
          .sort((a, b) => involved[b] - involved[a])
          .slice(0, MOST_CLASSES)
          .sort((a, b) => a - b);
  const number = (given, suggested) => pairs.get(key(given, suggested)) ?? 0;
  const most = Math.max(
    1,
    ...shown.flatMap((given) => shown.map((suggested) => number(given, suggested))),
  );

  const button = (given, suggested) => {
    const suspects = number(given, suggested);
    const name = `given ${isolated(className(given))}, suggested ${isolated(className(suggested))}: ${plural(suspects, "suspect", "suspects")}`;
    return el("button", {
      type: "button",
      tabindex: "-1",
      "aria-label": name,
      "aria-pressed": "false",
      title: name,
      class: given === suggested ? "same" : null,
      "data-given": given,
      "data-suggested": suggested,
      text: suspects ? count(suspects) : "",
      style: { "--heat": suspects ? 0.1 + (0.9 * suspects) / most : 0 },
    });
  };
  const head = el(
    "tr",
    {},
    el(
      "th",
      { class: "corner" },
      el("span", { text: "suggested →" }),
      el("span", { text: "given ↓" }),
    ),
    ...shown.map((label) =>
      el("th", { scope: "col", class: "across" }, el("span", {}, bdi(className(label), 24))),
    ),
  );
  const rows = shown.map((given) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, bdi(className(given), 24)),
      ...shown.map((suggested) => el("td", {}, button(given, suggested))),
    ),
  );
  const first = el("col", { style: { width: shown.length > 12 ? "80px" : "26%" } });
  const table = el(
    "table",
    { "aria-describedby": "confusion-hint" },
    el("caption", {
      class: "unseen",
      text: "Number of suspects by given and suggested class; arrow keys move",
    }),
    el("colgroup", {}, first, ...shown.map(() => el("col"))),
    el("thead", {}, head),
    el("tbody", {}, ...rows),
  );
  if (shown.length > 12) table.style.minWidth = `${80 + 24 * shown.length}px`;
  table.addEventListener("keydown", moveInTable);
  table.addEventListener("click", (event) => {
    const chosen = event.target.closest("button");
    if (!chosen) return;
    const { given, suggested } = chosen.dataset;
    const again = chosen.getAttribute("aria-pressed") === "true";
    filterBy(again ? "" : given, again ? "" : suggested);
    rove(table, chosen);
  });
  byId("confusion").append(el("div", { class: "heat" }, table));
  table.querySelector("button")?.setAttribute("tabindex", "0");
  if (shown.length < data.classes.length) {
    byId("confusion").append(
      el("p", {
        class: "hint",
        text: `The ${shown.length} of ${count(data.classes.length)} classes with the most suspects. The filters reach the others.`,
      }),
    );
  }
}

function rove(table, button) {
  for (const other of table.querySelectorAll('[tabindex="0"]')) other.tabIndex = -1;
  button.tabIndex = 0;
}

function moveInTable(event) {
  const moves = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  const move = moves[event.key],
    cell = event.target.closest("td");
  if (!move || !cell) return;
  event.preventDefault();
  const body = cell.closest("tbody");
  const target =
    body.rows[cell.parentNode.rowIndex - 1 + move[0]]?.cells[
      cell.cellIndex + move[1]
    ]?.querySelector("button");
  if (!target) return;
  rove(body, target);
  target.focus();
}

/** Show in the table what the gallery is filtered by. */
function markConfusion(given, suggested) {
  for (const button of byId("confusion").querySelectorAll("button")) {
    const on =
      given !== "" &&
      suggested !== "" &&
      button.dataset.given === given &&
      button.dataset.suggested === suggested;
    if (on !== (button.getAttribute("aria-pressed") === "true"))
      button.setAttribute("aria-pressed", String(on));
  }
}
