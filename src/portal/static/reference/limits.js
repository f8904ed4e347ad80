// After a call: the requests remaining in this minute, and for a failed call a link to its entry in the dashboard's request log.

import { isFirstContract } from "./address.js";

const { prefix } = document.body.dataset;

/** Returns whether the dashboard's request log contains the call: it lists the calls of a workspace's keys. */
const isLogged = (status) => isFirstContract && status >= 400 && status !== 401;

function requestId(response) {
  try {
    return JSON.parse(response.get("text")).error.request_id ?? null;
  } catch {
    return null;
  }
}

export const limits = ({ React }) => {
  const h = React.createElement;

  const LiveResponse = (Original) => (properties) => {
    const { response } = properties;
    const header = (name) => response.getIn(["headers", `x-ratelimit-${name}`]);
    const id = isLogged(response.get("status")) ? requestId(response) : null;
    return h(
      React.Fragment,
      null,
      h(
        "div",
        { className: "call-result", role: "status" },
        header("remaining") !== undefined &&
          h("p", null, `${header("remaining")} of ${header("limit")} requests remaining this minute.`),
        id && h("p", null, h("a", { href: `${prefix}/dashboard/developer/logs?request=${encodeURIComponent(id)}` }, "Open this call in the request log")),
      ),
      h(Original, properties),
    );
  };

  return { wrapComponents: { liveResponse: LiveResponse } };
};
