// Colors of code. It is readable before they are loaded, and without this script.

/** Colors the content of an element that contains code in this language. */
export async function highlight(code, language) {
  code.dataset.language = language;
  const { default: Prism } = await import("./prism.js");
  const name = language === "curl" ? "sh" : language;
  // The element can show another language by now.
  if (code.dataset.language !== language || !Object.hasOwn(Prism.languages, name)) return;
  code.innerHTML = Prism.highlight(code.textContent, Prism.languages[name], name);
}
