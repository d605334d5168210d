// Thumbnails, cut from sprite sheets that are loaded when they are first needed.

const sheets = new Map();
const MOST_SHEETS = 150;
let lostPictures = false;

const hasPicture = (row) => data.pictures !== null && row < data.pictures.count;

/** Draw the picture of a row as soon as its sheet is there; `onLost` if it cannot be had. */
function drawPicture(canvas, row, onLost) {
  const { perSheet, width, height, exact } = data.pictures;
  canvas.width = width;
  canvas.height = height;
  canvas.classList.toggle("exact", exact);
  const sheet = sheetAt(Math.floor(row / perSheet));
  if (sheet.lost) onLost();
  else if (sheet.ready) copy(sheet.image, canvas, row);
  else sheet.waiting.push({ canvas, row, onLost });
}

function sheetAt(number) {
  let sheet = sheets.get(number);
  if (sheet) {
    sheets.delete(number); // to the end: last used, last to go
    sheets.set(number, sheet);
    return sheet;
  }
  sheet = { image: new Image(), ready: false, lost: false, waiting: [] };
  sheets.set(number, sheet);
  sheet.image.onload = () => {
    sheet.ready = true;
    for (const { canvas, row } of sheet.waiting) copy(sheet.image, canvas, row);
    sheet.waiting = [];
  };
  sheet.image.onerror = () => {
    sheet.lost = true;
    for (const { onLost } of sheet.waiting) onLost();
    if (!lostPictures)
      complain("The pictures were not found. Keep the folder “pictures” beside report.html.");
    lostPictures = true;
  };
  sheet.image.src = data.pictures.sheets[number];
  if (sheets.size > MOST_SHEETS) sheets.delete(sheets.keys().next().value);
  return sheet;
}

function copy(image, canvas, row) {
  const { perSheet, columns, cellWidth, cellHeight, width, height } = data.pictures;
  const place = row % perSheet;
  const x = (place % columns) * cellWidth,
    y = Math.floor(place / columns) * cellHeight;
  canvas.getContext("2d").drawImage(image, x, y, width, height, 0, 0, width, height);
  canvas.dataset.drawn = "";
}
