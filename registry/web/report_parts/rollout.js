// One rollout: what the agent did, what the reference does, what the checkpoints say.
async function rolloutView(run, number, key) {
  const row = run.rollouts.find((one) => one[KEY] === key);
  if (!row || !PAGE.opens(run, key)) return h("div", { class: "wrap view" }, back(), h("p", {}, `${key} is not in this page; farm show ${run.path} '${key}' shows it.`));
  const name = key.slice(0, key.lastIndexOf("#"));
  const told = await PAGE.rollout(run, key), subject = await PAGE.subject(run, name);
  const cause = row[CAUSE] || (row[SUCCESS] ? "success" : row[OUTCOME]);
  const siblings = run.rollouts.filter((one) => one[KEY].startsWith(`${name}#`) && PAGE.opens(run, one[KEY]));
  return h("div", { class: "wrap wide view" }, steps(run, number, key),
    h("div", { class: "title" }, h("h1", {}, subject ? subject.title : name), h("span", { class: `badge ${kind(row)}` }, row[REWARD] === null ? "no reward" : `reward ${reward(row[REWARD])}`), h("span", { class: "badge quiet" }, cause)),
    h("div", { class: "facts" }, PAGE.scenario ? h("a", { class: "mono", href: PAGE.scenario(name), title: "The scenario, with its answer key" }, key) : h("span", { class: "mono" }, key), h("span", {}, `${row[TURNS]} turns`), h("span", {}, `${row[CALLS]} calls`), h("span", {}, `${count(row[IN] + row[OUT])} tokens`), h("span", {}, `${row[SECONDS]} s`),
      h("span", {}, `seed ${told.seed}`), row[RETRIED] > 0 && h("span", {}, `broke ${row[RETRIED]} times before`),
      siblings.length > 1 && h("span", { class: "cells" }, siblings.map((one) => h("button", { class: `cell ${kind(one)}`, style: one[KEY] === key ? "outline:2px solid var(--ink);outline-offset:1px" : "", title: one[KEY], onclick: () => { location.hash = `#/${number}/${encodeURIComponent(one[KEY])}`; } }, `#${one[KEY].split("#").pop()}`)))),
    h("div", { class: "task" }, subject ? subject.task : told.task),
    told.error && h("div", { class: "note", style: "margin-bottom:16px" }, h("b", {}, "It did not finish: "), told.error),
    h("div", { class: "beside" },
      lane(`What ${run.agent} did`, told, told.user),
      await other(run, key, siblings, subject),
      h("div", { class: "card side", tabindex: 0 }, h("h3", {}, "What the checkpoints say"), told.verdicts.length ? told.verdicts.map((one) => verdict(one, subject)) : h("p", { class: "soft" }, "It was not judged."),
        subject && subject.instructions && h("details", { class: "thought", style: "margin-top:14px" }, h("summary", {}, "The rules that the agent was given"), h("div", {}, subject.instructions)))));
}

// What stands beside a rollout: the reference solution, or another attempt of any run here at the same scenario.
async function other(run, key, siblings, subject) {
  const place = h("div", { class: "stack" }), name = key.slice(0, key.lastIndexOf("#"));
  const rivals = DATA.runs.flatMap((one) => one.rollouts.filter((row) => row[KEY].startsWith(`${name}#`) && PAGE.opens(one, row[KEY]) && !(one === run && row[KEY] === key)).map((row) => [one, row]));
  const choice = h("select", { "aria-label": "What stands beside it", onchange: async () => { await draw(Number(choice.value)); choice.focus({ preventScroll: true }); } }, h("option", { value: -1 }, "The reference solution"),
    rivals.map(([one, row], at) => h("option", { value: at }, `${DATA.runs.length > 1 ? `${called(one.path)} ` : ""}attempt ${row[KEY].split("#").pop()}, ${row[REWARD] === null ? "no reward" : `reward ${reward(row[REWARD])}`}`)));
  async function draw(at) {
    const drawn = at >= 0 ? await rival(...rivals[at], subject)
      : subject && subject.reference ? lane("The reference solution", subject.reference, "") : h("div", { class: "card" }, h("h3", {}, "The reference solution"), h("p", { class: "soft" }, "It is not in this run."));
    place.replaceChildren(...[drawn].flat());
    if (rivals.length) place.firstChild.prepend(h("div", { class: "filters" }, h("label", {}, "beside it ", choice)));
  }
  await draw(-1);
  return place;
}

async function rival(run, row, subject) {
  const told = await PAGE.rollout(run, row[KEY]);
  return [lane(`What ${run.agent} did at attempt ${row[KEY].split("#").pop()}`, told, told.user),
    h("div", { class: "card" }, h("h3", {}, "What the checkpoints say of it"), told.verdicts.map((one) => verdict(one, subject)))];
}

// The rollouts that can be opened, in the order of the list: the one before and the one after.
function neighbours(run, key) {
  const keys = run.rollouts.map((row) => row[KEY]).filter((one) => PAGE.opens(run, one)), at = keys.indexOf(key);
  return { before: keys[at - 1], after: keys[at + 1], told: `${at + 1} of ${keys.length}` };
}

function steps(run, number, key) {
  const { before, after, told } = neighbours(run, key);
  const step = (text, to) => h("button", { class: "back", disabled: to ? null : "", onclick: () => { if (to) open_(number, to); } }, text);
  return h("nav", { class: "steps", "aria-label": "Rollouts", title: "Keys: ← → the rollout before and after, Esc the list" }, back(), step("← previous", before), step("next →", after), h("span", { class: "faint small num" }, told));
}

function open_(number, key) {
  location.hash = `#/${number}/${encodeURIComponent(key)}`;
}

function back() {
  return h("button", { class: "back", onclick: () => { location.hash = "#"; } }, "← all rollouts");
}

function lane(title, told, user) {
  const calls = told.turns.reduce((sum, turn) => sum + turn.calls.length, 0), rows = told.turns.reduce((sum, turn) => sum + turn.calls.reduce((all, call) => all + call.changes.length, 0), 0);
  return h("div", { class: "card lane" }, h("h3", {}, title, h("span", { class: "small faint" }, `${calls} ${calls === 1 ? "call" : "calls"}, ${rows} ${rows === 1 ? "row" : "rows"} changed`)),
    user && h("div", { class: "said" }, h("span", { class: "who" }, `user (${user})`), told.task),
    told.turns.map((turn, at) => h("div", { class: "turn" }, h("div", { class: "n" }, h("span", {}, `turn ${at + 1}`), h("span", {}, turn.tokens ? `${count(turn.tokens)} tokens, ${turn.seconds} s` : "")),
      turn.thinking && h("details", { class: "thought" }, h("summary", {}, "thinking"), h("div", {}, turn.thinking)),
      turn.text && h("div", { class: turn.calls.length ? "words" : "said" }, !turn.calls.length && h("span", { class: "who" }, "says"), turn.text),
      turn.calls.map(call), turn.user && h("div", { class: "said", style: "margin-top:8px" }, h("span", { class: "who" }, "user"), turn.user))),
    !told.turns.length && h("p", { class: "soft" }, "Nothing."));
}

function call(told) {
  const named = Object.entries(told.arguments).map(([name, value], at) => [at ? ", " : "", h("span", { class: "key" }, `${name}=`), JSON.stringify(value)]);
  const text = told.result === null ? "no answer: the episode ended first" : told.result;
  const brief = text.replace(/\s+/g, " ");
  return h("div", { class: `call${told.error || told.malformed ? " error" : ""}` },
    h("div", { class: "ask mono" }, h("span", {}, h("b", {}, told.tool), told.malformed ? ` could not be read: ${told.malformed}` : ["(", named, ")"])),
    h("details", {}, h("summary", {}, brief.length > 140 ? `${brief.slice(0, 140)}…` : brief || "(nothing)"), h("pre", { tabindex: 0 }, pretty(text))),
    told.changes.length > 0 && h("div", { class: "changes" }, told.changes.map(change)));
}

function pretty(text) {
  try { return JSON.stringify(JSON.parse(text), null, 2); } catch { return text; }
}

function change(told) {
  const columns = [...new Set([...Object.keys(told.before), ...Object.keys(told.after)])], value = (of) => JSON.stringify(of);
  const key = Object.values(told.key).map((part) => typeof part === "string" ? part : value(part)).join(", ");
  return h("div", { class: "change" }, h("span", { class: `op ${told.operation}`, title: told.operation, role: "img", "aria-label": told.operation }, { insert: "+", update: "~", delete: "−" }[told.operation]),
    h("div", {}, h("b", {}, told.table), " ", h("span", { class: "mono soft" }, key), h("div", { class: "cols mono" }, columns.map((column) => h("span", { class: "col" }, `${column} `,
      told.operation !== "insert" && h("del", {}, value(told.before[column])), told.operation === "update" && " → ", told.operation !== "delete" && h("ins", {}, value(told.after[column])))))));
}

function verdict(told, subject) {
  const checkpoint = subject && subject.checkpoints.find((one) => one.id === told.checkpoint);
  const asks = checkpoint && (checkpoint.sql ? `${checkpoint.sql}\n\nexpected: ${JSON.stringify(checkpoint.expect)}` : checkpoint.python || JSON.stringify(checkpoint.allow, null, 1));
  return h("div", { class: "verdict" }, h("span", { class: `mark ${told.holds ? "yes" : "no"}`, role: "img", "aria-label": told.holds ? "holds" : "does not hold" }, told.holds ? "✓" : "✗"), h("div", {}, h("div", {}, told.question),
    h("div", { class: "role" }, `${told.role} · ${told.checkpoint}` + (told.role === "goal" && told.weight !== 1 ? ` · weight ${told.weight}` : "")),
    told.error ? h("div", { class: "seen" }, `broke: ${told.error}`) : !told.holds && told.seen ? h("div", { class: "seen" }, `seen: ${told.seen}`) : null,
    asks && h("details", {}, h("summary", {}, "how it asks"), h("pre", { tabindex: 0 }, asks))));
}
