// One card: picture or text, labels, trajectory, and the buttons that decide.

function card(row, isCurrent) {
  const body = el(
    "article",
    { class: "card", "data-row": row, tabindex: isCurrent ? "0" : "-1" },
    el(
      "button",
      {
        class: "shot",
        type: "button",
        tabindex: "-1",
        "aria-label": `Details of sample ${samples.index[row]}`,
        style: { height: `${grid.shot}px` },
      },
      face(row),
    ),
    el(
      "div",
      { class: "about" },
      el(
        "div",
        { class: "labels" },
        bdi(className(samples.given[row]), 40, "was"),
        el("span", {
          class: "number",
          title: "label quality: 0 is surely wrong",
          text: decimal(samples.quality[row], 3),
        }),
        bdi(
          samples.suggested[row] < 0 ? "no suggestion" : className(samples.suggested[row]),
          40,
          "now",
        ),
        el("span", {
          class: "number",
          title: "probability of the suggested label",
          text: samples.suggested[row] < 0 ? "" : percent(samples.probability[row]),
        }),
      ),
      data.known.loss ? spark(row) : null,
      data.names === null
        ? null
        : el("div", { class: "called", title: cut(nameOf(row), 400) }, bdi(fileOf(row), 60)),
      el(
        "div",
        { class: "aside" },
        el("span", { text: `#${samples.index[row]}${isTie(row) ? " · near-tie" : ""}` }),
        samples.truth ? el("span", {}, "truly ", bdi(className(samples.truth[row]), 40)) : null,
      ),
    ),
    el(
      "div",
      { class: "picks" },
      ...["keep", "relabel", "drop"].map((decision) =>
        el("button", {
          type: "button",
          class: decision,
          "data-decision": decision,
          tabindex: isCurrent ? "0" : "-1",
          text: decision[0].toUpperCase() + decision.slice(1),
        }),
      ),
    ),
  );
  dressMark(body, row);
  return body;
}

/** The picture, or the text in its place. */
function face(row) {
  const text = textOf(row);
  if (hasPicture(row)) {
    const canvas = el("canvas", { "aria-hidden": "true" });
    drawPicture(canvas, row, () =>
      canvas.replaceWith(el("span", { class: "none", text: "picture not found" })),
    );
    return canvas;
  }
  if (text !== null) return el("span", { class: "words", dir: "auto", text: cut(text, 700) });
  return data.pictures ? el("span", { class: "none", text: "no thumbnail: not a suspect" }) : null;
}

function dressMark(body, row) {
  const mark = markOf(row);
  if (mark) body.dataset.mark = mark.decision;
  else delete body.dataset.mark;
  body.setAttribute("aria-label", described(row, mark));
  for (const button of body.querySelectorAll("[data-decision]")) {
    const on = mark !== undefined && mark.decision === button.dataset.decision;
    button.setAttribute("aria-pressed", String(on));
  }
  const now = body.querySelector(".now");
  const label = mark?.decision === "relabel" ? mark.label : samples.suggested[row];
  now.textContent = label < 0 ? "no suggestion" : cut(className(label), 40);
}
