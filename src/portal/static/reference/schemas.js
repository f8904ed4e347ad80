// Schemas: type, nullable, values and default on the first line of each field, and links to the pages of objects.

const { prefix } = document.body.dataset;
const objects = document.getElementById("reference").dataset.objects;

/** Returns the schema without the alternative `null`, and whether it had this alternative. */
function withoutNull(schema) {
  if (Array.isArray(schema?.type) && schema.type.includes("null")) {
    const types = schema.type.filter((type) => type !== "null");
    return [{ ...schema, type: types.length === 1 ? types[0] : types, enum: schema.enum?.filter((value) => value !== null) }, true];
  }
  for (const keyword of ["oneOf", "anyOf"]) {
    const rest = schema?.[keyword]?.filter?.((part) => part?.type !== "null") ?? [];
    if (rest.length === 0 || rest.length === schema[keyword].length) continue;
    if (rest.length > 1) return [{ ...schema, [keyword]: rest }, true];
    const { [keyword]: parts, ...outer } = schema;
    return [{ ...rest[0], ...outer }, true];
  }
  return [schema, false];
}

function objectName(schema) {
  const [, name] = /#\/components\/schemas\/([^/]+)$/.exec(schema?.$$ref ?? "") ?? [];
  return name && decodeURIComponent(name);
}

export const schemas = ({ React, getSystem }) => {
  const h = React.createElement;

  function KeywordType({ schema, isCircular }) {
    const [inner, isNullable] = withoutNull(schema);
    const shown = inner?.type === "array" && inner.items ? withoutNull(inner.items)[0] : inner;
    const name = objectName(shown) ?? objectName(inner);
    const type = getSystem().fn.jsonSchema202012.getType(inner);
    const values = inner?.const !== undefined ? [inner.const] : (inner?.enum ?? shown?.enum ?? []);
    const isExtensible = inner?.["x-extensible-enum"] ?? shown?.["x-extensible-enum"];
    const badge = (text, title) => h("span", { className: "badge", title }, text);
    return h(
      "span",
      { className: "schema-type" },
      h("strong", null, type, isCircular ? " (recursive)" : ""),
      isNullable && badge("nullable"),
      name && objects && h("a", { href: `${prefix}${objects}${encodeURIComponent(name)}` }, name),
      values.length > 0 &&
        h("span", null, values.length > 1 ? "one of " : "", values.map((value) => h("code", { key: String(value) }, JSON.stringify(value)))),
      isExtensible && badge("extensible", "Extensible: new values may be added."),
      inner?.default !== undefined && h("span", null, "default ", h("code", null, JSON.stringify(inner.default))),
    );
  }

  /** Alternatives are listed unless there is one besides `null`, without fields: the first line shows it. */
  const OneOf = (Original) => (properties) => {
    const rest = properties.schema?.oneOf?.filter?.((part) => part?.type !== "null") ?? [];
    const isShown = rest.length > 1 || rest.some((part) => part?.properties || part?.allOf || part?.items);
    return isShown ? h(Original, properties) : null;
  };

  const nothing = () => () => null;
  return {
    wrapComponents: {
      JSONSchema202012KeywordType: () => KeywordType,
      JSONSchema202012KeywordOneOf: OneOf,
      JSONSchema202012KeywordEnum: nothing,
      JSONSchema202012KeywordConst: nothing,
      JSONSchema202012KeywordDefault: nothing,
    },
  };
};
