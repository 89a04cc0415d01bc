"use strict";
(() => {
  const table = document.getElementById("steps");
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const rows = [...body.rows];
  const filter = document.getElementById("filter");
  const shown = document.getElementById("shown");

  const keyOf = (row, column) => {
    const cell = row.cells[column];
    if (cell.dataset.value === undefined) return cell.textContent;
    return cell.dataset.value === "" ? null : Number(cell.dataset.value);
  };

  const compare = (a, b) => {
    if (typeof a === "number" && typeof b === "number") return a - b;
    return String(a).localeCompare(String(b), undefined, { numeric: true });
  };

  const sortBy = (column) => {
    const head = heads[column];
    const isNumber = rows.length > 0 && rows[0].cells[column].dataset.value !== undefined;
    const first = isNumber && column > 0 ? "descending" : "ascending";
    const other = first === "ascending" ? "descending" : "ascending";
    const order = head.getAttribute("aria-sort") === first ? other : first;
    const sign = order === "ascending" ? 1 : -1;
    for (const cell of heads) cell.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", order);
    const keyed = rows.map((row) => [keyOf(row, column), row]);
    keyed.sort(([a], [b]) => {
      if (a === null || b === null) return (a === null) - (b === null);
      return sign * compare(a, b);
    });
    body.append(...keyed.map(([, row]) => row));
  };

  heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => sortBy(column)));

  filter.addEventListener("input", () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const row of rows) {
      const text = `${row.textContent} ${row.cells[1].title}`.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      if (!row.hidden) count += 1;
    }
    const all = `${rows.length} ${rows.length === 1 ? "step" : "steps"}`;
    shown.textContent = count === rows.length ? all : `${count} of ${all}`;
  });
})();
