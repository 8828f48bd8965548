// The sections of one run, from its figures to its list of rollouts.
const MOST_ROWS = 60, MOST_GROUPS = 16, MOST_FIRST = 8;
const LISTED = {}; // what is searched and shown in the list of each run, which stays while the page is drawn anew
const ENDS = { scored: ["answered", "var(--accent)"], timeout: ["ran out of turns, tokens or time", "var(--part)"], agent_error: ["agent error", "var(--bad)"], infra_error: ["infra error (no reward)", "var(--broken)"] };
const KEY = 0, OUTCOME = 1, REWARD = 2, SUCCESS = 3, CAUSE = 4, TURNS = 5, CALLS = 6, ERRORS = 7, IN = 8, OUT = 9, SECONDS = 10, RETRIED = 11;

function hero(run) {
  const began = new Date(1000 * run.began).toISOString().slice(0, 16).replace("T", " ");
  return h("div", { class: "hero" }, h("h1", {}, run.name), h("div", { class: "meta" },
    h("span", {}, "agent ", h("b", {}, run.agent)), h("span", {}, "begun ", h("b", {}, `${began} UTC`)),
    h("span", {}, h("b", { class: "num" }, count(run.all.rollouts)), " rollouts at ", h("b", { class: "num" }, count(run.all.scenarios)), " scenarios"),
    run.suite.perturb && h("span", {}, "perturbed ", h("code", {}, run.suite.perturb)),
    h("span", {}, "suite ", h("code", {}, run.suite_digest.slice(0, 10))), h("span", {}, "agent ", h("code", {}, run.agent_digest.slice(0, 10))),
    h("span", {}, `Envfarm ${run.version}`)));
}

function figures(run) {
  const { success, reward: average, judged, rollouts } = run.all;
  const each = (column) => rollouts ? run.rollouts.reduce((sum, row) => sum + row[column], 0) / rollouts : 0;
  const last = run.passing[run.passing.length - 1];
  return h("div", { class: "cards" },
    h("div", { class: "card kpi main" }, h("div", { class: "label" }, "Strict success: every checkpoint holds"),
      h("div", { class: "value" }, success ? percent(success[0]) : "–", h("small", {}, "%")), success && strip(success),
      h("div", { class: "foot" }, success && success[1] !== null ? `95 % interval ${bounds(success)} %, drawn over scenarios` : "one scenario alone gives no interval")),
    h("div", { class: "card kpi" }, h("div", { class: "label" }, "Reward"), h("div", { class: "value" }, average ? reward(average[0]) : "–"),
      average && strip(average, 230, 1), h("div", { class: "foot" }, average && average[1] !== null ? `95 % interval ${reward(average[1])} – ${reward(average[2])}` : "")),
    h("div", { class: "card kpi" }, h("div", { class: "label" }, last && last.k > 1 ? `At least one, and all, of ${last.k}` : "Judged"),
      last && last.k > 1 ? h("div", { class: "value" }, percent(last.any_of[0], 0), h("small", {}, `% pass@${last.k}`)) : h("div", { class: "value" }, count(judged)),
      last && last.k > 1 ? h("div", { class: "value" }, percent(last.all_of[0], 0), h("small", {}, `% pass^${last.k}`)) : null,
      h("div", { class: "foot" }, `${count(judged)} of ${count(run.planned)} rollouts judged`)),
    [["Calls", each(CALLS).toFixed(1), `${each(TURNS).toFixed(1)} turns, ${each(ERRORS).toFixed(1)} refused`], ["Tokens", count(each(IN) + each(OUT)), `${count(each(OUT))} of them written`],
      ["Seconds", each(SECONDS).toFixed(1), "of an episode"], ["Infra errors", count(run.outcomes.infra_error), run.outcomes.infra_error ? "apart: no reward, not a zero" : "nothing broke on our side"]]
      .map(([label, value, foot]) => h("div", { class: "card kpi" }, h("div", { class: "label" }, label), h("div", { class: "value" }, value), h("div", { class: "foot" }, foot))));
}

// A run's folder, with as many of the folders above it as tell it from the other runs of the page.
function called(path) {
  const end = (one, parts) => one.split("/").slice(-parts).join("/");
  let parts = 1;
  while (parts < path.split("/").length && DATA.runs.some((run) => run.path !== path && end(run.path, parts) === end(path, parts))) parts++;
  return end(path, parts);
}

// The runs of one command are one line: those of a model that lie in one folder, each of another benchmark.
function byModel(told) {
  const groups = [];
  for (const run of told) {
    const { numbers, parts, limits_of, trials, user_model, extents } = run.benchmarks, folder = run.path.split("/").slice(0, -1).join("/");
    let group = groups.find((one) => one.folder === folder && one.agent === run.agent && one.limits_of === limits_of && one.trials === trials && !Object.keys(numbers).some((name) => name in one.numbers));
    if (!group) groups.push(group = { folder, agent: run.agent, limits_of, trials, runs: [], users: new Set(), numbers: {}, parts: [], extents: [] });
    group.runs.push(run);
    if (user_model) group.users.add(user_model);
    Object.assign(group.numbers, numbers);
    group.parts.push(...parts);
    group.extents.push(...Object.entries(extents || {}).map(([name, extent]) => `of ${name} only ${extent}`));
  }
  return groups.map((group) => ({ ...group, name: group.runs.length > 1 ? group.folder.split("/").pop() : called(group.runs[0].path) }));
}

// The official numbers of public benchmarks of all runs: as a whole beside what others report, and part by part.
function benchmarks(runs) {
  const told = runs.filter((run) => run.benchmarks);
  if (!told.length) return null;
  const models = byModel(told), names = [...new Set(told.flatMap((run) => Object.keys(run.benchmarks.numbers)))].sort();
  const references = new Map(told.flatMap((run) => run.benchmarks.references.map((line) => [line.who + line.source, line])));
  const parts = [...new Map(told.flatMap((run) => run.benchmarks.parts.map((part) => [part.environment, part]))).values()].sort((a, b) => a.environment < b.environment ? -1 : 1);
  const who = (name, more) => h("div", {}, name, h("div", { class: "small faint" }, more));
  const given = (figure) => figure === undefined || figure === null ? "–" : figure.toFixed(1);
  const played = ({ users, limits_of, trials, extents }) => [users.size ? `user: ${[...users].join(", ")}` : "no simulated user", `limits: ${limits_of}`, trials === 1 ? "1 trial" : `${trials} trials`, ...extents].join(", ");
  const own = (model, name) => {
    const part = model.parts.find((one) => one.environment === name);
    if (!part) return "–";
    const more = [`${count(part.judged)} of ${count(part.tasks * model.trials)} judged`, part.process !== null && `process ${percent(part.process)} %`, ...part.passing.slice(1).map(([k, share]) => `pass^${k} ${percent(share)} %`)];
    return h("div", {}, part.success ? `${percent(part.success[0])}${part.success[1] === null ? "" : ` [${bounds(part.success)}]`}` : "–", h("div", { class: "small faint" }, more.filter(Boolean).join(", ")));
  };
  return h("section", {}, h("h2", {}, "Public benchmarks"), h("p", { class: "lead" }, "The numbers that each benchmark's own checker gives, in percent. A benchmark's number is the mean over its parts. One of only some parts or tasks is not the benchmark's own. Versions and limits that differ are not comparable."),
    h("div", { class: "card" }, table(["model", ...names], [...models.map((model) => [who(model.agent, `${model.name}; ${played(model)}`), ...names.map((name) => given(model.numbers[name]))]),
      ...[...references.values()].map((line) => [who(`${line.who}, for reference`, line.source), ...names.map((name) => given(line.figures[name]))])], names.map((_, at) => at + 1))),
    h("div", { class: "card", style: "margin-top:16px" }, h("h3", {}, "Part by part, with 95 % intervals"), table(["part", ...models.map((model) => model.name)],
      parts.map((part) => [who(part.environment, part.source), ...models.map((model) => own(model, part.environment))]), models.map((_, at) => at + 1))));
}

// The runs that were seen before all of their rollouts were played: the note about that keeps its place.
const FOLLOWED = new Set();

function troubles(run) {
  const missing = run.planned - run.rollouts.length, broken = run.outcomes.infra_error;
  if (missing > 0) FOLLOWED.add(run.path);
  return [
    run.left_out?.length > 0 && h("div", { class: "note" }, h("b", {}, `${count(run.left_out.length)} ${run.left_out.length === 1 ? "scenario is" : "scenarios are"} left out. `), "Their reference solution earns less on the perturbed tools."),
    missing > 0 && h("div", { class: "note" }, h("b", {}, `${count(missing)} rollouts of the suite are not played yet. `), "The figures are of those that are; `farm eval` goes on."),
    missing <= 0 && FOLLOWED.has(run.path) && h("div", { class: "note" }, h("b", {}, "All rollouts of the suite are played. "), "This page has followed the run to its end."),
    run.torn > 0 && h("div", { class: "note" }, h("b", {}, "The last line of the run was cut short. "), "Its rollout is missing here; `farm eval` mends the file and plays it again."),
    broken > 0 && h("div", { class: "note broken" }, h("b", {}, `${count(broken)} ${broken === 1 ? "rollout" : "rollouts"} broke on our side, without a reward. `),
      `Had all such failed, success would be ${percent(run.bounds[0])} %; had all succeeded, ${percent(run.bounds[1])} %.`,
      h("ul", { class: "small soft" }, run.broken.slice(0, 5).map(([error, times]) => h("li", {}, `${times} × ${error}`))))];
}

function where(run) {
  const shown = Object.entries(run.groups).filter(([name, groups]) => name === "environment" || groups.length > 1);
  return h("section", {}, h("h2", {}, "Where it succeeds"), h("p", { class: "lead" }, "Strict success with its 95 % interval. A wide band means few scenarios, not a bad agent."),
    h("div", { class: "two" }, shown.map(([name, groups]) => h("div", { class: "card" }, h("h3", {}, `By ${name}`), forest(largest(groups)),
      groups.length > MOST_GROUPS && h("p", { class: "small faint" }, `The ${MOST_GROUPS} largest of ${groups.length}.`)))));
}

function largest(groups) {
  const kept = new Set(groups.slice().sort((a, b) => b.rollouts - a.rollouts).slice(0, MOST_GROUPS));
  return groups.filter((group) => kept.has(group));
}

function attempts(run) {
  const ends = Object.entries(ENDS).map(([outcome, [name, colour]]) => [name, run.outcomes[outcome], colour]);
  return h("section", {}, h("h2", {}, "How they ended"), h("p", { class: "lead" }, "A rollout that ran out of turns or broke off keeps what its state is worth."), h("div", { class: "card" }, whole(ends)),
    run.passing.length > 1 && h("div", { class: "two", style: "margin-top:16px" }, h("div", { class: "card" }, h("h3", {}, "Of k attempts: at least one succeeds (pass@k), all succeed (pass^k)"), curves(run.passing)),
      h("div", { class: "card" }, h("h3", {}, "The same in figures"), table(["k", "scenarios", "pass@k, %", "pass^k, %"], run.passing.map((one) => [one.k, one.scenarios, `${percent(one.any_of[0])}  [${bounds(one.any_of)}]`, `${percent(one.all_of[0])}  [${bounds(one.all_of)}]`]), [0, 1, 2, 3]))));
}

function table(heads, rows, right) {
  return h("div", { class: "scroll", tabindex: 0 }, h("table", {}, h("thead", {}, h("tr", {}, heads.map((head, at) => h("th", { class: right.includes(at) && "r" }, head)))),
    h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell, at) => h("td", { class: right.includes(at) && "r" }, cell)))))));
}

function failures(run, meanings, filter) {
  if (!run.causes.length) return null;
  const most = run.causes[0][1], total = run.causes.reduce((sum, cause) => sum + cause[1], 0);
  const tools = run.tools.filter((tool) => tool.errors);
  return h("section", {}, h("h2", {}, "Why it fails"), h("p", { class: "lead" }, `${count(total)} failures, each under the first cause that fits. Choose one to see its rollouts.`),
    h("div", { class: "card bars" }, run.causes.map(([cause, number]) => h("button", { class: "bar", title: meanings[cause], onclick: () => filter(cause) },
      h("span", {}, cause), h("span", { class: "track" }, h("div", { class: "fill", style: `width:${100 * number / most}%` })), h("span", { class: "count num" }, `${number}  (${percent(number / total, 0)} %)`)))),
    h("div", { class: "two", style: "margin-top:16px" },
      h("div", { class: "card" }, h("h3", {}, "Checkpoints that failed most"), table(["checkpoint", "failed"], run.checkpoints.slice(0, 12).map((one) => [
        h("div", {}, one.question, h("div", { class: "small faint" }, `${one.scenario} · ${one.checkpoint} · ${one.role}`)), `${one.failed} of ${one.judged}`]), [1])),
      tools.length > 0 && h("div", { class: "card" }, h("h3", {}, "Tools that refused most"), table(["tool", "errors", "calls"], tools.slice(0, 12).map((one) => [
        h("div", {}, h("code", {}, one.tool), h("div", { class: "small faint" }, one.environment)), count(one.errors), count(one.calls)]), [1, 2]))));
}

// What came about where the reward is the same either way.
function probes(run) {
  if (!run.probes?.length) return null;
  return h("section", {}, h("h2", {}, "Probes"), h("p", { class: "lead" }, "Which of several ends came about. Probes earn nothing and cost nothing."),
    h("div", { class: "card" }, table(["probe", "holds, %", "rollouts", "scenarios"], run.probes.map((one) => [
      h("div", {}, one.question || one.probe, h("div", { class: "small faint" }, `${one.environment} · ${one.probe}`)),
      one.holds ? `${percent(one.holds[0])}${one.holds[1] === null ? "" : `  [${bounds(one.holds)}]`}` : "–", count(one.rollouts), count(one.scenarios)]), [1, 2, 3])));
}

function comparison(one) {
  const apart = one.scenarios.filter((beside) => beside.success[0] !== beside.success[1]).sort((a, b) => Math.abs(b.success[1] - b.success[0]) - Math.abs(a.success[1] - a.success[0]));
  const card = (label, figure, tell, unit) => figure && h("div", { class: "card kpi" }, h("div", { class: "label" }, label), h("div", { class: "value" }, tell(figure.difference[0]), h("small", {}, unit)),
    h("div", { class: "foot" }, (figure.difference[1] !== null ? `95 % interval ${tell(figure.difference[1])} to ${tell(figure.difference[2])}, ` : "") + (figure.p < .001 ? "p < 0.001" : `p = ${figure.p.toFixed(3)}`)));
  return h("section", {}, h("h2", {}, `${called(one.other)} against ${called(one.first)}`), h("p", { class: "lead" }, one.scenarios.length ? `Paired at ${count(one.scenarios.length)} scenarios that are the same in both; p from flipping the signs of the differences.` : "Nothing is compared: no scenario is the same in both.",
    (one.only_first || one.only_other) ? ` Left out: ${one.only_first} in the first only, ${one.only_other} in the other only.` : "", one.changed.length ? ` ${one.changed.length} scenarios have changed between the runs and are left out.` : ""),
    one.scenarios.length > 0 && h("div", { class: "cards" }, card("Strict success", one.success, signed, "points"), card("Reward", one.reward, signedReward, "of 1"),
      h("div", { class: "card kpi" }, h("div", { class: "label" }, "Scenarios better"), h("div", { class: "value" }, apart.filter((beside) => beside.success[1] > beside.success[0]).length)),
      h("div", { class: "card kpi" }, h("div", { class: "label" }, "Scenarios worse"), h("div", { class: "value" }, apart.filter((beside) => beside.success[1] < beside.success[0]).length))),
    apart.length > 0 && h("div", { class: "card", style: "margin-top:16px" }, h("h3", {}, "Where they differ most (○ first, ● other)"), dumbbells(apart.slice(0, 30))));
}

function kind(row) {
  return row[OUTCOME] === "infra_error" ? "broken" : row[SUCCESS] ? "good" : row[REWARD] > 0 ? "part" : "bad";
}

// The rollouts to read first: those that ended otherwise than most attempts at their scenario, and those without any reward.
function surprises(run, number) {
  const scenarios = new Map();
  for (const row of run.rollouts) if (row[SUCCESS] !== null) {
    const name = row[KEY].slice(0, row[KEY].lastIndexOf("#"));
    scenarios.set(name, [...(scenarios.get(name) || []), row]);
  }
  const odd = [...scenarios.values()].flatMap((rows) => {
    const share = rows.filter((row) => row[SUCCESS]).length / rows.length;
    return rows.map((row) => [Math.abs(row[SUCCESS] - share), row, share, rows.length]);
  }).filter(([apart]) => apart > .5).sort((a, b) => b[0] - a[0] || b[3] - a[3]).slice(0, MOST_FIRST);
  const worst = run.rollouts.filter((row) => row[SUCCESS] === false).sort((a, b) => a[REWARD] - b[REWARD] || b[CALLS] - a[CALLS]).slice(0, MOST_FIRST);
  if (!worst.length && !odd.length) return null;
  const line = (row, told) => [h("div", {}, h("button", { class: "link-button", disabled: PAGE.opens(run, row[KEY]) ? null : "", onclick: () => open_(number, row[KEY]) }, row[KEY]), h("div", { class: "small faint" }, told)), reward(row[REWARD])];
  return h("section", {}, h("h2", {}, "Read these first"), h("div", { class: "two" },
    h("div", { class: "card" }, h("h3", {}, "The worst"), worst.length ? table(["rollout", "reward"], worst.map((row) => line(row, `${row[CAUSE]}, ${count(row[CALLS])} calls`)), [1]) : h("p", { class: "soft" }, "Nothing failed.")),
    h("div", { class: "card" }, h("h3", {}, "The most surprising"), odd.length ? table(["rollout", "reward"], odd.map(([, row, share, of]) => line(row, `${row[SUCCESS] ? "succeeds" : "fails"} where ${percent(share, 0)} % of ${of} attempts succeed`)), [1]) : h("p", { class: "soft" }, "All attempts at a scenario end alike, or there is one of each."))));
}

// The orders of the list of rollouts, with the weight of a scenario's attempts. What has no reward comes last.
function mean(rows, column, otherwise) {
  const known = rows.filter((row) => row[column] !== null);
  return known.length ? known.reduce((sum, row) => sum + row[column], 0) / known.length : otherwise;
}

const ORDERS = {
  "": ["by name", null],
  worst: ["worst first", (rows) => mean(rows, REWARD, 2)],
  best: ["best first", (rows) => -mean(rows, REWARD, -2)],
  calls: ["most calls first", (rows) => -mean(rows, CALLS, 0)],
  tokens: ["most tokens first", (rows) => -mean(rows, IN, 0) - mean(rows, OUT, 0)],
};

// The list of rollouts: a line for each scenario, a cell for each attempt.
function rollouts(run, number) {
  const state = LISTED[number] ??= { text: "", only: "", by: "", shown: MOST_ROWS };
  const list = h("div", { class: "card" }), select = h("select", { "aria-label": "Which rollouts", onchange: (event) => { state.only = event.target.value; draw(); } });
  const find = h("input", { type: "search", placeholder: "Find an environment or scenario", "aria-label": "Find", value: state.text, oninput: (event) => { state.text = event.target.value.toLowerCase(); draw(); } });
  for (const [value, label] of [["", "all rollouts"], ["good", "successes"], ["failed", "failures"], ["broken", "infra errors"], ...run.causes.map(([cause]) => [`cause:${cause}`, `failed: ${cause}`])]) select.append(h("option", { value, selected: value === state.only ? "" : null }, label));
  const order = h("select", { "aria-label": "In which order", onchange: (event) => { state.by = event.target.value; draw(); } }, Object.entries(ORDERS).map(([value, [label]]) => h("option", { value, selected: value === state.by ? "" : null }, label)));
  const fits = (row) => !state.only || (state.only.startsWith("cause:") ? row[CAUSE] === state.only.slice(6) : state.only === "failed" ? row[SUCCESS] === false : kind(row) === state.only);
  function draw() {
    const scenarios = new Map();
    for (const row of run.rollouts) {
      const name = row[KEY].slice(0, row[KEY].lastIndexOf("#"));
      if (!name.toLowerCase().includes(state.text) || !fits(row)) continue;
      if (!scenarios.has(name)) scenarios.set(name, []);
      scenarios.get(name).push(row);
    }
    const names = [...scenarios.keys()], [, weight] = ORDERS[state.by];
    if (weight) names.sort((one, other) => weight(scenarios.get(one)) - weight(scenarios.get(other)));
    list.replaceChildren(h("div", { class: "row head" }, h("span", {}, `${count(names.length)} scenarios`), h("span", {}, "success"), h("span", {}, "reward"), h("span", {}, "attempts, with their reward")),
      ...names.slice(0, state.shown).map((name) => line(name, scenarios.get(name))),
      ...(names.length > state.shown ? [h("button", { class: "more", onclick: () => { state.shown += 200; draw(); } }, `Show more of ${count(names.length)}`)] : []));
  }
  function line(name, rows) {
    const judged = rows.filter((row) => row[SUCCESS] !== null), [environment, scenario] = name.split("/");
    const share = judged.length ? `${judged.filter((row) => row[SUCCESS]).length} of ${judged.length}` : "–";
    const average = judged.length ? reward(judged.reduce((sum, row) => sum + row[REWARD], 0) / judged.length) : "–";
    return h("div", { class: "row" }, h("div", { class: "name" }, h("span", {}, `${environment}/`), scenario), h("div", { class: "num" }, share), h("div", { class: "num reward" }, average),
      h("div", { class: "cells" }, rows.map((row) => cell(row))));
  }
  function cell(row) {
    const open = PAGE.opens(run, row[KEY]), told = row[REWARD] === null ? "infra" : reward(row[REWARD]);
    const title = `${row[KEY]}: ${row[CAUSE] || row[OUTCOME]}, ${row[CALLS]} calls` + (open ? "" : ` (not in this page: farm show ${run.path} '${row[KEY]}')`);
    return h("button", { class: `cell ${kind(row)}${open ? "" : " shut"}`, title, onclick: () => { if (open) location.hash = `#/${number}/${encodeURIComponent(row[KEY])}`; } }, told);
  }
  draw();
  const closed = run.rollouts.filter((row) => !PAGE.opens(run, row[KEY])).length;
  const section = h("section", { id: "rollouts" }, h("h2", {}, "Rollouts"), h("p", { class: "lead" }, "Choose an attempt to read it beside the reference solution.",
    closed > 0 ? ` ${count(closed)} of ${count(run.rollouts.length)} cannot be opened here, to keep this file small (failures come first); \`farm show\` opens every one.` : ""),
    h("div", { class: "filters" }, find, select, order), list);
  return { section, filter: (cause) => { state.only = select.value = `cause:${cause}`; draw(); section.scrollIntoView(); } };
}
