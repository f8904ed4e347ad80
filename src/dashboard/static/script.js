// Makes pages handier: times in the reader's zone, read and written, and ids that copy with a click. Everything works without it.
(() => {
  "use strict";
  const zone = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

  // Fields for a moment hold UTC, and so do addresses. They are shown in the zone of the times beside them.
  const text = (ms) => new Date(ms).toISOString().slice(0, 19).replace(/:00$/, "");
  // Once a field: what is prepared again may hold what somebody has typed.
  const localised = new WeakSet();
  function localise(field) {
    if (localised.has(field)) return;
    localised.add(field);
    const at = new Date(`${field.defaultValue}Z`);
    if (!Number.isNaN(at.getTime())) {
      field.value = text(at.getTime() - at.getTimezoneOffset() * 60000);
      field.dataset.shown = field.value;
    }
    for (const name of field.labels[0].querySelectorAll("[data-zone]")) {
      name.textContent = zone.resolvedOptions().timeZone;
    }
  }
  document.addEventListener("formdata", (event) => {
    for (const field of event.target.querySelectorAll("input[data-moment]")) {
      // What was left as it was shown is sent as it came: the hour that a clock is put back has two of each time.
      const same = field.value === field.dataset.shown;
      if (field.value) event.formData.set(field.name, same ? field.defaultValue : text(new Date(field.value).getTime()));
    }
  });

  function prepare(root) {
    for (const time of root.querySelectorAll("time[datetime]:not([data-local])")) {
      const at = new Date(time.dateTime);
      if (!Number.isNaN(at.getTime())) {
        time.textContent = zone.format(at);
        time.dataset.local = "";
      }
    }
    for (const field of root.querySelectorAll("input[data-moment]")) localise(field);
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

  // A form that changes something is sent once, however often its button is pressed in a hurry. What was stopped on its way
  // can be sent again a little later. What htmx sends, the page stays for.
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
