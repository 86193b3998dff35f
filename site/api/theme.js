// This runs before the page is painted and before the library is loaded.

// Uses the theme that the reader has chosen in the documents, else the system's theme.
const chosen = localStorage.getItem("rspress-theme-appearance");
const isDark =
  chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
document.documentElement.style.colorScheme = isDark ? "dark" : "light";

// The library's parts add style elements. Only one part sets the nonce of the content security policy.
const { nonce = "" } = document.currentScript;
const createElement = document.createElement.bind(document);
document.createElement = (name, options) => {
  const element = createElement(name, options);
  if (name === "style") element.nonce = nonce;
  return element;
};

// Zod tries to compile code, which the policy refuses.
globalThis.__zod_globalConfig = { jitless: true };
