export const LANGUAGES = [
  { id: "en", label: "English" },
  { id: "zh", label: "中文" },
] as const;
export type Language = (typeof LANGUAGES)[number]["id"];

const STORED = "gateway.language";

/** Returns the language that the user chose, else a language of the browser that has texts, else English. */
export function currentLanguage(): Language {
  const wanted = [localStorage.getItem(STORED) ?? "", ...navigator.languages];
  return wanted.map(knownLanguage).find((language) => language !== undefined) ?? "en";
}

export function storeLanguage(language: Language): void {
  localStorage.setItem(STORED, language);
}

export function applyLanguage(language: Language): void {
  document.documentElement.lang = language;
}

/** Returns the language for a tag such as `en-GB`; undefined when the console has no texts in that language. */
export function knownLanguage(tag: string): Language | undefined {
  return LANGUAGES.find(({ id }) => id === tag.slice(0, 2))?.id;
}
