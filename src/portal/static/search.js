// The search field: suggestions from the index of all pages. Without this script, the form leads to the server's results.

import { element } from "./samples.js";

const MAX_RESULTS = 20;
const MAX_QUERY = 200;
/** How much more a result of a kind counts than a field. Pages answer questions, fields are many. */
const WEIGHTS = { Page: 4, Operation: 3, Event: 3, "Error code": 3, Section: 2 };
/** Attempts to find something: all words, all words with a typing error, any word. */
const ATTEMPTS = [{}, { fuzzy: (word) => (word.length > 4 ? 0.2 : false) }, { combineWith: "OR" }];
const { prefix, assets } = document.body.dataset;
const input = document.getElementById("search");
const popup = document.getElementById("search-results");
const list = element("div", { role: "listbox", id: "search-list", "aria-label": "Results" });
const message = element("p", { role: "status" });
popup.append(list, message);
for (const [name, value] of Object.entries({
  role: "combobox", "aria-controls": list.id, "aria-expanded": "false", "aria-autocomplete": "list",
})) input.setAttribute(name, value);

/** Splits text into words. Identifiers and their parts are words: `Certificate.issued_at` is found by `issued_at` and `issued`. */
function words(text) {
  const parts = (word) => [word, ...word.split(/[.:/]+/), ...word.split(/[^\p{L}\p{N}]+|(?<=\p{Ll})(?=\p{Lu})/u)];
  return [...new Set(queryWords(text).flatMap(parts))].filter(Boolean);
}

function queryWords(text) {
  const trim = (word) => word.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "");
  return text.split(/[^\p{L}\p{N}_.:/-]+/u).map(trim).filter(Boolean);
}

let index;
let failures = 0;
function load() {
  index ??= Promise.all([importMiniSearch(), fetchDocuments()]).then(([MiniSearch, documents]) => {
    const created = new MiniSearch({
      fields: ["title", "text"],
      storeFields: ["title", "kind", "api", "text", "url"],
      tokenize: words,
      searchOptions: {
        tokenize: (text) => queryWords(text).slice(0, 10),
        combineWith: "AND",
        prefix: true,
        boost: { title: 4 },
        boostDocument: (_, __, { kind, url }) => (WEIGHTS[kind] ?? 1) * (/\/docs\/(developer|platform)/.test(url) ? 0.3 : 1),
      },
    });
    created.addAll(documents);
    return created;
  }).catch((error) => {
    // The next input tries again. Until then, the form is submitted to the server.
    index = undefined;
    failures += 1;
    throw error;
  });
  return index;
}

async function importMiniSearch() {
  // Browsers remember a failed import by its URL.
  const { default: MiniSearch } = await import(`${assets}minisearch.js${failures ? `?${failures}` : ""}`);
  return MiniSearch;
}

async function fetchDocuments() {
  const response = await fetch(`${prefix}/docs/search.json`);
  if (!response.ok) throw new Error(`status ${response.status}`);
  return response.json();
}

let active = -1;
function activate(position) {
  const options = list.children;
  active = options.length ? (position + options.length) % options.length : -1;
  for (const [number, option] of [...options].entries()) option.setAttribute("aria-selected", number === active);
  if (active < 0) return input.removeAttribute("aria-activedescendant");
  input.setAttribute("aria-activedescendant", options[active].id);
  options[active].scrollIntoView({ block: "nearest" });
}

function close() {
  popup.hidden = true;
  input.setAttribute("aria-expanded", "false");
  input.removeAttribute("aria-activedescendant");
  active = -1;
}

function option({ title, kind, api, text, url }, number) {
  const link = element("a", { role: "option", id: `search-${number}`, href: url, tabindex: "-1", "aria-selected": "false" });
  link.append(element("span", { class: "found-title" }, title), element("span", { class: "badge" }, api ? `${kind}, ${api}` : kind));
  if (text) link.append(element("span", { class: "found-text" }, text.slice(0, 120)));
  return link;
}

async function show() {
  const query = input.value.slice(0, MAX_QUERY).trim();
  if (!query) return close();
  let found;
  try {
    const loaded = await load();
    for (const options of ATTEMPTS) {
      found = loaded.search(query, options).slice(0, MAX_RESULTS);
      if (found.length) break;
    }
  } catch {
    return close();
  }
  // The reader typed on, or left.
  if (query !== input.value.slice(0, MAX_QUERY).trim() || document.activeElement !== input) return;
  list.replaceChildren(...found.map(option));
  list.hidden = found.length === 0;
  message.textContent = found.length ? `${found.length} ${found.length === 1 ? "result" : "results"}` : "Nothing found.";
  message.classList.toggle("visually-hidden", found.length > 0);
  popup.hidden = false;
  input.setAttribute("aria-expanded", String(found.length > 0));
  active = -1;
  input.removeAttribute("aria-activedescendant");
}

input.addEventListener("focus", () => void load().catch(() => {}));
input.addEventListener("input", show);
input.addEventListener("blur", close);
// Keeps the focus in the field while a result is clicked.
popup.addEventListener("mousedown", (event) => event.preventDefault());
popup.addEventListener("click", (event) => event.target.closest("a") && close());
input.addEventListener("keydown", (event) => {
  if (event.isComposing) return;
  if (popup.hidden) {
    if (event.key === "ArrowDown") show();
    return;
  }
  if (event.key === "ArrowDown") activate(active + 1);
  else if (event.key === "ArrowUp") activate(active < 0 ? -1 : active - 1);
  else if (event.key === "Escape") close();
  else if (event.key === "Enter" && active >= 0) list.children[active].click();
  else return;
  event.preventDefault();
});

document.addEventListener("keydown", (event) => {
  const isEditable = event.target instanceof Element && event.target.closest("input, select, textarea, [contenteditable]");
  const isSlash = event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey && !isEditable;
  const isCommand = event.key?.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
  if (!isSlash && !isCommand) return;
  event.preventDefault();
  input.focus();
  input.select();
});
