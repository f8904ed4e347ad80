// Progressive enhancement: the time zone, copy buttons, protection against double submission, and live updates with htmx.
// Pages work without this script.
(() => {
  "use strict";
  // Tells the server the browser's time zone, in which it renders the times of the next pages.
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const secure = location.protocol === "https:" ? "; Secure" : "";
  if (zone) document.cookie = `time-zone=${zone}; Path=/; Max-Age=31536000; SameSite=Lax${secure}`;

  function prepare(root) {
    if (navigator.clipboard) {
      for (const button of root.querySelectorAll("button[data-copy]")) {
        button.hidden = false;
      }
    }
  }

  document.addEventListener("click", async (event) => {
    const button = event.target instanceof Element && event.target.closest("button[data-copy]");
    if (!button) return;
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
    } catch {
      return;
    }
    button.classList.add("done");
    const label = button.getAttribute("aria-label");
    button.setAttribute("aria-label", "Copied");
    setTimeout(() => {
      button.classList.remove("done");
      button.setAttribute("aria-label", label);
    }, 1500);
  });

  // Prevents double submission of forms that change something. A submission that was interrupted can be repeated after a few
  // seconds. Forms that htmx sends are left alone, since the page stays open.
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (event.defaultPrevented || form.getAttribute("method") !== "post") return;
    if (form.dataset.sent !== undefined) {
      event.preventDefault();
      return;
    }
    form.dataset.sent = "";
    setTimeout(() => delete form.dataset.sent, 5000);
  });
  window.addEventListener("pageshow", () => {
    for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
  });

  // Live parts are not polled while the page is hidden, and are only replaced when they have changed. If the record was deleted,
  // the page reloads and shows the error.
  const lastResponses = new WeakMap();
  document.addEventListener("htmx:beforeRequest", (event) => {
    if (document.hidden && event.detail.elt.matches("[data-live]")) event.preventDefault();
  });
  document.addEventListener("htmx:beforeSwap", (event) => {
    const { elt, xhr } = event.detail;
    if (!elt.matches("[data-live]")) return;
    if (xhr.status === 404) location.reload();
    if (lastResponses.get(elt) === xhr.responseText) event.detail.shouldSwap = false;
    lastResponses.set(elt, xhr.responseText);
  });

  prepare(document);
  document.addEventListener("htmx:load", (event) => prepare(event.target));
})();
