// One sample by itself: large, with its whole text, its trajectory and any label to choose.

const detail = byId("detail");
let detailPlace = 0;

function openDetail(place, chooseLabel = false) {
  detailPlace = place;
  fillDetail();
  if (!detail.open) detail.showModal();
  detail.querySelector(chooseLabel ? "select" : "h2").focus();
}

function fillDetail() {
  const row = view[detailPlace],
    mark = markOf(row),
    name = nameOf(row),
    text = textOf(row);
  const step = (by, label, sign) =>
    el("button", {
      type: "button",
      "aria-label": label,
      text: sign,
      disabled: !(detailPlace + by >= 0 && detailPlace + by < grid.end),
      onclick: () => stepDetail(by),
    });
  const trait = (term, ...value) => [el("dt", { text: term }), el("dd", {}, ...value)];
  const traits = el(
    "dl",
    { class: "traits" },
    ...(name ? trait("name", bdi(name, 20000)) : []),
    ...trait("given label", bdi(className(samples.given[row]), 400)),
    ...(samples.suggested[row] < 0
      ? []
      : trait(
          "suggested",
          bdi(className(samples.suggested[row]), 400),
          ` ${percent(samples.probability[row])}`,
        )),
    ...(samples.truth ? trait("true label", bdi(className(samples.truth[row]), 400)) : []),
    ...trait(
      "label quality",
      `${decimal(samples.quality[row], 3)}, ${isSuspect(row) ? "suspect" : "kept"}${isTie(row) ? ", near-tie" : ""}`,
    ),
    ...(data.known.weight ? trait("mean weight", decimal(samples.weight[row], 3)) : []),
    ...(data.known.loss
      ? trait(
          "loss",
          `${decimal(samples.loss[row], 3)} on average, ${decimal(samples.last[row], 3)} at the end`,
        )
      : []),
  );
  const picture = hasPicture(row) || text === null ? el("div", { class: "big" }, face(row)) : null;
  const words =
    text === null
      ? null
      : el("div", {
          class: "big words",
          tabindex: "0",
          role: "region",
          "aria-label": "Text",
          dir: "auto",
          text,
        });
  const select = el(
    "select",
    {
      "aria-label": "Relabel to",
      onchange: () =>
        setMarks([[samples.index[row], { decision: "relabel", label: +select.value }]]),
    },
    el("option", { value: "", text: "choose a class", disabled: true }),
    ...data.classes.map((one, label) => el("option", { value: label, text: isolated(one, 80) })),
  );
  select.value =
    mark?.decision === "relabel"
      ? String(mark.label)
      : samples.suggested[row] < 0 || samples.suggested[row] === samples.given[row]
        ? ""
        : String(samples.suggested[row]);
  const choose = el(
    "div",
    { class: "choose" },
    ...["keep", "relabel", "drop"].map((decision) =>
      el("button", {
        type: "button",
        class: decision,
        "data-decision": decision,
        "aria-pressed": String(mark?.decision === decision),
        text: decision[0].toUpperCase() + decision.slice(1),
        onclick: () => decideHere(decision),
      }),
    ),
    el("label", {}, "Relabel to", select),
  );
  detail.replaceChildren(
    el(
      "div",
      { class: "detail-head" },
      el("h2", { id: "detail-title", tabindex: "-1", text: `Sample ${samples.index[row]}` }),
      el(
        "div",
        {},
        step(-1, "Previous sample", "←"),
        step(1, "Next sample", "→"),
        el("button", { type: "button", text: "Close", onclick: () => detail.close() }),
      ),
    ),
    el(
      "div",
      { class: "sheet" },
      el("div", {}, picture, words),
      el("div", {}, traits, data.known.loss ? trajectoryChart(row) : null, choose),
    ),
  );
}

function decideHere(decision) {
  const row = view[detailPlace],
    select = detail.querySelector("select");
  if (decision === "relabel" && markOf(row)?.decision !== "relabel") {
    if (select.value === "") {
      select.focus();
      return;
    }
    const mark = { decision, label: +select.value };
    setMarks([[samples.index[row], mark]]);
    say(`Sample ${samples.index[row]}: ${wordsFor(mark)}`);
  } else decide(row, decision);
}

function stepDetail(by) {
  const next = detailPlace + by;
  if (next < 0 || next >= grid.end) return;
  detailPlace = next;
  fillDetail();
  detail.querySelector("h2").focus();
  say(described(view[next], markOf(view[next])));
}

function trajectoryChart(row) {
  const losses = trajectory(row),
    known = losses.filter((loss) => loss !== null);
  if (!known.length) return el("p", { class: "hint", text: "No loss of this sample is known." });
  const plot = { width: 400, height: 130, left: 34, right: 6, top: 6, bottom: 32 };
  const label = `Loss over training: starts at ${decimal(known[0])}, ends at ${decimal(known.at(-1))}.`;
  const { drawing, x, y } = axes({
    label,
    plot,
    x: [1, Math.max(2, data.epochs), "epoch"],
    y: [0, data.sparks.top, "", ticks(0, data.sparks.top, 3)],
  });
  const at = (place) =>
    x(losses.length === 1 ? 1 : 1 + (place * (data.epochs - 1)) / (losses.length - 1));
  drawing.append(svg("path", { class: "line c1", d: pathOf(losses, at, y) }));
  drawing.setAttribute("class", "traject");
  return drawing;
}

function startDetail() {
  detail.addEventListener("close", () => moveTo(detailPlace));
  detail.addEventListener("click", (event) => {
    if (event.target === detail) detail.close();
  });
  detail.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("select, .words"))
      return;
    const decision = { k: "keep", r: "relabel", d: "drop" }[event.key.toLowerCase()];
    if (decision) decideHere(decision);
    else if (event.key === "ArrowLeft") stepDetail(-1);
    else if (event.key === "ArrowRight") stepDetail(1);
    else if (event.key.toLowerCase() === "u") undo();
    else return;
    event.preventDefault();
  });
  onMarks.push(() => {
    if (!detail.open) return;
    const focused = detail.contains(document.activeElement) ? document.activeElement : null;
    const wanted = focused?.dataset.decision
      ? `[data-decision="${focused.dataset.decision}"]`
      : focused?.tagName === "SELECT"
        ? "select"
        : "h2";
    fillDetail();
    detail.querySelector(wanted).focus();
  });
}
