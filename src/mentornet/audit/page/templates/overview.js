// The charts above the gallery: histogram, training curves, the mentor's weights.

const onLook = []; // what must be drawn again when the look changes

function drawOverview() {
  const place = byId("charts");
  place.append(histogram());
  for (const axis of new Set(data.curves.map((curve) => curve.axis))) {
    place.append(
      curves(
        axis,
        data.curves.filter((curve) => curve.axis === axis),
      ),
    );
  }
  if (data.surfaces.length) place.append(surfaces());
}

function histogram() {
  const { edges, kept, suspect, unknown } = data.histogram;
  const [title, hint, axis] = data.known.loss
    ? [
        "Loss of kept and suspect samples",
        "Wrong labels keep a high loss for longer.",
        "mean loss over training",
      ]
    : [
        "Quality of kept and suspect labels",
        "A label of quality 0 is surely wrong.",
        "label quality",
      ];
  const what = data.known.loss ? "loss" : "quality";
  const most = Math.max(1, ...kept.map((number, at) => number + suspect[at]));
  const total = (counts) => counts.reduce((sum, number) => sum + number, 0);
  const label = `Histogram of ${axis}: ${count(total(kept))} kept and ${count(total(suspect))} suspect samples.`;
  const { drawing, x, y, floor } = axes({
    label,
    x: [edges[0], edges.at(-1), axis],
    y: [0, most * 1.04, "samples"],
  });
  const bars = svg("g");
  kept.forEach((number, at) => {
    const left = x(edges[at]) + 0.5,
      width = x(edges[at + 1]) - x(edges[at]) - 1;
    const range = `${decimal(edges[at])} ${at + 1 < kept.length ? `– ${decimal(edges[at + 1])}` : "and more"}`;
    const bar = (from, to, name) =>
      svg("rect", { class: name, x: left, width, y: y(to), height: y(from) - y(to) });
    bars.append(
      svg(
        "g",
        {},
        svg("title", {
          text: `${what} ${range}: ${count(number)} kept, ${count(suspect[at])} suspect`,
        }),
        svg("rect", { x: left, width, y: PLOT.top, height: floor - PLOT.top, fill: "transparent" }),
        bar(0, suspect[at], "suspect-bar"),
        bar(suspect[at], suspect[at] + number, "kept-bar"),
      ),
    );
  });
  drawing.append(bars);
  const block = (name) => svg("rect", { class: name, x: 4, y: 0, width: 12, height: 10 });
  const rows = kept.map((number, at) => [decimal(edges[at]), count(number), count(suspect[at])]);
  const left = unknown ? ` ${plural(unknown, "sample has", "samples have")} no known loss.` : "";
  return figure(
    title,
    `${hint}${left}`,
    drawing,
    legend([
      [block("suspect-bar"), "suspect"],
      [block("kept-bar"), "kept"],
    ]),
    asTable(label, [`${what} from`, "kept", "suspect"], rows),
  );
}

function curves(axis, lines) {
  const epochs = Math.max(...lines.map((line) => line.values.length));
  const values = lines.flatMap((line) => line.values).filter((value) => value !== null);
  const share = axis === "share";
  const high = share ? 1 : Math.max(1e-9, ...values),
    low = share ? 0 : Math.min(0, ...values);
  const write = share ? (value) => percent(value) : (value) => decimal(value, 3);
  const label =
    `Training curves over ${plural(epochs, "epoch", "epochs")}: ` +
    lines
      .map((line) => {
        const known = line.values.filter((value) => value !== null);
        return `${isolated(line.name)} ends at ${known.length ? write(known.at(-1)) : "nothing"}`;
      })
      .join("; ") +
    ".";
  const xTicks = ticks(1, Math.max(2, epochs), 6)
    .map(Math.round)
    .filter((value, at, all) => value >= 1 && all.indexOf(value) === at);
  const { drawing, x, y, floor } = axes({
    label,
    x: [1, Math.max(2, epochs), "epoch", xTicks],
    y: [low, high * (share ? 1 : 1.05), share ? "" : cut(axis, 30)],
    yFormat: share ? (value) => `${Math.round(100 * value)} %` : brief,
  });
  lines.forEach((line, at) =>
    drawing.append(
      svg("path", {
        class: `line c${at % 6} d${at % 6}`,
        d: pathOf(line.values, (place) => x(place + 1), y),
      }),
    ),
  );
  const step = x(2) - x(1);
  for (let epoch = 1; epoch <= epochs && epochs <= 400; epoch++) {
    const told = lines.map(
      (line) =>
        `${isolated(line.name)} ${line.values[epoch - 1] === null || line.values[epoch - 1] === undefined ? "–" : write(line.values[epoch - 1])}`,
    );
    drawing.append(
      svg(
        "rect",
        {
          x: x(epoch) - step / 2,
          width: step,
          y: PLOT.top,
          height: floor - PLOT.top,
          fill: "transparent",
        },
        svg("title", { text: `epoch ${epoch}: ${told.join(", ")}` }),
      ),
    );
  }
  const rows = Array.from({ length: epochs }, (_, at) => [
    at + 1,
    ...lines.map((line) => ((line.values[at] ?? null) === null ? "–" : write(line.values[at]))),
  ]);
  return figure(
    "Training curves",
    share ? "Shares in percent, epoch by epoch." : "Epoch by epoch.",
    drawing,
    legend(
      lines.map((line, at) => [
        svg("path", { class: `line c${at % 6} d${at % 6}`, d: "M0 5H22" }),
        line.name,
      ]),
    ),
    asTable(label, ["epoch", ...lines.map((line) => line.name)], rows),
  );
}

/** Weights over loss and loss difference, one update point at a time. */
function surfaces() {
  const place = el("div");
  const bar = el("canvas", { width: 84, height: 1, "aria-hidden": "true" });
  let shown = 0;
  const steps = data.surfaces.map((surface, at) =>
    el("button", {
      type: "button",
      "aria-pressed": String(at === 0),
      text: isolated(surface.title, 40),
      onclick: () => show(at),
    }),
  );
  const show = (at) => {
    shown = at;
    steps.forEach((button, place) => button.setAttribute("aria-pressed", String(place === at)));
    place.replaceChildren(surfaceDrawing(data.surfaces[at]));
    const shade = shades();
    const context = bar.getContext("2d");
    for (let pixel = 0; pixel < 84; pixel++) {
      context.fillStyle = `rgb(${shade(pixel / 83).join()})`;
      context.fillRect(pixel, 0, 1, 1);
    }
  };
  show(0);
  onLook.push(() => show(shown));
  return figure(
    "What the mentor trusted",
    data.surfaces.length > 1
      ? "Its weight for a sample, update by update."
      : "Its weight for a sample.",
    place,
    el("div", { class: "scale" }, el("span", { text: "weight 0" }), bar, el("span", { text: "1" })),
    steps.length > 1
      ? el("div", { class: "steps", role: "group", "aria-label": "Update point" }, ...steps)
      : null,
  );
}

/** From suspect over neutral to kept, as the style sheet has these colours now. */
function shades() {
  const probe = el("span", { hidden: true });
  document.body.append(probe);
  const stops = ["--suspect", "--middle", "--kept"].map((name) => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe)
      .color.match(/[\d.]+/g)
      .slice(0, 3)
      .map(Number);
  });
  probe.remove();
  return (weight) => {
    const at = Math.min(1.999, Math.max(0, weight * 2)),
      from = stops[Math.floor(at)],
      to = stops[Math.floor(at) + 1];
    return from.map((value, channel) => Math.round(value + (at % 1) * (to[channel] - value)));
  };
}

const nearest = (values, wanted) =>
  values.reduce(
    (best, value, at) => (Math.abs(value - wanted) < Math.abs(values[best] - wanted) ? at : best),
    0,
  );

function surfaceDrawing({ title, losses, differences, weights }) {
  const flat = weights.flat().filter((value) => value !== null);
  const label = `The mentor's weight over loss and loss difference, ${isolated(title)}: from ${decimal(Math.min(...flat))} to ${decimal(Math.max(...flat))}.`;
  const { drawing, x, y } = axes({
    label,
    x: [losses[0], losses.at(-1), "loss"],
    y: [differences[0], differences.at(-1), "loss − percentile"],
    rules: false,
  });
  const canvas = el("canvas", { width: 96, height: 64 });
  const context = canvas.getContext("2d"),
    pixels = context.createImageData(96, 64),
    shade = shades();
  const across = Array.from({ length: 96 }, (_, at) =>
    nearest(losses, losses[0] + ((at + 0.5) / 96) * (losses.at(-1) - losses[0])),
  );
  for (let down = 0; down < 64; down++) {
    const row =
      weights[
        nearest(
          differences,
          differences.at(-1) - ((down + 0.5) / 64) * (differences.at(-1) - differences[0]),
        )
      ];
    across.forEach((column, at) => {
      const weight = row[column];
      pixels.data.set(
        weight === null ? [0, 0, 0, 0] : [...shade(weight), 255],
        4 * (down * 96 + at),
      );
    });
  }
  context.putImageData(pixels, 0, 0);
  const left = x(losses[0]),
    top = y(differences.at(-1));
  drawing.append(
    svg("image", {
      href: canvas.toDataURL(),
      x: left,
      y: top,
      width: x(losses.at(-1)) - left,
      height: y(differences[0]) - top,
      preserveAspectRatio: "none",
    }),
  );
  return drawing;
}
