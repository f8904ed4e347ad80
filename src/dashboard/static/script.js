// Makes pages handier: times in the reader's zone, and ids that copy with a click. Everything works without it.
(() => {
  "use strict";
  const zone = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

  function prepare(root) {
    for (const time of root.querySelectorAll("time[datetime]:not([data-local])")) {
      const at = new Date(time.dateTime);
      if (!Number.isNaN(at.getTime())) {
        time.textContent = zone.format(at);
        time.dataset.local = "";
      }
    }
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

  // A form is sent once, however often its button is pressed. What htmx sends, the page stays for.
  document.addEventListener("submit", (event) => {
    if (event.defaultPrevented) return;
    if (event.target.dataset.sent !== undefined) {
      event.preventDefault();
      return;
    }
    event.target.dataset.sent = "";
  });
  window.addEventListener("pageshow", () => {
    for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
  });

  // Parts that look for news by themselves rest while nobody sees them, and stay as they are when there are none. What was
  // deleted meanwhile is told by the page itself.
  const seen = new WeakMap();
  document.addEventListener("htmx:beforeRequest", (event) => {
    if (document.hidden && event.detail.elt.matches("[data-live]")) event.preventDefault();
  });
  document.addEventListener("htmx:beforeSwap", (event) => {
    const { elt, xhr } = event.detail;
    if (!elt.matches("[data-live]")) return;
    if (xhr.status === 404) location.reload();
    if (seen.get(elt) === xhr.responseText) event.detail.shouldSwap = false;
    seen.set(elt, xhr.responseText);
  });

  prepare(document);
  document.addEventListener("htmx:load", (event) => prepare(event.target));
})();
