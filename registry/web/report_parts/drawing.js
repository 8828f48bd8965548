// Elements and charts. Text goes in as text, never as HTML.
const SVG = "http://www.w3.org/2000/svg";

function h(tag, attributes, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

function s(tag, attributes, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === "onclick" || name === "oninput" || name === "onchange" || name === "ontoggle") element[name] = value;
    else if (name === "style") element.style.cssText = value; // a served page's policy allows no style attribute
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, name === "title" || name === "aria-label" ? clean(value) : value);
  }
  for (const child of children.flat(9)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : clean(child));
  }
  return element;
}

const percent = (share, digits = 1) => (100 * share).toFixed(digits);
const NARROW = matchMedia("(max-width: 640px)"); // a telephone: charts are drawn smaller, so that their texts can be read
const count = (number) => Math.round(number).toLocaleString("en-US");
const reward = (value) => value.toFixed(2);
const signedReward = (value) => (value > 0 ? "+" : value < 0 ? "−" : "±") + reward(Math.abs(value));
const signed = (share) => (share > 0 ? "+" : share < 0 ? "−" : "±") + Math.abs(100 * share).toFixed(1);

function bounds(estimate, digits = 1) {
  if (!estimate || estimate[1] === null) return "";
  return `${percent(estimate[1], digits)} – ${percent(estimate[2], digits)}`;
}

// One estimate on a line from nothing to the whole, which is 100 % of a share and 1 of a reward: the interval as a band, the value as a dot.
function strip(estimate, width = 520, whole = 100) {
  if (NARROW.matches) width = 300;
  const at = (share) => 6 + share * (width - 12);
  const [value, low, high] = estimate;
  return s("svg", { class: "chart", viewBox: `0 0 ${width} 34`, role: "img", "aria-label": whole === 1 ? value.toFixed(2) : `${percent(value)} %` },
    s("line", { x1: at(0), x2: at(1), y1: 12, y2: 12, stroke: "var(--line)", "stroke-width": 8, "stroke-linecap": "round" }),
    low !== null && s("line", { x1: at(low), x2: at(high), y1: 12, y2: 12, stroke: "var(--accent)", "stroke-opacity": .35, "stroke-width": 8, "stroke-linecap": "round" }),
    s("circle", { cx: at(value), cy: 12, r: 6, fill: "var(--accent)", stroke: "var(--card)", "stroke-width": 2 }),
    (width > 300 ? [0, .25, .5, .75, 1] : [0, .5, 1]).map((share) => s("text", { x: at(share), y: 32, "text-anchor": share === 0 ? "start" : share === 1 ? "end" : "middle", style: "font-size:10.5px" }, `${whole * share}`)));
}

// As much of a name as there is room for beside a chart, measured in the face of `svg .strong`.
const ruler = document.createElement("canvas").getContext("2d");

function fitting(text, room) {
  const name = clean(text); // as it is drawn: a number is wider than its character
  ruler.font = "560 12px Inter, system-ui, sans-serif";
  if (ruler.measureText(name).width <= room) return name;
  let kept = name.length;
  while (kept && ruler.measureText(`${name.slice(0, kept)}…`).width > room) kept--;
  return `${name.slice(0, kept)}…`;
}

// Groups below each other: dot and interval of each, its name before it, its figure behind it.
function forest(groups) {
  const [width, left, right] = NARROW.matches ? [330, 106, 66] : [560, 190, 76], line = 30, height = groups.length * line + 26;
  const at = (share) => left + share * (width - left - right);
  const axis = [0, .5, 1].map((share) => [
    s("line", { class: "grid", x1: at(share), x2: at(share), y1: 2, y2: height - 22 }),
    s("text", { x: at(share), y: height - 6, "text-anchor": "middle" }, `${100 * share} %`)]);
  const rows = groups.map((group, row) => {
    const y = row * line + 17, estimate = group.success;
    const name = fitting(group.name, left - 14);
    const dots = !estimate ? [s("text", { x: at(0), y: y + 4 }, "nothing judged")] : [
      estimate[1] !== null && s("line", { x1: at(estimate[1]), x2: at(estimate[2]), y1: y, y2: y, stroke: "var(--accent)", "stroke-opacity": .4, "stroke-width": 5, "stroke-linecap": "round" }),
      s("circle", { cx: at(estimate[0]), cy: y, r: 5.5, fill: "var(--accent)", stroke: "var(--card)", "stroke-width": 2 }),
      s("text", { class: "strong", x: width, y: y + 4, "text-anchor": "end" }, `${percent(estimate[0])} %`)];
    const told = estimate ? `${group.name}: ${percent(estimate[0])} % [${bounds(estimate)}], ${group.judged} rollouts at ${group.scenarios} scenarios` : group.name;
    return s("g", {}, s("title", {}, told), s("text", { class: "strong", x: 0, y: y + 4 }, name), dots);
  });
  return s("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": groups.map((group) => group.success ? `${group.name} ${percent(group.success[0])} %` : group.name).join(", ") }, axis, rows);
}

// pass@k and pass^k by k, each with its band.
function curves(passing) {
  const [width, height] = NARROW.matches ? [330, 230] : [560, 270], left = 40, bottom = 32, top = 12, right = 92, last = passing[passing.length - 1].k;
  const x = (k) => left + (last === 1 ? 0 : (k - 1) / (last - 1)) * (width - left - right);
  const y = (share) => top + (1 - share) * (height - top - bottom);
  const [any, all] = ["any_of", "all_of"].map((name) => passing[passing.length - 1][name][0]);
  const apart = y(all) - y(any) < 16 ? 8 : 0; // their labels, where the curves end side by side
  const drawn = [["any_of", "var(--accent)", "pass@k"], ["all_of", "var(--part)", "pass^k"]].map(([name, colour, label]) => {
    const sure = passing.filter((one) => one[name][1] !== null);
    const band = [...sure.map((one) => `${x(one.k)},${y(one[name][2])}`), ...sure.slice().reverse().map((one) => `${x(one.k)},${y(one[name][1])}`)];
    const end = passing[passing.length - 1][name][0];
    return [
      s("polygon", { points: band.join(" "), fill: colour, opacity: .13 }),
      s("polyline", { points: passing.map((one) => `${x(one.k)},${y(one[name][0])}`).join(" "), fill: "none", stroke: colour, "stroke-width": 2.5, "stroke-linejoin": "round" }),
      passing.map((one) => s("circle", { cx: x(one.k), cy: y(one[name][0]), r: 4, fill: colour, stroke: "var(--card)", "stroke-width": 1.5 },
        s("title", {}, `${label.replace("k", one.k)}: ${percent(one[name][0])} % [${bounds(one[name])}]`))),
      s("text", { class: "strong", x: x(last) + 12, y: y(end) + 4 + (name === "any_of" ? -apart : apart) }, `${label} ${percent(end, 0)} %`)];
  });
  return s("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `pass@k and pass^k for k from 1 to ${last}` },
    [0, .25, .5, .75, 1].map((share) => [
      s("line", { class: "grid", x1: left, x2: width - right, y1: y(share), y2: y(share) }),
      s("text", { x: left - 8, y: y(share) + 4, "text-anchor": "end" }, `${100 * share}`)]),
    passing.map((one) => s("text", { x: x(one.k), y: height - 10, "text-anchor": "middle" }, one.k)), drawn);
}

// Shares of one whole as one bar.
function whole(parts) {
  const total = parts.reduce((sum, part) => sum + part[1], 0) || 1;
  let from = 0;
  const shown = parts.filter((part) => part[1]), bars = shown.map(([name, number, colour], at) => {
    const bar = s("rect", { x: from, y: 0, width: Math.max(0, 1000 * number / total - (at < shown.length - 1 ? 3 : 0)), height: 26, fill: colour }, s("title", {}, `${name}: ${number}`));
    from += 1000 * number / total;
    return bar;
  });
  return h("div", {},
    s("svg", { class: "chart", viewBox: "0 0 1000 26", preserveAspectRatio: "none", role: "img", "aria-label": parts.map(([name, number]) => `${number} ${name}`).join(", "), style: "height:26px;border-radius:8px;overflow:hidden" }, bars),
    h("div", { class: "legend" }, parts.map(([name, number, colour]) => h("span", {}, h("i", { style: `background:${colour}` }), `${name} `, h("b", { class: "num" }, count(number))))));
}

// Two runs at each scenario: a line from the first's share to the other's.
function dumbbells(scenarios) {
  const [width, left, right] = NARROW.matches ? [330, 106, 62] : [1080, 330, 70], line = 24, height = scenarios.length * line + 30;
  const at = (share) => left + share * (width - left - right);
  return s("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Success of both runs at each scenario" },
    (NARROW.matches ? [0, .5, 1] : [0, .25, .5, .75, 1]).map((share) => [s("line", { class: "grid", x1: at(share), x2: at(share), y1: 0, y2: height - 24 }), s("text", { x: at(share), y: height - 8, "text-anchor": "middle" }, `${100 * share} %`)]),
    scenarios.map((one, row) => {
      const y = row * line + 13, [from, to] = one.success, colour = to > from ? "var(--good)" : "var(--bad)";
      return s("g", {}, s("title", {}, one.scenario), s("text", { class: "strong", x: 0, y: y + 4 }, fitting(NARROW.matches ? one.scenario.split("/").pop() : one.scenario, left - 14)),
        s("line", { x1: at(from), x2: at(to), y1: y, y2: y, stroke: colour, "stroke-width": 3 }),
        s("circle", { cx: at(from), cy: y, r: 5, fill: "var(--card)", stroke: colour, "stroke-width": 2 }),
        s("circle", { cx: at(to), cy: y, r: 5.5, fill: colour }),
        s("text", { class: "strong", x: width, y: y + 4, "text-anchor": "end" }, signed(to - from)));
    }));
}
