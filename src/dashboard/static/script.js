// Progressive enhancement: local times, copy buttons, protection against double submission, and live updates with htmx.
// Pages work without this script.
(() => {
  "use strict";
  const formatter = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

  // Date and time fields hold UTC, as do query parameters. They are shown in the browser's time zone.
  const formatUtc = (ms) => new Date(ms).toISOString().slice(0, 19).replace(/:00$/, "");
  // Each field is converted once, since it may already contain user input when the page is prepared again.
  const localized = new WeakSet();
  function localize(field) {
    if (localized.has(field)) return;
    localized.add(field);
    const at = new Date(`${field.defaultValue}Z`);
    if (!Number.isNaN(at.getTime())) {
      field.value = formatUtc(at.getTime() - at.getTimezoneOffset() * 60000);
      field.dataset.shown = field.value;
    }
    for (const name of field.labels[0].querySelectorAll("[data-zone]")) {
      name.textContent = formatter.resolvedOptions().timeZone;
    }
  }
  document.addEventListener("formdata", (event) => {
    for (const field of event.target.querySelectorAll("input[data-moment]")) {
      // An unchanged field is sent as it was received, since local times are ambiguous when daylight saving time ends.
      const isUnchanged = field.value === field.dataset.shown;
      if (field.value) event.formData.set(field.name, isUnchanged ? field.defaultValue : formatUtc(new Date(field.value).getTime()));
    }
  });

  function prepare(root) {
    for (const time of root.querySelectorAll("time[datetime]:not([data-local])")) {
      const at = new Date(time.dateTime);
      if (!Number.isNaN(at.getTime())) {
        time.textContent = formatter.format(at);
        time.dataset.local = "";
      }
    }
    for (const field of root.querySelectorAll("input[data-moment]")) localize(field);
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
