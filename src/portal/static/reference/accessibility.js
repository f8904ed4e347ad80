// Names of form fields, and summaries of operations without links inside of buttons. Swagger UI has neither.

const root = document.getElementById("reference");

const NAMES = [
  ["tr[data-param-name] :is(input, select, textarea)", (field) => field.closest("tr").dataset.paramName],
  [".examples-select-element", () => "Example"],
  ["textarea.body-param__text", () => "Request body"],
];

function nameFields() {
  for (const [selector, nameOf] of NAMES) {
    for (const field of root.querySelectorAll(`${selector}:not([aria-label])`)) field.setAttribute("aria-label", nameOf(field));
  }
}

export const accessibility = ({ React }) => {
  const h = React.createElement;
  new MutationObserver(nameFields).observe(root, { childList: true, subtree: true });

  function OperationSummaryPath({ operationProps }) {
    const parts = operationProps.get("path").split("/").slice(1);
    const text = parts.flatMap((part, index) => [h("wbr", { key: index }), `/${part}`]);
    return h("span", { className: "opblock-summary-path", "data-path": operationProps.get("path") }, text);
  }

  return { wrapComponents: { OperationSummaryPath: () => OperationSummaryPath } };
};
