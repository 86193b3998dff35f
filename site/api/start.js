import { createApiReference } from "SITE_LIBRARY";

const { colorScheme } = document.documentElement.style;

const HIDDEN_LANGUAGES =
  "c clojure csharp dart fsharp go http java kotlin node objc ocaml php powershell r ruby rust swift".split(
    " ",
  );

createApiReference("#api", {
  url: "SITE_OPENAPI",
  // Examples run in a terminal, so they need the whole address.
  servers: [{ url: new URL("SITE_ADDRESS", location.href).origin }],
  theme: "none",
  forceDarkModeState: colorScheme,
  hideDarkModeToggle: true,
  withDefaultFonts: false,
  authentication: { preferredSecurityScheme: "gatewayKey" },
  // Hides the document's download, and the library's own application and tools.
  documentDownloadType: "none",
  hideClientButton: true,
  showDeveloperTools: "never",
  // The page sends nothing but the reader's requests to the gateway.
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  // Hides all examples except those for curl, fetch and Python's requests.
  hiddenClients: {
    ...Object.fromEntries(HIDDEN_LANGUAGES.map((name) => [name, true])),
    js: ["axios", "jquery", "ofetch", "xhr"],
    python: ["python3", "httpx_sync", "httpx_async", "aiohttp"],
    shell: ["httpie", "wget"],
  },
});

// A button's name must contain its visible text, for users of speech control. The library uses other words.
new MutationObserver(() => {
  for (const button of document.querySelectorAll("button.show-more")) {
    const shown = button.textContent.trim();
    const name = button.getAttribute("aria-label") ?? shown;
    if (!name.includes(shown)) button.setAttribute("aria-label", `${shown}: ${name}`);
  }
}).observe(document.querySelector("#api"), { childList: true, subtree: true });
