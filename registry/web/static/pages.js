// What the pages do beyond plain HTML. Every page works without it: forms are sent, and pages are loaded anew.
//
// A region is an element with an id and `data-region`. To refresh, the page is fetched again, and its regions replace
// those that differ. What a stranger wrote stays text: a parsed page runs no script, and the policy allows none.
"use strict";

const root = document.documentElement;
const KEPT = "details[id][data-touched]";
const EDITED = ["form", "model"]; // what a person may be writing in, so that only its own form replaces it
let latest = 0;

function regions() {
  return [...document.querySelectorAll("[data-region]")].map((one) => one.dataset.region);
}

function parsed(text) {
  return new DOMParser().parseFromString(text, "text/html");
}

function typedIn(region) {
  const fields = [...region.querySelectorAll("input[id], textarea[id]")];
  return fields.filter((one) => one.value !== one.defaultValue).map((one) => [one.id, one.value]);
}

function replaceRegions(page, names, isLive) {
  for (const old of document.querySelectorAll("[data-region]")) {
    if (names && !names.includes(old.dataset.region)) continue;
    const fresh = page.getElementById(old.id);
    if (!fresh || fresh.outerHTML === old.dataset.source || fresh.isEqualNode(old)) continue;
    const active = old.contains(document.activeElement) ? document.activeElement.id : "";
    const open = new Map([...old.querySelectorAll(KEPT)].map((one) => [one.id, one.open]));
    const scrolled = [...old.querySelectorAll(".scroll[id]")].map((one) => [one.id, one.scrollLeft, one.scrollTop]);
    const top = old.scrollTop;
    const typed = isLive ? typedIn(old) : []; // a form that was sent begins anew
    old.replaceWith(fresh);
    fresh.scrollTop = top;
    for (const [id, was] of open) {
      const one = document.getElementById(id);
      if (one) { one.open = was; one.dataset.touched = ""; }
    }
    for (const [id, text] of typed) {
      const one = document.getElementById(id);
      if (one) one.value = text;
    }
    for (const [id, x, y] of scrolled) document.getElementById(id)?.scrollTo(x, y);
    if (active) document.getElementById(active)?.focus({ preventScroll: true });
    dress(fresh);
  }
}

async function refreshed(address, options, names) {
  const number = ++latest;
  const answer = await fetch(address, { credentials: "same-origin", ...options });
  notice("");
  const type = answer.headers.get("content-type") || "";
  if (!type.startsWith("text/html")) return location.assign(answer.url);
  const page = parsed(await answer.text());
  const isAnother = !regions().some((name) => page.querySelector(`[data-region="${CSS.escape(name)}"]`));
  if (isAnother && answer.status === 422) {  // a form was refused: what was typed stays
    notice(page.querySelector("#trouble .message")?.textContent || "That did not work.");
    return null;
  }
  if (isAnother) {
    become(page);
    return null;
  }
  if (number !== latest && !options) return null; // a later one is under way
  replaceRegions(page, names, "X-Live" in (options?.headers || {}));
  return answer;
}

function become(page) {
  document.body.replaceWith(page.body);
  document.title = page.title;
  dress(document.body);
}

// What went wrong, where everybody sees it until the farm has answered again.
function notice(text) {
  const old = document.getElementById("notice");
  if (old?.textContent === text) return;
  old?.remove();
  if (!text) return;
  const place = document.createElement("p");
  place.id = place.className = "notice";
  place.setAttribute("role", "alert");
  place.textContent = text;
  document.body.append(place);
}

function away() {
  notice("The farm does not answer.");
  showTrouble();
}

function told(text) {
  const place = document.getElementById("said");
  if (place) place.textContent = text;
}

// Forms: sent in the background, the regions of the page that answers take the place of the old ones.
addEventListener("submit", async (event) => {
  const form = event.target, button = event.submitter;
  if (form.dataset.ask && !confirm(form.dataset.ask)) return event.preventDefault();
  const isPost = form.method === "post", isQuiet = "quiet" in form.dataset;
  if (!isPost && !isQuiet) return;
  event.preventDefault();
  const data = new URLSearchParams(new FormData(form, button));
  const address = isPost ? form.action : `${form.action}?${data}`;
  if (button) button.disabled = true;
  form.setAttribute("aria-busy", "true");
  try {
    if (!isQuiet) return await sent(address, data);
    const own = form.closest("[data-region]")?.dataset.region;
    const names = isPost ? regions().filter((one) => one === own || !EDITED.includes(one)) : undefined;
    const answer = await refreshed(address, isPost ? { method: "POST", body: data } : {}, names);
    if (answer) {
      const isNew = answer.redirected && new URL(answer.url).pathname !== location.pathname;
      if (!isPost || isNew) history.pushState(null, "", answer.url);
      else if (own && answer.redirected) history.replaceState(null, "", answer.url);
      told(answer.ok ? form.dataset.done || "The page was refreshed." : "It was refused.");
    }
  } catch {
    away();
  } finally {
    form.removeAttribute("aria-busy");
    if (button) button.disabled = false;
  }
});
addEventListener("popstate", () => { if (regions().length) refreshed(location.href).catch(away); });

// A form that leads to another page. If the farm is away, this page stays.
async function sent(address, body) {
  const answer = await fetch(address, { method: "POST", body, credentials: "same-origin" });
  if (answer.redirected) location.assign(answer.url);
  else become(parsed(await answer.text()));
}

// Filters: the list follows what is typed.
let waiting = 0;
addEventListener("input", (event) => {
  const form = event.target.closest("form[data-live-filter]");
  if (!form) return;
  clearTimeout(waiting);
  waiting = setTimeout(async () => {
    const query = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
    const address = `${form.getAttribute("action")}${query.size ? `?${query}` : ""}`;
    const names = form.dataset.liveFilter.split(" ");
    if (await refreshed(address, undefined, names).catch(away)) history.replaceState(null, "", address);
  }, 160);
});

// Links inside a page that change only regions of it.
addEventListener("click", async (event) => {
  const link = event.target.closest("a[data-quiet]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  const names = link.dataset.quiet ? link.dataset.quiet.split(" ") : undefined;
  if (await refreshed(link.href, undefined, names).catch(away)) {
    history.replaceState(null, "", link.href);
    if (link.hash) document.querySelector(link.hash)?.focus({ preventScroll: false });
  }
});

// Live pages: the server says that something changed, and the regions named live are fetched again.
//
// A browser holds six connections to a farm, and each live page takes one for as long as it is live. So the newest few
// pages are live, among them the one that is looked at: the others pause, and follow again once they are looked at.
const MOST_LIVE = 4;

function showTrouble() {
  document.querySelector("[data-live]")?.setAttribute("data-broken", "");
}

function live() {
  const place = document.querySelector("[data-live]");
  if (!place || !window.EventSource) return;
  const names = place.dataset.regions.split(" ");
  const own = `${Date.now()} ${Math.random()}`, newer = new Set();
  const others = window.BroadcastChannel ? new BroadcastChannel("live pages") : null;
  let events = null, busy = false, again = false, over = false;
  async function follow() {
    if (busy) { again = true; return; }
    busy = true;
    try {
      do {
        again = false;
        await refreshed(location.href, { headers: { "X-Live": "1" } }, names);
      } while (again);
    } catch { /* the farm is away; the stream connects again */ } finally { busy = false; }
  }
  function begin() {
    if (events || over) return;
    newer.clear();
    others?.postMessage({ began: own });
    place.removeAttribute("data-paused");
    events = new EventSource(place.dataset.live);
    events.addEventListener("changed", follow);
    events.addEventListener("over", () => { over = true; end(); follow(); });
    events.onopen = () => place.removeAttribute("data-broken");
    events.onerror = () => {
      place.setAttribute("data-broken", "");
      if (events?.readyState !== EventSource.CLOSED) return;
      place.setAttribute("data-still", "");  // it was refused, and does not connect again
      over = true;
      follow();
    };
  }
  function end() {
    events?.close();
    events = null;
    others?.postMessage({ ended: own });
  }
  function pause() {
    if (!events || over) return;
    end();
    place.setAttribute("data-paused", "");
  }
  others?.addEventListener("message", ({ data }) => {
    if (data.began) newer.add(data.began);
    newer.delete(data.ended);
    if (newer.size >= MOST_LIVE) pause();
    else if (!document.hidden) begin();
  });
  function look() {
    if (document.hidden) pause();
    else begin();
  }
  place.querySelector("[data-follow]")?.addEventListener("click", begin);
  addEventListener("visibilitychange", look);
  addEventListener("focus", look);
  addEventListener("pagehide", () => { if (!over) end(); });
  addEventListener("pageshow", look);
  look();
}

// Pages of what grows on disk: their regions are fetched again every few seconds, while somebody can see them.
function keepFresh() {
  const every = Math.min(...[...document.querySelectorAll("[data-refresh]")].map((one) => Number(one.dataset.refresh)));
  if (!Number.isFinite(every)) return;
  const names = [...document.querySelectorAll("[data-refresh]")].map((one) => one.dataset.region);
  async function look() {
    const region = document.querySelector("[data-refresh]");
    const busy = region?.querySelector(":checked, [aria-busy]") || region?.contains(document.activeElement?.closest("input, select, textarea"));
    if (!document.hidden && !busy) {
      try { await refreshed(location.href, { headers: { "X-Live": "1" } }, names); } catch { away(); }
    }
    if (document.querySelector("[data-refresh]")) setTimeout(look, 1000 * every);
  }
  setTimeout(look, 1000 * every);
}

// Small things: times in the reader's zone, the theme, copying.
function dress(within) {
  for (const one of within.querySelectorAll("time[datetime]")) {
    const at = new Date(one.dateTime);
    if (!Number.isNaN(at.getTime())) {
      one.title = one.dateTime;
      one.textContent = at.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
    }
  }
}

addEventListener("click", (event) => {
  const summary = event.target.closest("summary");
  if (summary) summary.parentElement.dataset.touched = "";
});

addEventListener("click", async (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  if ("theme" in button.dataset) {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    try { localStorage.setItem("theme", root.dataset.theme); } catch { /* storage is off */ }
  }
  if ("copy" in button.dataset) {
    await navigator.clipboard?.writeText(button.dataset.copy);
    told("Copied.");
  }
  if ("fill" in button.dataset) {
    const field = document.getElementById(button.dataset.fill);
    if (field) { field.value = button.dataset.value; field.focus(); }
  }
});

addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.target.closest("input, select, textarea")) return;
  const go = { ArrowLeft: "prev", ArrowRight: "next", Escape: "up" }[event.key];
  const link = go && document.querySelector(`a[rel="${go}"]`);
  if (link) link.click();
  if (event.key === "/") {
    const field = document.querySelector("input[type=search]");
    if (field) { event.preventDefault(); field.focus(); }
  }
});

root.classList.add("scripted");
dress(document);
live();
keepFresh();
