import i18next from "i18next";
import { initReactI18next } from "react-i18next";
import type { en, Texts } from "../locales/en.ts";

declare module "i18next" {
  interface CustomTypeOptions {
    defaultNS: "shell";
    resources: typeof en;
    // Names have dots of their own.
    keySeparator: false;
  }
}

export const LANGUAGES = { en: "English", zh: "中文" } as const;
export type Language = keyof typeof LANGUAGES;

const LOADERS: Record<Language, () => Promise<Texts>> = {
  en: async () => (await import("../locales/en.ts")).en,
  zh: async () => (await import("../locales/zh.ts")).zh,
};
const STORED = "gateway.language";

/** Starts with the language chosen earlier, else the browser's where there is one of it, else English. */
export async function startI18n(): Promise<void> {
  const language = chosenLanguage();
  await i18next.use(initReactI18next).init({
    lng: language,
    defaultNS: "shell",
    keySeparator: false,
    interpolation: { escapeValue: false },
    resources: { [language]: await LOADERS[language]() },
  });
  document.documentElement.lang = language;
}

export async function chooseLanguage(language: Language): Promise<void> {
  const texts = await LOADERS[language]();
  for (const [area, words] of Object.entries(texts)) i18next.addResourceBundle(language, area, words);
  localStorage.setItem(STORED, language);
  document.documentElement.lang = language;
  await i18next.changeLanguage(language);
}

function chosenLanguage(): Language {
  const wanted = [localStorage.getItem(STORED) ?? "", ...navigator.languages];
  const found = wanted.map((tag) => tag.slice(0, 2)).find((tag) => tag in LANGUAGES);
  return (found as Language | undefined) ?? "en";
}
