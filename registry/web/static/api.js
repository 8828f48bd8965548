"use strict";
// Draws the OpenAPI document of the farm, and sends the requests that the reader fills in. Text goes in as text.

function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (typeof value === "function") made[name] = value;
    else if (value !== null && value !== false && value !== undefined) made.setAttribute(name, value);
  }
  const shown = children.flat(9).filter((one) => one !== null && one !== undefined && one !== false);
  made.append(...shown.map((one) => one instanceof Node ? one : clean(one)));
  return made;
}

let counter = 0;

function field(name, hint, value, isLong) {
  const id = `field-${++counter}`;
  const input = element(isLong ? "textarea" : "input", { id, spellcheck: "false", autocomplete: "off" });
  input.value = value;
  return { input, shown: element("label", { for: id }, name, hint && element("span", { class: "soft small" }, hint), input) };
}

function resolved(schema, all) {
  return schema && schema.$ref ? all.components.schemas[schema.$ref.split("/").pop()] : schema;
}

function example(schema, all, depth = 0) {
  const one = resolved(schema, all);
  if (!one || depth > 4) return null;
  if (one.default !== undefined) return one.default;
  if (one.examples) return one.examples[0];
  if (one.enum) return one.enum[0];
  if (one.anyOf) return example(one.anyOf[0], all, depth + 1);
  if (one.type === "object" && one.properties) {
    return Object.fromEntries(Object.entries(one.properties).map(([name, part]) => [name, example(part, all, depth + 1)]));
  }
  return { string: "", integer: one.minimum || 0, number: 0, boolean: false, array: [] }[one.type] ?? null;
}

function pretty(text) {
  try { return JSON.stringify(JSON.parse(text), null, 2); } catch { return text; }
}

function route(path, verb, told, all, token) {
  const parameters = (told.parameters || []).filter((one) => one.in !== "header");
  const fields = parameters.map((one) => [one, field(one.name + (one.required ? " *" : ""), one.description, one.in === "path" ? String(one.example ?? one.schema?.examples?.[0] ?? "") : "")]);
  const body = told.requestBody && field("body (JSON)", "", JSON.stringify(example(Object.values(told.requestBody.content)[0].schema, all), null, 2), true);
  const said = element("pre", { class: "block", hidden: "", tabindex: "0" });
  const failed = element("p", { role: "status", class: "soft small" });
  async function send(event) {
    event.preventDefault();
    let address = path;
    const query = new URLSearchParams();
    for (const [one, { input }] of fields) {
      if (one.in === "path") address = address.replace(`{${one.name}}`, encodeURIComponent(input.value));
      else if (input.value !== "") query.set(one.name, input.value);
    }
    const headers = token.value ? { Authorization: `Bearer ${token.value.trim()}` } : {};
    if (body) headers["Content-Type"] = "application/json";
    try {
      const answer = await fetch(address + (query.size ? `?${query}` : ""), { method: verb.toUpperCase(), headers, body: body ? body.input.value : undefined, credentials: "omit" });
      const kind = answer.headers.get("content-type") || "";
      failed.textContent = clean(`${answer.status} ${answer.statusText}`);
      said.textContent = /json|text/.test(kind) ? clean(pretty(await answer.text()).slice(0, 200000)) : answer.status === 204 ? "" : `${(await answer.arrayBuffer()).byteLength} bytes of ${kind}`;
      said.hidden = !said.textContent;
    } catch {
      failed.textContent = "The farm does not answer.";
    }
  }
  return element("details", { class: "fold route" },
    element("summary", {}, element("span", { class: `verb ${verb.toUpperCase()}` }, verb.toUpperCase()), element("span", {}, path), element("span", { class: "soft" }, told.summary || "")),
    element("div", { class: "inside" }, element("p", {}, told.description || ""),
      element("form", { class: "try", onsubmit: send }, fields.map(([, one]) => one.shown), body && body.shown, element("div", {}, element("button", { class: "button" }, "Send"))), failed, said,
      element("p", { class: "soft small" }, "Answers: ", Object.entries(told.responses).map(([status, one]) => `${status} ${one.description}`).join("  ·  "))));
}

async function draw() {
  const place = document.getElementById("page");
  const all = await (await fetch("/v1/openapi.json")).json();
  const token = element("input", { id: "token", type: "password", autocomplete: "off", spellcheck: "false" });
  place.append(element("p", { class: "lead" }, "Every request but health needs the control token. ", element("code", {}, "farm up"), " keeps it in the file ", element("code", {}, "token"), " of its state folder. The whole document is at ", element("a", { href: "/v1/openapi.json" }, "/v1/openapi.json"), "."),
    element("label", { class: "token", for: "token" }, "Control token, for requests that you send from here", token));
  for (const tag of all.tags) {
    const own = Object.entries(all.paths).flatMap(([path, verbs]) => Object.entries(verbs).filter(([, told]) => told.tags?.[told.tags.length - 1] === tag.name).map(([verb, told]) => route(path, verb, told, all, token)));
    if (own.length) place.append(element("section", {}, element("h2", {}, tag.name), element("p", { class: "lead" }, tag.description || ""), own));
  }
}

draw();
