"use strict";
(async () => {
  const data = JSON.parse(document.getElementById("data").textContent);

  // Plotly stands in this file compressed. Its digest is among those that may run.
  const plotly = document.getElementById("plotly");
  const load = async () => {
    const packed = Uint8Array.from(atob(plotly.textContent), (letter) => letter.charCodeAt(0));
    const script = document.createElement("script");
    script.textContent = await new Response(
      new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip")),
    ).text();
    plotly.replaceWith(script);
  };

  // The table: rows are [texts, values], by reports to begin with.
  const body = document.querySelector("#table tbody");
  const heads = [...document.querySelectorAll("#table th")];
  const find = document.getElementById("find");
  const more = document.getElementById("more");
  const FIRST = 50, STEP = 100;
  let rows = data.rows.slice(), most = FIRST;

  const show = () => {
    const wanted = find.value.trim().toLocaleLowerCase();
    const found = wanted ? rows.filter(([texts]) => texts[0].toLocaleLowerCase().includes(wanted)) : rows;
    body.replaceChildren(...found.slice(0, most).map(([texts]) => {
      const row = document.createElement("tr");
      row.append(...texts.map((text) => {
        const cell = document.createElement("td");
        cell.textContent = text;
        return cell;
      }));
      return row;
    }));
    const text = (number) => number.toLocaleString("en"), place = document.getElementById("shown");
    const among = (wanted ? text(found.length) + " found among " : "") + place.dataset.among;
    place.textContent = text(Math.min(most, found.length)) + " shown of " + among;
    more.hidden = found.length <= most;
  };
  const compare = (column) => (a, b) => column === 0
    ? a[0][0].localeCompare(b[0][0], undefined, { numeric: true })
    : a[1][column - 1] - b[1][column - 1];
  heads.forEach((head, column) => head.firstElementChild.addEventListener("click", () => {
    // Names from A, numbers from the largest; the other way round at the second click.
    const before = head.getAttribute("aria-sort");
    const rising = before ? before === "descending" : column === 0;
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", rising ? "ascending" : "descending");
    const order = compare(column);
    rows = data.rows.slice().sort((a, b) => rising ? order(a, b) : order(b, a));
    show();
  }));
  find.addEventListener("input", () => { most = FIRST; show(); });
  more.addEventListener("click", () => { most += STEP; show(); });
  show();

  // Charts: transparent, in the page's own ink, so that they suit light, dark and paper.
  const charts = data.figures.map((figure, i) => [document.getElementById("chart" + i), figure]);
  const ink = () => getComputedStyle(document.documentElement).getPropertyValue("--ink").trim();
  const paint = (colour) => charts.map(([place]) => Plotly.relayout(place, { "font.color": colour }));
  const fit = () => charts.forEach(([place]) => Plotly.Plots.resize(place));
  await load();
  const drawn = charts.map(([place, figure]) => {
    const layout = { ...figure.layout, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)" };
    layout.font = { ...layout.font, color: ink(), family: 'system-ui, "Segoe UI", sans-serif' };
    layout.autosize = true;
    layout.xaxis = { zeroline: false, ...layout.xaxis };  // it would be a line through the first bar
    // On a phone the toolbar would lie on the legend.
    const displayModeBar = innerWidth > 640 && "hover";
    return Plotly.newPlot(place, figure.data, layout, { responsive: true, displaylogo: false, displayModeBar });
  });
  Promise.all(drawn).then(() => document.documentElement.setAttribute("data-drawn", "yes"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => paint(ink()));
  addEventListener("beforeprint", () => { paint("#000000"); fit(); });
  addEventListener("afterprint", () => { paint(ink()); fit(); });
})();
