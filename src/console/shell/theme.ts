export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const STORED = "gateway.theme";

/** Applies the theme that the user chose earlier, or else the system's theme. */
export function startTheme(): void {
  applyTheme(currentTheme());
}

export function currentTheme(): Theme {
  const stored = localStorage.getItem(STORED);
  return THEMES.find((theme) => theme === stored) ?? "system";
}

export function chooseTheme(theme: Theme): void {
  localStorage.setItem(STORED, theme);
  applyTheme(theme);
}

function applyTheme(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
  window.dispatchEvent(new Event("themechange"));
}
