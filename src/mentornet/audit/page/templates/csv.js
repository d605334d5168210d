// The verdicts as CSV: written for spreadsheets, and read as they write it.

/** Whether a spreadsheet would run the text as a formula, or a reader would take blanks off it. */
const needsGuard = (text) =>
  /^'*[=+\-@\uff1d\uff0b\uff0d\uff20]|^'*[^\S\ufeff]|[^\S\ufeff]$/.test(text);

/** The text in a cell, without the apostrophe that guards it. */
const unguard = (text) =>
  text.startsWith("'") && needsGuard(text.slice(1)) ? text.slice(1) : text.replace(/^[^\S\ufeff]+|[^\S\ufeff]+$/g, "");

/** Such text is written with an apostrophe before it. */
const cell = (value) => {
  const text = needsGuard(value) ? `'${value}` : value;
  return /[",;\t\r\n']/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

const toCsv = (rows) => "\ufeff" + rows.map((row) => row.map(cell).join(",") + "\r\n").join("");

/** Lines as `{line, cells}`, blank ones left out; the separator is the one that finds `decision`. */
function readCsv(text) {
  text = text.replace(/^\ufeff/, "");
  const told = /^sep=(.)\r?\n/i.exec(text);
  let rows = [];
  for (const mark of told ? [told[1]] : [",", ";", "\t", "|"]) {
    rows = split(text, mark).slice(told ? 1 : 0);
    if (rows.length && header(rows).includes("decision")) break;
  }
  return rows;
}

const header = (rows) => rows[0].cells.map((name) => name.trim().toLowerCase());

function split(text, mark) {
  const rows = [];
  let cells = [],
    value = "",
    quoted = false,
    line = 1,
    start = 1;
  const endCell = () => {
    cells.push(value);
    value = "";
  };
  const endRow = () => {
    endCell();
    if (cells.some((one) => one.trim())) rows.push({ line: start, cells });
    cells = [];
    start = line;
  };
  for (let at = 0; at < text.length; at++) {
    const sign = text[at];
    if (sign === "\n" || (sign === "\r" && text[at + 1] !== "\n")) line++;
    if (quoted) {
      if (sign !== '"') value += sign;
      else if (text[at + 1] === '"') {
        value += '"';
        at++;
      } else quoted = false;
    } else if (sign === '"' && value === "") quoted = true;
    else if (sign === mark) endCell();
    else if (sign === "\n" || sign === "\r") {
      if (sign === "\n" || text[at + 1] !== "\n") endRow();
    } else value += sign;
  }
  endRow();
  return rows;
}

/** A name without what is lost or added in a spreadsheet. */
function plain(name) {
  name = name.trim().replace(/^'/, "");
  const number = /^0*(\d+)(?:\.0*)?$/.exec(name);
  return number ? number[1] : name.trim();
}
