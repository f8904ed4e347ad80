// The filter: finds operations by path, summary, description, parameters and field names.

const SCHEMA_PARTS = ["allOf", "anyOf", "oneOf", "items", "additionalProperties"];

/** Returns a function from an operation to the text that it is found by. */
function searchTexts(contract) {
  const resolve = (value) => {
    const path = value?.$ref?.startsWith("#/") ? value.$ref.slice(2).split("/") : null;
    return path ? path.reduce((part, name) => part?.[name.replaceAll("~1", "/").replaceAll("~0", "~")], contract) : value;
  };
  function fields(reference, seen, found) {
    const schema = resolve(reference);
    if (!schema || typeof schema !== "object" || seen.has(schema)) return;
    seen.add(schema);
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      found.push(name);
      fields(property, seen, found);
    }
    for (const part of SCHEMA_PARTS.flatMap((name) => schema[name] ?? [])) fields(part, seen, found);
  }
  const texts = new Map();
  return (path, method) => {
    const id = `${method} ${path}`;
    if (!texts.has(id)) {
      const item = contract.paths[path];
      const operation = item[method];
      const found = [id, operation.operationId, operation.summary, operation.description, ...(operation.tags ?? [])];
      for (const parameter of [...(item.parameters ?? []), ...(operation.parameters ?? [])].map(resolve)) {
        found.push(parameter?.name, parameter?.description);
      }
      const bodies = [operation.requestBody, ...Object.values(operation.responses ?? {})].map(resolve);
      const seen = new Set();
      for (const body of bodies) {
        for (const { schema } of Object.values(body?.content ?? {})) fields(schema, seen, found);
      }
      texts.set(id, found.filter(Boolean).join("\n").toLowerCase());
    }
    return texts.get(id);
  };
}

export const filter = ({ React, getSystem }) => {
  const h = React.createElement;
  let contract;
  let textOf;

  function opsFilter(taggedOperations, phrase) {
    const current = getSystem().specSelectors.specJson();
    if (current !== contract) {
      contract = current;
      textOf = searchTexts(current.toJS());
    }
    const words = phrase.toLowerCase().split(/\s+/).filter(Boolean);
    const isFound = (op) => words.every((word) => textOf(op.get("path"), op.get("method")).includes(word));
    return taggedOperations
      .map((tag) => tag.update("operations", (operations) => operations.filter(isFound)))
      .filter((tag) => tag.get("operations").size > 0);
  }

  const currentPhrase = (layoutSelectors) => {
    const phrase = layoutSelectors.currentFilter();
    return typeof phrase === "string" ? phrase : "";
  };

  function Filter({ layoutSelectors, layoutActions, specSelectors }) {
    const phrase = currentPhrase(layoutSelectors);
    const count = specSelectors.taggedOperations().reduce((sum, tag) => sum + tag.get("operations").size, 0);
    return h(
      "div",
      { className: "operation-filter" },
      h("label", { htmlFor: "operation-filter" }, "Filter operations"),
      h("input", {
        id: "operation-filter",
        type: "search",
        value: phrase,
        maxLength: 200,
        autoComplete: "off",
        spellCheck: false,
        placeholder: "Path, summary, parameter or field",
        onChange: (event) => layoutActions.updateFilter(event.target.value),
      }),
      h("p", { role: "status" }, phrase.trim() ? `${count} ${count === 1 ? "operation" : "operations"}` : ""),
    );
  }

  const Operations = (Original) =>
    function FilteredOperations(properties) {
      const { layoutSelectors, layoutActions, specSelectors } = properties;
      const phrase = currentPhrase(layoutSelectors);
      if (!phrase || specSelectors.taggedOperations().size > 0) return h(Original, properties);
      return h(
        "div",
        { className: "nothing-found" },
        h("p", null, `No operation contains “${phrase}”.`),
        h("button", { type: "button", className: "button", onClick: () => layoutActions.updateFilter("") }, "Clear the filter"),
      );
    };

  return { fn: { opsFilter }, wrapComponents: { FilterContainer: () => Filter, operations: Operations } };
};
