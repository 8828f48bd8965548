// The report as one file: its data stand in the page, and rollouts are unpacked when they are asked for.
async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

function dressed(theme) {
  document.documentElement.dataset.theme = theme;
  return theme;
}
dressed(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");

function top_() {
  const leaf = s("svg", { width: 22, height: 22, viewBox: "0 0 22 22", "aria-hidden": "true" }, [[1, .35], [8, .65], [15, 1]].map(([x, opacity], at) => s("rect", { x, y: 15 - 7 * at, width: 6, height: 6 + 7 * at, rx: 2, fill: "var(--accent)", opacity })));
  return h("header", { class: "wrap wide top" }, h("div", { class: "brand" }, leaf, "Envfarm", h("span", { class: "faint" }, "report")),
    h("button", { class: "theme", onclick: () => dressed(document.documentElement.dataset.theme === "dark" ? "light" : "dark") }, "light / dark"));
}

begin(JSON.parse(document.getElementById("data").textContent), {
  place: document.getElementById("page"),
  head: () => [top_()],
  opens: (run, key) => key in run.opened,
  rollout: (run, key) => unpacked(run.opened[key]),
  subject: (run, name) => name in run.subjects ? unpacked(run.subjects[name]) : null,
});
