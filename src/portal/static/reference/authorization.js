// The key for calls. It is kept in the session storage: until the tab is closed.

const { demoKey, contract: contractUrl } = document.getElementById("reference").dataset;
const STORAGE_KEY = `key ${contractUrl}`;

function storage(use) {
  try {
    return use(sessionStorage);
  } catch {
    // The browser blocks storage. The key is kept until the page is left.
    return null;
  }
}

/** Returns the scheme that a key can be entered for: name, schema, header, and its value before the key. */
function keyScheme({ specSelectors }, isUsed = () => true) {
  const schemes = specSelectors.specJson().getIn(["components", "securitySchemes"])?.toJS() ?? {};
  for (const [name, schema] of Object.entries(schemes)) {
    if (!isUsed(name)) continue;
    if (schema.type === "http" && schema.scheme?.toLowerCase() === "bearer") {
      return { name, schema, header: "Authorization", start: "Bearer " };
    }
    if (schema.type === "apiKey" && schema.in === "header") return { name, schema, header: schema.name, start: "" };
  }
  return null;
}

/** Returns the header of an operation's key, and the key that the reader entered. Returns null if it needs no key. */
export function credential(system, operation) {
  const requirements = operation.security ?? system.specSelectors.specJson().get("security")?.toJS() ?? [];
  const scheme = keyScheme(system, (name) => requirements.some((requirement) => name in requirement));
  return scheme && { ...scheme, key: system.authSelectors.authorized()?.getIn([scheme.name, "value"]) };
}

export const authorization = ({ React }) => {
  const h = React.createElement;

  function CallKey({ specSelectors, authSelectors, authActions }) {
    const scheme = keyScheme({ specSelectors });
    const [entered, setEntered] = React.useState("");
    const use = (value) => {
      const { name, schema } = scheme;
      authActions.authorize({ [name]: { name, schema, value } });
      storage((session) => session.setItem(STORAGE_KEY, value));
    };
    React.useEffect(() => {
      const stored = scheme && storage((session) => session.getItem(STORAGE_KEY));
      if (stored) use(stored);
    }, []);
    if (!scheme) return null;
    const key = authSelectors.authorized()?.getIn([scheme.name, "value"]);
    if (key) {
      const remove = () => {
        authActions.logout([scheme.name]);
        storage((session) => session.removeItem(STORAGE_KEY));
        setEntered("");
      };
      return h(
        "div",
        { className: "call-key" },
        h("p", { role: "status" }, "Calls use the key that ends in ", h("code", null, key.slice(-4)), ", until you close this tab."),
        h("button", { type: "button", className: "button small", onClick: remove }, "Remove the key"),
      );
    }
    const submit = (event) => {
      event.preventDefault();
      if (entered.trim()) use(entered.trim());
    };
    return h(
      "form",
      { className: "call-key", onSubmit: submit },
      h("label", { htmlFor: "call-key" }, "Key for calls from this page"),
      h("input", {
        id: "call-key",
        type: "password",
        value: entered,
        autoComplete: "off",
        spellCheck: false,
        onChange: (event) => setEntered(event.target.value),
      }),
      h("button", { type: "submit", className: "button" }, "Use this key"),
      demoKey && h("button", { type: "button", className: "button primary", onClick: () => use(demoKey) }, "Use the demo key"),
    );
  }

  return { components: { CallKey }, wrapComponents: { authorizeOperationBtn: () => () => null } };
};
