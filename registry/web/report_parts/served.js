// The report of a farm: its data are fetched, rollouts when they are opened, and a run that grows is drawn anew.
const SECONDS_BETWEEN = 4, own = document.getElementById("report"), query = own.dataset.runs, fetched = new Map(), pulse = document.getElementById("run-pulse");
let mark = "", begun = false;

async function answered(address) {
  const answer = await fetch(address, { credentials: "same-origin" });
  if (answer.status === 204) return null;
  const told = (answer.headers.get("content-type") || "").startsWith("application/json") ? await answer.json() : null;
  if (!answer.ok || !told) throw Object.assign(new Error(told ? told.error : "This session is over. Load the page again."), { refused: true });
  return told;
}

// What was opened is asked for once for each state of the run.
function once(kind, run, name) {
  const address = `/runs/${kind}?run=${run.id}&name=${encodeURIComponent(name)}`, kept = `${address} ${mark}`;
  if (!fetched.has(kept)) fetched.set(kept, answered(address));
  return fetched.get(kept);
}

// The page of a scenario of the farm's library, which may have it no more.
function scenario(name) {
  const [environment, ...rest] = name.split("/");
  return `/environments/${encodeURIComponent(environment)}/scenarios/${encodeURIComponent(rest.join("/"))}`;
}

const page = { scenario, place: own, head: () => [], opens: () => true, rollout: (run, key) => once("rollout", run, key), subject: (run, name) => once("subject", run, name).catch(() => null) };

// A farm that answers, but has no such run, is followed no more visibly: the page says why, and looks again.
function trouble(error) {
  if (pulse) pulse.hidden = !!error.refused;
  mark = "";
  own.replaceChildren(h("div", { class: "wrap" }, h("div", { class: "note", role: "alert" }, error.message)));
}

async function look() {
  const told = await answered(`/runs/data?${query}&mark=${encodeURIComponent(mark)}`);
  if (!told) return;
  mark = told.mark;
  fetched.clear();
  if (pulse) pulse.hidden = false;
  if (!begun) {
    begun = true;
    begin(told, page);
  } else {
    DATA = told;
    if (!asked().key && !own.contains(document.activeElement?.closest("input, select"))) await show({ stay: true });
  }
}

async function follow() {
  if (!document.hidden || !begun) {
    try {
      await look();
      pulse?.removeAttribute("data-broken");
    } catch (error) {
      if (error.refused || !begun) trouble(error);
      if (!error.refused) pulse?.setAttribute("data-broken", "");
    }
  }
  setTimeout(follow, 1000 * SECONDS_BETWEEN);
}

follow();
addEventListener("unhandledrejection", (event) => {
  if (!(event.reason instanceof Error)) return;
  event.preventDefault();
  trouble(event.reason);
});
