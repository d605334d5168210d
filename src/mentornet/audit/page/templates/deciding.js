// Deciding about one sample or about all that are shown.

/** Mark a row, or take the same mark away; true if it is now marked. */
function decide(row, decision) {
  const before = markOf(row),
    index = samples.index[row];
  if (before?.decision === decision) {
    setMarks([[index, null]]);
    say(`Sample ${index}: mark taken away`);
    return false;
  }
  const label =
    decision === "relabel" ? samples.suggested[row] : decision === "keep" ? samples.given[row] : -1;
  if (decision === "relabel" && (label < 0 || label === samples.given[row])) {
    openDetail(view.indexOf(row), true);
    return false;
  }
  setMarks([[index, { decision, label }]]);
  say(`Sample ${index}: ${wordsFor({ decision, label })}`);
  return true;
}

function markAll(decision) {
  const changes = [];
  for (const row of view) {
    const label =
      decision === "relabel"
        ? samples.suggested[row]
        : decision === "keep"
          ? samples.given[row]
          : -1;
    if (decision === "relabel" && (label < 0 || label === samples.given[row])) continue;
    changes.push([samples.index[row], decision ? { decision, label } : null]);
  }
  if (!changes.length) {
    say("Nothing to mark");
    return;
  }
  setMarks(changes);
  say(
    decision
      ? `${plural(changes.length, "sample", "samples")} marked ${decision}. Undo takes it back.`
      : "All marks of the samples shown taken away",
  );
}

/** Undo, and go to the card that changed if it is in view. */
function undoHere() {
  const index = undo();
  const place = index === null ? -1 : view.indexOf(rowOf.get(index));
  if (place >= 0 && place < grid.end) moveTo(place);
}
