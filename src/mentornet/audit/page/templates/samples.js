// The samples that the page lists, as typed arrays; a "row" is a place in them.

const data = JSON.parse(byId("data").textContent);

function unpack(text, Kind) {
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let at = 0; at < raw.length; at++) bytes[at] = raw.charCodeAt(at);
  return new Kind(bytes.buffer);
}

const samples = {
  index: unpack(data.columns.index, Float64Array),
  given: unpack(data.columns.given, Int32Array),
  suggested: unpack(data.columns.suggested, Int32Array),
  truth: data.columns.truth === null ? null : unpack(data.columns.truth, Int32Array),
  probability: unpack(data.columns.probability, Float32Array),
  quality: unpack(data.columns.quality, Float32Array),
  weight: unpack(data.columns.weight, Float32Array),
  loss: unpack(data.columns.loss, Float32Array),
  last: unpack(data.columns.last, Float32Array),
  flags: unpack(data.columns.flags, Uint8Array),
  sparks: unpack(data.sparks.levels, Uint8Array),
};
const listed = samples.index.length;
const rowOf = new Map();
for (let row = 0; row < listed; row++) rowOf.set(samples.index[row], row);

const isSuspect = (row) => (samples.flags[row] & 1) !== 0;
const isTie = (row) => (samples.flags[row] & 2) !== 0;
const className = (label) => (label < 0 ? "none" : data.classes[label]);
/** The last part of a name, which tells files of one folder apart. */
const fileOf = (row) => nameOf(row).split("/").at(-1);
const nameOf = (row) => (data.names === null ? "" : data.names[row]);
const textOf = (row) => (data.texts === null ? null : data.texts[row]);

/** The trajectory of a row as losses; null where it is not known. */
function trajectory(row) {
  const { points, top } = data.sparks;
  const losses = [];
  for (let at = row * points; at < (row + 1) * points; at++) {
    losses.push(samples.sparks[at] === 255 ? null : (samples.sparks[at] / 254) * top);
  }
  return losses;
}

/** The path through values that exist; x and y turn places and values into pixels. */
function pathOf(values, x, y) {
  let path = "",
    open = false;
  values.forEach((value, at) => {
    if (value === null) {
      open = false;
      return;
    }
    path += `${open ? "L" : "M"}${x(at).toFixed(1)} ${y(value).toFixed(1)}`;
    if (!open && (at + 1 >= values.length || values[at + 1] === null)) path += "h.1";
    open = true;
  });
  return path;
}

/** A spark line: the loss over training, drawn to the same scale on every card. */
function spark(row) {
  const losses = trajectory(row);
  const last = Math.max(1, losses.length - 1);
  return svg(
    "svg",
    { class: "spark", viewBox: "0 0 100 26", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("path", { class: "base", d: "M0 25.5H100" }),
    svg("path", {
      d: pathOf(
        losses,
        (at) => (100 * at) / last,
        (loss) => 24.5 - (23 * loss) / data.sparks.top,
      ),
    }),
  );
}

/** What a screen reader says of a sample. */
function described(row, mark) {
  const parts = [
    `Sample ${samples.index[row]}`,
    `given ${isolated(className(samples.given[row]))}`,
  ];
  if (samples.suggested[row] >= 0) {
    parts.push(
      `suggested ${isolated(className(samples.suggested[row]))} ${percent(samples.probability[row])}`,
    );
  }
  parts.push(`label quality ${decimal(samples.quality[row])}`);
  if (isTie(row)) parts.push("near-tie");
  if (mark) parts.push(`marked ${wordsFor(mark)}`);
  return parts.join(", ");
}
