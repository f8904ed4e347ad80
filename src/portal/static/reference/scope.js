// The scope that an operation requires, above its parameters.

export const scope = ({ React, getSystem }) => {
  const h = React.createElement;

  const Parameters = (Original) => (properties) => {
    const security = getSystem().specSelectors.specJson().getIn(["paths", ...properties.pathMethod, "security"]);
    const scopes = security?.toJS().flatMap((scheme) => Object.values(scheme).flat()) ?? [];
    const text = scopes.length > 0 && h("p", { className: "operation-scope" }, "Scope: ", h("code", null, scopes.join(", ")));
    return h(React.Fragment, null, text, h(Original, properties));
  };

  return { wrapComponents: { parameters: Parameters } };
};
