import { createApiReference } from "SITE_LIBRARY";

// The theme that was chosen in the documents, else the system's.
const chosen = localStorage.getItem("rspress-theme-appearance");
const isDark =
  chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
document.documentElement.style.colorScheme = isDark ? "dark" : "light";

createApiReference("#api", {
  url: "SITE_OPENAPI",
  forceDarkModeState: isDark ? "dark" : "light",
  hideDarkModeToggle: true,
  theme: "none",
  withDefaultFonts: false,
  documentDownloadType: "none",
  hideClientButton: true,
  showDeveloperTools: "never",
  // Nothing leaves this page but for requests to the gateway that serves it.
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
});
