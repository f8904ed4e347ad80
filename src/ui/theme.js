// The theme of dashboard and documentation: that of the system, unless the reader chose another one. Runs before the first paint.
// `:root[data-theme]` overrides `prefers-color-scheme` in tokens.css.
(() => {
  "use strict";
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const isTheme = (value) => value === "light" || value === "dark";

  function stored() {
    // Reading throws if the browser blocks storage.
    try {
      return localStorage.getItem("theme");
    } catch {
      return null;
    }
  }

  function apply(theme) {
    if (isTheme(theme)) root.dataset.theme = theme;
    else delete root.dataset.theme;
    const button = document.getElementById("theme-switch");
    if (!button) return;
    const other = current() === "dark" ? "light" : "dark";
    button.setAttribute("aria-label", `Switch to the ${other} theme`);
    button.title = `Switch to the ${other} theme`;
    button.hidden = false;
  }

  function current() {
    return root.dataset.theme ?? (dark.matches ? "dark" : "light");
  }

  apply(stored());
  dark.addEventListener("change", () => apply(root.dataset.theme));
  // Another tab changed the theme.
  addEventListener("storage", (event) => {
    if (event.key === "theme" || event.key === null) apply(stored());
  });
  // The page comes from the back/forward cache.
  addEventListener("pageshow", (event) => {
    if (event.persisted) apply(stored());
  });
  document.addEventListener("DOMContentLoaded", () => {
    apply(root.dataset.theme);
    document.getElementById("theme-switch")?.addEventListener("click", () => {
      const next = current() === "dark" ? "light" : "dark";
      // The choice that equals the system's theme is not stored, so that later changes of the system apply.
      const followsSystem = next === (dark.matches ? "dark" : "light");
      try {
        if (followsSystem) localStorage.removeItem("theme");
        else localStorage.setItem("theme", next);
      } catch {
        // The choice lasts until the page is left.
      }
      apply(followsSystem ? null : next);
    });
  });
})();
