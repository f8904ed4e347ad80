// Samples in all languages, copy buttons, and the navigation on phones. Pages are complete without this script.

import { highlight } from "./highlight.js";
import { SampleTabs, copyButton, element } from "./samples.js";
import { sampleRequest, snippet } from "./snippets.mjs";

const { prefix } = document.body.dataset;
// The address at which the reader reached this server. The server's text has the configured one.
const baseUrl = location.origin + prefix;

// The reference was at `/docs` before.
if (location.pathname.replace(/\/$/, "") === `${prefix}/docs` && location.hash.startsWith("#/")) {
  location.replace(`${prefix}/docs/reference${location.hash}`);
}

// The guide for webhooks contained the event types, which have pages of their own now.
if (location.pathname === `${prefix}/docs/webhooks` && /^#[a-z_]+\.[a-z_]+$/.test(location.hash)) {
  const type = location.hash.slice(1);
  if (!document.getElementById(type)) location.replace(`${prefix}/docs/events/${type}`);
}

for (const root of document.querySelectorAll(".samples[data-sample]")) {
  const request = sampleRequest(JSON.parse(root.dataset.sample), baseUrl);
  new SampleTabs(root, (language) => snippet(language, request));
}

for (const block of document.querySelectorAll("main pre")) {
  if (block.closest(".samples, #reference")) continue;
  let frame = block.closest(".code");
  if (!frame) {
    frame = element("div", { class: "code" });
    block.replaceWith(frame);
    frame.append(block);
  }
  frame.append(copyButton("Copy the code", () => block.textContent));
  const code = block.querySelector("code");
  if (frame.dataset.language) highlight(code, frame.dataset.language).catch(() => {});
}

for (const button of document.querySelectorAll("[data-copy-page]")) {
  copyButton(button.textContent, () => markdown(button.dataset.copyPage), button);
}

async function markdown(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`status ${response.status}`);
  return response.text();
}

// Marks the section that the reader sees in the table of contents: the last heading above the upper third of the window.
const links = new Map([...document.querySelectorAll(".contents a")].map((link) => [link.hash.slice(1), link]));
const headings = [...links.keys()].map((id) => document.getElementById(id)).filter(Boolean);
function markSection() {
  const current = headings.findLast((heading) => heading.getBoundingClientRect().top < innerHeight / 3);
  for (const [id, link] of links) {
    if (id === current?.id) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
}
const observer = new IntersectionObserver(markSection, { rootMargin: "0px 0px -66%" });
for (const heading of headings) observer.observe(heading);

const drawer = document.getElementById("navigation-drawer");
const navigation = drawer?.closest("nav");
/** Scrolls the navigation, not the page, to the link of this page. */
function showCurrentLink() {
  const links = navigation?.querySelectorAll(".groups [aria-current]") ?? [];
  const link = [...links].find((link) => !link.closest("details:not([open])"));
  if (!link) return;
  const middle = navigation.getBoundingClientRect().top + navigation.clientHeight / 2;
  navigation.scrollTop += link.getBoundingClientRect().top - middle;
}
showCurrentLink();
drawer?.addEventListener("toggle", showCurrentLink);
document.addEventListener("click", (event) => {
  // A link to an anchor does not leave the page.
  if (drawer?.open && (!navigation.contains(event.target) || event.target.closest("a"))) drawer.open = false;
});
navigation?.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !drawer.open) return;
  drawer.open = false;
  drawer.querySelector("summary").focus();
});
