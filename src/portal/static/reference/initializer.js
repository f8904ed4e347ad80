// Starts Swagger UI with the plugins of this folder. If a script fails, the list of operations that the server rendered stays.

import { accessibility } from "./accessibility.js";
import { address } from "./address.js";
import { authorization } from "./authorization.js";
import { filter } from "./filter.js";
import { layout } from "./layout.js";
import { limits } from "./limits.js";
import { oneLine, samples } from "./samples.js";
import { schemas } from "./schemas.js";
import { scope } from "./scope.js";

const root = document.getElementById("reference");

try {
  decodeURIComponent(location.hash);
} catch {
  // Swagger UI decodes the fragment.
  history.replaceState(null, "", location.pathname);
}

if (root && window.SwaggerUIBundle) {
  const system = window.SwaggerUIBundle({
    domNode: root,
    url: root.dataset.contract,
    layout: "ReferenceLayout",
    plugins: [accessibility, address, layout, filter, samples, authorization, limits, schemas, scope],
    deepLinking: true,
    filter: true,
    tryItOutEnabled: true,
    requestInterceptor: (request) => {
      if (request.body) request.body = oneLine(request);
      return request;
    },
    displayRequestDuration: true,
    // A plugin keeps the key for the session. A key in the local storage could be read later.
    persistAuthorization: false,
    queryConfigEnabled: false,
    defaultModelRendering: "example",
    defaultModelExpandDepth: 2,
    // Objects and events have pages of their own.
    defaultModelsExpandDepth: -1,
    showCommonExtensions: true,
    syntaxHighlight: { activated: false },
    validatorUrl: "none",
  });
  addEventListener("hashchange", () => system.layoutActions.parseDeepLinkHash(location.hash));
}
