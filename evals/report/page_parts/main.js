// Which run or rollout is shown stands after the # of the address.
const DATA = JSON.parse(document.getElementById("data").textContent);
const root = document.documentElement, place = document.getElementById("page");

function dress(theme) {
  root.dataset.theme = theme;
  return theme;
}
dress(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");

function top_() {
  const leaf = s("svg", { width: 22, height: 22, viewBox: "0 0 22 22" }, [[1, .35], [8, .65], [15, 1]].map(([x, opacity], at) => s("rect", { x, y: 15 - 7 * at, width: 6, height: 6 + 7 * at, rx: 2, fill: "var(--accent)", opacity })));
  return h("header", { class: "wrap wide top" }, h("div", { class: "brand" }, leaf, "Envfarm", h("span", { class: "faint" }, "report")),
    h("button", { class: "theme", onclick: () => dress(root.dataset.theme === "dark" ? "light" : "dark") }, "light / dark"));
}

function overview(number) {
  const run = DATA.runs[number], listed = rollouts(run, number);
  const tabs = DATA.runs.length > 1 && h("nav", { class: "tabs" }, DATA.runs.map((one, at) => h("button", { class: `tab${at === number ? " on" : ""}`, onclick: () => { location.hash = `#/${at}`; } }, one.path.split("/").pop() + " · " + one.agent)));
  return h("div", { class: "wrap" }, tabs, hero(run), figures(run), troubles(run), DATA.comparisons.map(comparison), where(run), attempts(run), failures(run, DATA.meanings, listed.filter), listed.section,
    h("footer", {}, h("p", {}, "Intervals: 95 % percentile bootstrap over scenarios; where every scenario says the same, Clopper and Pearson's exact bounds. pass@k after Chen et al. (2107.03374), pass^k after Yao et al. (2406.12045), without bias. Nothing is dropped from a denominator but rollouts that broke on our side, which are counted above."),
      h("p", {}, "This page holds checkpoints and reference solutions: keep it from agents.")));
}

async function show() {
  const [, number, key] = location.hash.split("/");
  const at = Math.min(Number(number) || 0, DATA.runs.length - 1);
  const view = key ? await rolloutView(DATA.runs[at], at, decodeURIComponent(key)) : overview(at);
  place.replaceChildren(top_(), view);
  scrollTo(0, 0);
}
addEventListener("hashchange", show);
addEventListener("keydown", (event) => {
  const [, number, key] = location.hash.split("/");
  if (!key || event.altKey || event.ctrlKey || event.metaKey || event.target.closest("input, select")) return;
  const { before, after } = neighbours(DATA.runs[number], decodeURIComponent(key));
  if (event.key === "Escape") location.hash = "#";
  else if (event.key === "ArrowLeft" && before) open_(number, before);
  else if (event.key === "ArrowRight" && after) open_(number, after);
});
show();
