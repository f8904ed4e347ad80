// The layout: key, filter and operations. The server renders the navigation; this script marks the current operation in it, hides
// operations that the filter excludes, and opens the operation of the address.

import { elsewhereNote, isElsewhere } from "./address.js";

const navigation = document.getElementById("operation-navigation");
const links = new Map([...(navigation?.querySelectorAll("a[data-operation]") ?? [])].map((link) => [link.dataset.operation, link]));

/** Returns tag and operation of a fragment such as `#/courses/getCourse`. */
function target(hash) {
  try {
    const [, path = ""] = /^#!?\/(.*)$/s.exec(hash) ?? [];
    const [tag = "", operation = ""] = path.split("/").map(decodeURIComponent);
    return tag ? { tag, operation, id: `operations-${operation ? "" : "tag-"}${tag}${operation ? `-${operation}` : ""}` } : null;
  } catch {
    return null;
  }
}

export const layout = (system) => {
  const { React } = system;
  const h = React.createElement;
  // The operation that is scrolled to once it is on the page.
  let pending = null;

  function scrollToPending() {
    const element = pending && document.getElementById(pending.id);
    if (!element) return;
    element.scrollIntoView({ behavior: "instant" });
    if (pending.hasFocus) element.querySelector(".opblock-summary-control, .expand-operation")?.focus({ preventScroll: true });
    pending.hasFocus = false;
    // Until the content of the operation is shown, the page can be too short.
    if (!pending.operation || element.querySelector(".responses-wrapper")) pending = null;
    mark();
  }
  for (const type of ["wheel", "touchmove", "keydown"]) addEventListener(type, () => (pending = null), { passive: true });

  function parseDeepLinkHash(hash) {
    // Not `layoutActions.show`, which would add entries to the history.
    return ({ getStore, layoutActions, specSelectors }) => {
      const found = target(hash);
      if (!found) return;
      const open = (thing) => getStore().dispatch({ type: "layout_show", payload: { thing, shown: true } });
      open(["operations-tag", found.tag]);
      if (found.operation) open(["operations", found.tag, found.operation]);
      const isLoaded = specSelectors.loadingStatus() === "success";
      if (isLoaded && links.get(found.operation)?.parentElement.hidden) layoutActions.updateFilter("");
      pending = { ...found, hasFocus: isLoaded };
      requestAnimationFrame(scrollToPending);
    };
  }

  /** Marks the operation at the top of the window in the navigation. */
  function mark() {
    let current;
    for (const [operation, link] of links) {
      const top = document.getElementById(target(link.hash).id)?.getBoundingClientRect().top;
      if (top !== undefined && top < innerHeight / 4) current = operation;
    }
    for (const [operation, link] of links) {
      if (operation !== current) link.removeAttribute("aria-current");
      else if (!link.hasAttribute("aria-current")) {
        link.setAttribute("aria-current", "true");
        const frame = navigation.closest("nav");
        if (getComputedStyle(frame).overflowY === "auto") {
          frame.scrollTop = link.offsetTop - frame.offsetTop - frame.clientHeight / 2;
        }
      }
    }
  }

  let isScheduled = false;
  function scheduleMark() {
    if (isScheduled) return;
    isScheduled = true;
    requestAnimationFrame(() => {
      isScheduled = false;
      mark();
    });
  }
  addEventListener("scroll", scheduleMark, { passive: true });

  function ReferenceLayout({ specSelectors, getComponent }) {
    const status = specSelectors.loadingStatus();
    const shown = specSelectors.taggedOperations();
    const operations = shown.toList().flatMap((tag) => tag.get("operations").map((op) => op.getIn(["operation", "operationId"])));
    React.useEffect(() => {
      if (status !== "success") return;
      for (const [operation, link] of links) link.parentElement.hidden = !operations.includes(operation);
      scrollToPending();
      scheduleMark();
    });
    if (status === "failed" || status === "failedConfig") {
      const contract = specSelectors.url();
      const text = ["The contract could not be loaded. Reload the page, or read ", h("a", { href: contract, key: "link" }, contract), "."];
      return h("p", { role: "alert" }, text);
    }
    if (status === "loading" || !specSelectors.specStr()) return h("p", { role: "status" }, "Loading the contract...");
    const component = (name) => h(getComponent(name, true));
    return h(
      "div",
      { className: "swagger-ui" },
      h(getComponent("SvgAssets")),
      component("errors"),
      h("div", { className: "call-settings" }, component("CallAddress"), !elsewhereNote && component("CallKey")),
      component("FilterContainer"),
      component("operations"),
    );
  }

  /** Shows where calls go, and the choice of a server if there are several. */
  function CallAddress({ specSelectors, getComponent }) {
    if (elsewhereNote) return h("p", { className: "call-address" }, elsewhereNote);
    const servers = specSelectors.servers().toJS();
    if (servers.length > 1) return h(getComponent("ServersContainer", true));
    const [{ url }] = servers;
    const address = new URL(url, location.href).href.replace(/\/$/, "");
    const note = isElsewhere(url) ? " This page can only call the server that it comes from, so use the samples." : "";
    return h("p", { className: "call-address" }, "Calls go to ", h("code", null, address), ".", note);
  }

  return {
    components: { ReferenceLayout, CallAddress },
    statePlugins: { layout: { actions: { parseDeepLinkHash } } },
  };
};
