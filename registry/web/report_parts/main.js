// Which run or rollout is shown stands after the # of the address. PAGE says where it is drawn and where rollouts come from.
let DATA = null, PAGE = null;

function overview(number) {
  const run = DATA.runs[number], listed = rollouts(run, number);
  const tabs = DATA.runs.length > 1 && h("nav", { class: "tabs", "aria-label": "Runs" }, DATA.runs.map((one, at) => h("button", { class: `tab${at === number ? " on" : ""}`, onclick: () => { location.hash = `#/${at}`; } }, called(one.path) + " · " + one.agent)));
  return h("div", { class: "wrap" }, tabs, hero(run), figures(run), troubles(run), benchmarks(DATA.runs), DATA.comparisons.map(comparison), where(run), attempts(run), failures(run, DATA.meanings, listed.filter), probes(run), surprises(run, number), listed.section,
    h("footer", {}, h("p", {}, "Intervals: 95 % percentile bootstrap over scenarios; where every scenario says the same, Clopper and Pearson's exact bounds. pass@k after Chen et al. (2107.03374), pass^k after Yao et al. (2406.12045), without bias. Nothing is dropped from a denominator but rollouts that broke on our side, which are counted above."),
      PAGE.scenario && h("p", {}, "As one file, to keep or to send: ", h("code", {}, `farm report ${DATA.runs.map((one) => one.path).join(" ")} --html report.html`)),
      h("p", {}, "This page holds checkpoints and reference solutions: keep it from agents.")));
}

// The run's number and the rollout's key in the address. An address that is another place of this page has neither.
function asked() {
  const [, number, key] = location.hash.startsWith("#/") ? location.hash.split("/") : [];
  return { number: Math.min(Number(number) || 0, DATA.runs.length - 1), key: key ? decodeURIComponent(key) : "" };
}

// What the keyboard is at, so that it stays there when the page is drawn anew.
function reached(element) {
  return element.title ? `titled ${element.title.split(":")[0]}` : `${element.tagName} ${element.textContent}`;
}

// What a reader is at, which stays where it stands when the page is drawn anew: what the keyboard has reached, or else
// the first heading that is seen.
const LANDMARKS = "h1, h2, a, button, summary, [tabindex]";

function landmark() {
  const seen = (one) => { const { top } = one.getBoundingClientRect(); return top >= 0 && top < innerHeight; };
  const all = [...PAGE.place.querySelectorAll("h1, h2")], active = document.activeElement;
  const found = PAGE.place.contains(active) && seen(active) ? active : all.find(seen) || all.filter((one) => one.getBoundingClientRect().top < 0).pop();
  return found && [reached(found), found.getBoundingClientRect().top];
}

async function show({ stay = false } = {}) {
  const { number, key } = asked();
  const view = key ? await rolloutView(DATA.runs[number], number, key) : overview(number);
  const top = scrollY, seen = stay && top > 0 ? landmark() : null, active = stay && PAGE.place.contains(document.activeElement) ? reached(document.activeElement) : "";
  PAGE.place.replaceChildren(...PAGE.head(), view);
  if (active) [...PAGE.place.querySelectorAll("a, button, summary, [tabindex]")].find((one) => reached(one) === active)?.focus({ preventScroll: true });
  scrollTo({ top: stay ? top : 0, behavior: "instant" });
  const again = seen && [...PAGE.place.querySelectorAll(LANDMARKS)].find((one) => reached(one) === seen[0]);
  if (again) scrollBy({ top: again.getBoundingClientRect().top - seen[1], behavior: "instant" });
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
