// Sample programs as tabs, copy buttons, and remembered choices. Shared by the guides and the reference.

import { highlight } from "./highlight.js";
import { LANGUAGES } from "./snippets.mjs";

/** Returns a remembered choice, or null. Browsers can block storage. */
export function recall(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

/** Remembers a choice for the pages of this server. */
export function remember(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // The choice applies to this page only.
  }
}

/** Creates an element with these properties and children. */
export function element(tag, properties = {}, ...children) {
  const created = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) created.setAttribute(name, value);
  created.append(...children);
  return created;
}

/** Creates a button that copies the text that `textOf` returns, or a promise of it. Hidden if the browser cannot copy. */
export function copyButton(label, textOf, button = element("button", { type: "button", class: "copy", "aria-label": label })) {
  button.hidden = !navigator.clipboard;
  const original = button.textContent;
  const show = (text) => (original ? (button.textContent = text) : button.setAttribute("aria-label", text));
  button.addEventListener("click", async () => {
    let message = "Copied";
    try {
      await navigator.clipboard.writeText(await textOf());
      button.classList.add("done");
    } catch {
      message = "Copying failed";
    }
    show(message);
    setTimeout(() => {
      button.classList.remove("done");
      show(original || label);
    }, 1500);
  });
  return button;
}

// The language of all samples on the page.
let language = LANGUAGES[0].id;
const shownTabs = new Set();
let created = 0;

function applyRemembered() {
  const remembered = recall("language");
  if (LANGUAGES.some(({ id }) => id === remembered)) language = remembered;
  for (const tabs of shownTabs) tabs.update();
}

applyRemembered();
// The page comes from the back/forward cache.
addEventListener("pageshow", (event) => event.persisted && applyRemembered());

/** Tabs with one program in all languages. A choice applies to all samples, and is remembered. */
export class SampleTabs {
  /** Replaces the content of `root`. `textOf` returns the program in a language. */
  constructor(root, textOf) {
    const id = `samples-${(created += 1)}`;
    this.textOf = textOf;
    this.code = element("code");
    this.tabs = LANGUAGES.map(({ id: tab, name }) =>
      element("button", { type: "button", role: "tab", id: `${id}-${tab}`, "aria-controls": id, "data-language": tab }, name),
    );
    const list = element("div", { role: "tablist", "aria-label": "Language" }, ...this.tabs);
    this.panel = element("div", { role: "tabpanel", id }, element("pre", { class: "sample", tabindex: "0" }, this.code));
    list.addEventListener("click", (event) => this.choose(event.target.closest("[role=tab]")));
    list.addEventListener("keydown", (event) => this.move(event));
    root.classList.add("switched");
    root.replaceChildren(
      element("div", { class: "samples-head" }, list, copyButton("Copy the sample", () => this.code.textContent)),
      this.panel,
    );
    shownTabs.add(this);
    this.update();
  }

  /** Shows the program again, after the request has changed. */
  update(textOf = this.textOf) {
    this.textOf = textOf;
    for (const tab of this.tabs) {
      const isCurrent = tab.dataset.language === language;
      tab.setAttribute("aria-selected", isCurrent);
      tab.tabIndex = isCurrent ? 0 : -1;
      if (isCurrent) this.panel.setAttribute("aria-labelledby", tab.id);
    }
    const text = textOf(language);
    if (this.code.textContent === text) return;
    this.code.textContent = text;
    // Without colors if the script cannot be loaded.
    highlight(this.code, language).catch(() => {});
  }

  /** Stops following the choice of the language. */
  remove() {
    shownTabs.delete(this);
  }

  choose(tab) {
    if (!tab) return;
    const top = tab.getBoundingClientRect().top;
    language = tab.dataset.language;
    remember("language", language);
    for (const tabs of shownTabs) tabs.update();
    // Samples above can change their height.
    scrollBy({ top: tab.getBoundingClientRect().top - top, behavior: "instant" });
  }

  move(event) {
    const last = this.tabs.length - 1;
    const index = this.tabs.indexOf(event.target);
    const next = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: last }[event.key];
    if (next === undefined || index < 0) return;
    event.preventDefault();
    const tab = this.tabs[(next + this.tabs.length) % this.tabs.length];
    tab.focus();
    this.choose(tab);
  }
}
