// Which run or rollout is shown stands after the # of the address. PAGE says where it is drawn and where rollouts come from.
let DATA = null, PAGE = null;

function overview(number) {
  const run = DATA.runs[number], listed = rollouts(run, number);
  const tabs = DATA.runs.length > 1 && h("nav", { class: "tabs", "aria-label": "Runs" }, DATA.runs.map((one, at) => h("button", { class: `tab${at === number ? " on" : ""}`, onclick: () => { location.hash = `#/${at}`; } }, called(one.path) + " · " + one.agent)));
  return h("div", { class: "wrap" }, tabs, hero(run), figures(run), troubles(run), benchmarks(DATA.runs), DATA.comparisons.map(comparison), where(run), attempts(run), failures(run, DATA.meanings, listed.filter), probes(run), surprises(run, number), listed.section,
    h("footer", {}, h("p", {}, "Intervals: 95 % percentile bootstrap over scenarios; where every scenario says the same, Clopper and Pearson's exact bounds. pass@k after Chen et al. (2107.03374), pass^k after Yao et al. (2406.12045), without bias. Nothing is dropped from a denominator but rollouts that broke on our side, which are counted above."),
      h("p", {}, "This page holds checkpoints and reference solutions: keep it from agents.")));
}

// The run's number and the rollout's key in the address. An address that is another place of this page has neither.
function asked() {
  const [, number, key] = location.hash.startsWith("#/") ? location.hash.split("/") : [];
  return { number: Math.min(Number(number) || 0, DATA.runs.length - 1), key: key ? decodeURIComponent(key) : "" };
}

async function show({ stay = false } = {}) {
  const { number, key } = asked();
  const view = key ? await rolloutView(DATA.runs[number], number, key) : overview(number);
  const top = scrollY;
  PAGE.place.replaceChildren(...PAGE.head(), view);
  scrollTo({ top: stay ? top : 0, behavior: "instant" });
}

function begin(data, page) {
  [DATA, PAGE] = [data, page];
  addEventListener("hashchange", () => { if (!location.hash || location.hash.startsWith("#/")) show(); });
  addEventListener("keydown", (event) => {
    const { number, key } = asked();
    if (!key || event.altKey || event.ctrlKey || event.metaKey || event.target.closest("input, select, textarea")) return;
    const { before, after } = neighbours(DATA.runs[number], key);
    if (event.key === "Escape") location.hash = number ? `#/${number}` : "#";
    else if (event.key === "ArrowLeft" && before) open_(number, before);
    else if (event.key === "ArrowRight" && after) open_(number, after);
  });
  NARROW.addEventListener("change", () => show({ stay: true }));
  show();
}
