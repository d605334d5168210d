// Text and elements. Whatever comes from the data enters the page as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

/** An element with attributes; `text`, `on…` and `style` are set as properties. */
function el(tag, attributes = {}, ...children) {
  return dress(document.createElement(tag), attributes, children);
}

function svg(tag, attributes = {}, ...children) {
  return dress(document.createElementNS(SVG, tag), attributes, children);
}

function dress(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "text") element.textContent = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") for (const key in value) element.style.setProperty(key, value[key]);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

const byId = (id) => document.getElementById(id);

/** At most `length` characters, with an ellipsis for the rest. */
function cut(text, length) {
  if (text.length <= length) return text;
  return text.slice(0, length - 1).replace(/[\ud800-\udbff]$/, "") + "…";
}

/** For places that hold plain text only: directions inside do not leak out. */
const isolated = (text, length = 60) => `\u2068${cut(text, length)}\u2069`;

/** An element that shows text from the data, cut; the whole text as tooltip. */
function bdi(text, length = 60, className = null) {
  const title = text.length > length ? cut(text, 2000) : null;
  return el("bdi", { class: className, dir: "auto", title, text: cut(text, length) });
}

const whole = new Intl.NumberFormat("en");
const count = (number) => whole.format(number);
const percent = (share) => {
  if (!Number.isFinite(share)) return "–";
  return share >= 0.995 && share < 1 ? "> 99 %" : `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`;
};
const decimal = (value, digits = 2) => (Number.isFinite(value) ? value.toFixed(digits) : "–");
const plural = (number, one, many) => `${count(number)} ${number === 1 ? one : many}`;

/** Told to those who cannot see it happen. */
function say(message) {
  byId("said").textContent = "";
  requestAnimationFrame(() => {
    byId("said").textContent = message;
  });
}

/** Something went wrong; stays until it is closed. */
function complain(message) {
  const close = el("button", {
    type: "button",
    text: "Close",
    onclick: () => {
      byId("trouble").hidden = true;
    },
  });
  byId("trouble").replaceChildren(el("span", { dir: "auto", text: cut(message, 600) }), close);
  byId("trouble").hidden = false;
}

/** The browser's store, which may be forbidden or full. */
const store = {
  get(key) {
    try {
      return localStorage.getItem(key);
    } catch {
      return null;
    }
  },
  set(key, value) {
    try {
      localStorage.setItem(key, value);
      return true;
    } catch {
      return false;
    }
  },
};
