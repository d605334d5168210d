// Small charts in SVG that take their colours from the style sheet.

const PLOT = { width: 380, height: 196, left: 40, right: 8, top: 8, bottom: 34 };

/** About `most` round numbers from low to high. */
function ticks(low, high, most) {
  const step = Math.pow(10, Math.floor(Math.log10((high - low) / most)));
  const size = [1, 2, 2.5, 5, 10]
    .map((factor) => factor * step)
    .find((one) => (high - low) / one <= most);
  const values = [];
  for (let at = Math.ceil(low / size - 1e-9); at * size <= high + size * 1e-6; at++)
    values.push(at * size);
  return values;
}

const brief = (value) =>
  (Math.abs(value) >= 1000 ? `${+(value / 1000).toFixed(1)}k` : `${+value.toFixed(3)}`).replace(
    "-",
    "−",
  );

const scale = (low, high, from, to) => (value) =>
  from + ((value - low) / (high - low || 1)) * (to - from);

/** Axes with their numbers and titles; returns the SVG with its scales x and y. */
function axes({
  label,
  x: [xLow, xHigh, xTitle, xTicks],
  y: [yLow, yHigh, yTitle, yTicks],
  yFormat = brief,
  plot = PLOT,
  rules = true,
}) {
  const x = scale(xLow, xHigh, plot.left, plot.width - plot.right);
  const y = scale(yLow, yHigh, plot.height - plot.bottom, plot.top);
  const drawing = svg("svg", {
    viewBox: `0 0 ${plot.width} ${plot.height}`,
    role: "img",
    "aria-label": label,
  });
  const floor = plot.height - plot.bottom;
  for (const value of yTicks ?? ticks(yLow, yHigh, 5)) {
    if (rules)
      drawing.append(
        svg("line", {
          class: "rule",
          x1: plot.left,
          x2: plot.width - plot.right,
          y1: y(value),
          y2: y(value),
        }),
      );
    drawing.append(
      svg("text", {
        x: plot.left - 6,
        y: y(value) + 4,
        "text-anchor": "end",
        text: yFormat(value),
      }),
    );
  }
  for (const value of xTicks ?? ticks(xLow, xHigh, 6)) {
    drawing.append(
      svg("text", { x: x(value), y: floor + 14, "text-anchor": "middle", text: brief(value) }),
    );
  }
  drawing.append(
    svg("line", {
      class: "axis",
      x1: plot.left,
      x2: plot.width - plot.right,
      y1: floor,
      y2: floor,
    }),
    svg("text", {
      x: (plot.left + plot.width - plot.right) / 2,
      y: plot.height - 3,
      "text-anchor": "middle",
      text: xTitle,
    }),
  );
  if (yTitle) {
    drawing.append(
      svg("text", {
        transform: `translate(9 ${(plot.top + floor) / 2}) rotate(-90)`,
        "text-anchor": "middle",
        text: yTitle,
      }),
    );
  }
  return { drawing, x, y, floor };
}

/** A titled figure for the overview. */
function figure(title, hint, ...content) {
  return el(
    "figure",
    { class: "chart" },
    el("h3", { text: title }),
    el("p", { class: "hint", text: hint }),
    ...content,
  );
}

/** A chart's numbers for those who would rather read them. */
function asTable(caption, heads, rows) {
  const place = el("div", { tabindex: "0", role: "region", "aria-label": caption });
  const details = el(
    "details",
    { class: "as-table" },
    el("summary", { text: "as a table" }),
    place,
  );
  details.addEventListener("toggle", () => {
    if (!details.open || place.firstChild) return;
    const head = el(
      "tr",
      {},
      ...heads.map((name) => el("th", { scope: "col", dir: "auto", text: cut(name, 40) })),
    );
    const body = rows.map((row) => el("tr", {}, ...row.map((value) => el("td", { text: value }))));
    place.append(
      el(
        "table",
        {},
        el("caption", { class: "unseen", text: caption }),
        el("thead", {}, head),
        el("tbody", {}, ...body),
      ),
    );
  });
  return details;
}

const legend = (entries) =>
  el(
    "ul",
    { class: "legend" },
    ...entries.map(([mark, name]) =>
      el(
        "li",
        {},
        svg("svg", { viewBox: "0 0 22 10", "aria-hidden": "true" }, mark),
        bdi(name, 40),
      ),
    ),
  );
