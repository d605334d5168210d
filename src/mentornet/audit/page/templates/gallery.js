// The gallery: only the cards near the window exist; one of them is current and takes the keys.

const GAP = 14;
const TALLEST = 15e6; // browsers draw nothing beyond some 17 million pixels
const cards = new Map(); // place in the view → list item
let view = []; // rows, filtered and in order
let current = 0; // place of the current card
let grid = { columns: 1, width: 0, height: 0, shot: 0 };
const list = byId("cards");

function setView(rows) {
  view = rows;
  current = 0;
  clearCards();
  arrange();
}

function clearCards() {
  cards.clear();
  list.replaceChildren();
}

/** How many columns fit, and how tall a card is, measured on a real one. */
function arrange() {
  const room = list.clientWidth || 320;
  const least = data.pictures ? (room < 480 ? 140 : 164) : room < 620 ? room : 270;
  const columns = Math.max(1, Math.floor((room + GAP) / (least + GAP)));
  const width = Math.floor((room - GAP * (columns - 1)) / columns);
  const ratio = data.pictures
    ? Math.min(1.25, Math.max(0.6, data.pictures.height / data.pictures.width))
    : 0;
  const shot = data.pictures ? Math.round(width * ratio) : data.texts ? 150 : 28;
  grid = { columns, width, shot, height: 0 };
  if (view.length) {
    const probe = el(
      "li",
      { style: { width: `${width}px`, visibility: "hidden" } },
      card(view[0], true),
    );
    list.append(probe);
    grid.height = probe.offsetHeight + GAP;
    probe.remove();
  }
  const rows = Math.min(
    Math.ceil(view.length / columns),
    Math.floor(TALLEST / Math.max(1, grid.height)),
  );
  grid.end = Math.min(view.length, rows * columns);
  list.style.height = `${Math.max(0, rows * grid.height - GAP)}px`;
  clearCards();
  draw();
}

/** Make the cards near the window, let go of the others. */
function draw() {
  if (!view.length) return;
  const above = -list.getBoundingClientRect().top,
    height = innerHeight;
  const first = Math.max(0, Math.floor((above - height * 0.5) / grid.height)) * grid.columns;
  const last = Math.min(grid.end, Math.ceil((above + height * 1.5) / grid.height) * grid.columns);
  for (const [place, item] of cards) {
    const near = place >= first && place < last;
    if (near || item.contains(document.activeElement)) continue;
    item.remove();
    cards.delete(place);
  }
  let next = list.firstChild;
  for (
    let place = first;
    place < Math.max(last, first + grid.columns) && place < grid.end;
    place++
  ) {
    let item = cards.get(place);
    while (next && +next.dataset.place < place) next = next.nextSibling;
    if (item) continue;
    item = placed(place);
    cards.set(place, item);
    list.insertBefore(item, next);
  }
}

function placed(place) {
  const x = (place % grid.columns) * (grid.width + GAP),
    y = Math.floor(place / grid.columns) * grid.height;
  return el(
    "li",
    {
      "data-place": place,
      "aria-setsize": view.length,
      "aria-posinset": place + 1,
      style: {
        width: `${grid.width}px`,
        height: `${grid.height - GAP}px`,
        transform: `translate(${x}px, ${y}px)`,
      },
    },
    card(view[place], place === current),
  );
}

/** Make a card the current one; scroll to it and focus it if wanted. */
function moveTo(place, focus = true) {
  place = Math.max(0, Math.min(grid.end - 1, place));
  const before = cards.get(current)?.firstChild;
  before?.setAttribute("tabindex", "-1");
  before?.querySelectorAll("[data-decision]").forEach((button) => {
    button.tabIndex = -1;
  });
  current = place;
  if (focus) {
    const top = list.getBoundingClientRect().top + Math.floor(place / grid.columns) * grid.height;
    const room = innerHeight - byId("tally").parentNode.offsetHeight;
    if (top < GAP) scrollBy({ top: top - GAP, behavior: "instant" });
    else if (top + grid.height > room)
      scrollBy({ top: Math.min(top - GAP, top + grid.height - room), behavior: "instant" });
    draw();
  }
  const body = cards.get(place)?.firstChild;
  if (!body) return;
  body.setAttribute("tabindex", "0");
  body.querySelectorAll("[data-decision]").forEach((button) => {
    button.tabIndex = 0;
  });
  if (focus) body.focus({ preventScroll: true });
}

function galleryKeys(event) {
  const body = event.target.closest(".card");
  if (!body) return;
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z" && !event.shiftKey) {
    event.preventDefault();
    undoHere();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const steps = {
    ArrowLeft: -1,
    ArrowRight: 1,
    ArrowUp: -grid.columns,
    ArrowDown: grid.columns,
    PageUp: -3 * grid.columns,
    PageDown: 3 * grid.columns,
  };
  const decision = { k: "keep", r: "relabel", d: "drop" }[event.key.toLowerCase()];
  if (event.key in steps) moveTo(current + steps[event.key]);
  else if (event.key === "Home") moveTo(0);
  else if (event.key === "End") moveTo(grid.end - 1);
  else if (decision) {
    if (decide(view[current], decision)) moveTo(current + 1);
  } else if (event.key.toLowerCase() === "u") undoHere();
  else if (event.key === "/") byId("search").focus();
  else if (event.key === "Enter" && event.target === body) openDetail(current);
  else return;
  event.preventDefault();
}

function startGallery() {
  list.addEventListener("keydown", galleryKeys);
  list.addEventListener("focusin", (event) => {
    const item = event.target.closest("li");
    if (item && +item.dataset.place !== current) moveTo(+item.dataset.place, false);
  });
  list.addEventListener("click", (event) => {
    const body = event.target.closest(".card");
    if (!body) return;
    const place = +body.parentNode.dataset.place,
      pick = event.target.closest("[data-decision]");
    moveTo(place, false);
    if (pick) decide(view[place], pick.dataset.decision);
    else if (event.target.closest(".shot")) openDetail(place);
  });
  let waiting = false;
  addEventListener(
    "scroll",
    () => {
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => {
        waiting = false;
        draw();
      });
    },
    { passive: true },
  );
  let width = list.clientWidth;
  new ResizeObserver(() => {
    if (list.clientWidth === width) return;
    width = list.clientWidth;
    arrange();
  }).observe(list);
  onMarks.push((indices) => {
    const changed = new Set(indices);
    for (const item of cards.values()) {
      const row = +item.firstChild.dataset.row;
      if (changed.has(samples.index[row])) dressMark(item.firstChild, row);
    }
  });
}
