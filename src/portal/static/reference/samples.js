// Samples of each operation in all languages, with the entered values. They replace Swagger UI's commands for curl, which appear only
// after a call and contain the key.

import { SampleTabs } from "../samples.js";
import { KEY, snippet } from "../snippets.mjs";
import { credential } from "./authorization.js";

const { prefix } = document.body.dataset;
const { operations, variable } = document.getElementById("reference").dataset;

/** Returns a value for a required parameter without one. */
function placeholder({ name, example, examples, schema = {} }) {
  const [first] = Object.values(examples ?? {});
  return example ?? first?.value ?? schema.example ?? schema.examples?.[0] ?? schema.default ?? schema.enum?.[0] ?? name;
}

/** Returns the body of a request. Swagger UI shows the example of JSON lines as one indented value, which is sent as one line. */
export function oneLine({ headers, body }) {
  const type = Object.entries(headers).find(([name]) => name.toLowerCase() === "content-type")?.[1];
  if (type !== "application/x-ndjson") return body;
  try {
    return `${JSON.stringify(JSON.parse(body))}\n`;
  } catch {
    // The reader has entered several lines.
    return body;
  }
}

/** Returns the request that "Execute" would send, and the key that the reader entered. */
function currentRequest(system, path, method, operation) {
  const { fn, specSelectors, oas3Selectors } = system;
  const parameters = specSelectors.parameterValues([path, method], false).toJS();
  for (const parameter of operation.parameters ?? []) {
    const id = `${parameter.in}.${parameter.name}`;
    const isMissing = parameters[id] === undefined || parameters[id] === "" || parameters[id] === null;
    if (parameter.required && isMissing) parameters[id] = placeholder(parameter);
  }
  const server = oas3Selectors.selectedServer(`${path}:${method}`) || oas3Selectors.selectedServer();
  const contract = specSelectors.specJson();
  const request = fn.buildRequest({
    spec: { openapi: contract.get("openapi"), servers: contract.get("servers")?.toJS(), paths: { [path]: { [method]: operation } } },
    operationId: operation.operationId,
    parameters,
    contextUrl: new URL(specSelectors.url(), location.href).href,
    server,
    serverVariables: oas3Selectors.serverVariables({ server }).toJS(),
    requestContentType: oas3Selectors.requestContentType(path, method),
    responseContentType: oas3Selectors.responseContentType(path, method) || "*/*",
    requestBody: oas3Selectors.requestBodyValue(path, method) ?? "",
  });
  const { header, start, key } = credential(system, operation) ?? {};
  const headers = { ...(header && { [header]: [start, KEY] }), ...request.headers };
  const stream = Object.keys(operation.responses?.["200"]?.content ?? {}).includes("application/x-ndjson");
  const body = oneLine(request);
  return { request: { method, url: new URL(request.url, location.href).href, headers, body, variable, stream }, key };
}

export const samples = ({ React, getSystem }) => {
  const h = React.createElement;

  function Samples({ path, method }) {
    const frame = React.useRef(null);
    const tabs = React.useRef(null);
    const [isKeyShown, showKey] = React.useState(false);
    const system = getSystem();
    const operation = system.specSelectors.specResolvedSubtree(["paths", path, method])?.toJS();
    const latest = React.useRef({});
    let problem = null;
    try {
      if (operation) latest.current = currentRequest(system, path, method, operation);
    } catch {
      // Swagger UI cannot build a request from the values.
      problem = "These values are not a valid request. The sample is from before the last change.";
    }
    const { request, key } = latest.current;
    React.useEffect(() => {
      if (!request) return;
      const textOf = (language) => snippet(language, request, isKeyShown && key ? { key } : {});
      if (tabs.current) tabs.current.update(textOf);
      else tabs.current = new SampleTabs(frame.current, textOf);
    });
    React.useEffect(() => () => tabs.current?.remove(), []);
    const id = `key-in-samples-${operation?.operationId}`;
    return h(
      "div",
      { className: "operation-samples" },
      h("h4", null, "Samples"),
      h("div", { className: "samples", ref: frame }),
      problem && h("p", { className: "sample-problem", role: "status" }, problem),
      h(
        "div",
        { className: "sample-options" },
        key &&
          h(
            "label",
            { htmlFor: id },
            h("input", { id, type: "checkbox", checked: isKeyShown, onChange: (event) => showKey(event.target.checked) }),
            " Show my key in this sample",
          ),
        operation && h("a", { href: `${prefix}${operations}${operation.operationId}` }, `${operation.operationId} documentation`),
      ),
    );
  }

  const Responses = (Original) => (properties) => {
    const { path, method, specPath } = properties;
    const isCallable = specPath.first() === "paths";
    return h(React.Fragment, null, isCallable && h(Samples, { path, method }), h(Original, properties));
  };

  return { wrapComponents: { responses: Responses, curl: () => () => null, RequestSnippets: () => () => null } };
};
