import i18next, { type BackendModule } from "i18next";
import { initReactI18next } from "react-i18next";
import * as enFirst from "./en/first.ts";
import type * as en from "./en/index.ts";
import * as zhFirst from "./zh/first.ts";
import type * as zh from "./zh/index.ts";
import { applyLanguage, currentLanguage, knownLanguage, storeLanguage, type Language } from "./language.ts";

declare module "i18next" {
  interface CustomTypeOptions {
    defaultNS: "shell";
    resources: typeof en;
    // The names of texts contain dots, so a dot must not separate levels of keys.
    keySeparator: false;
  }
}

/** All texts by area and name. If a language lacks a text, the loader of that language fails the type check. */
type Texts = TextsOf<typeof en> & TextsOf<typeof zh>;
type TextsOf<Language> = { [Area in keyof Language]: { [Name in keyof Language[Area]]: string } };

/** For each language: the few texts of the first page, and a function that loads all texts. */
const TEXTS: Record<Language, { first: Partial<Texts>; load(): Promise<Texts> }> = {
  en: { first: enFirst, load: () => import("./en/index.ts") },
  zh: { first: zhFirst, load: () => import("./zh/index.ts") },
};
const IDLE_MS = 2_000;

type AreaTexts = Readonly<Record<string, Readonly<Record<string, string>> | undefined>>;

const backend: BackendModule = {
  type: "backend",
  init() {},
  async read(language, area) {
    const { first, load } = TEXTS[knownLanguage(language) ?? "en"];
    const early: AreaTexts = first;
    if (early[area]) return early[area];
    const texts: AreaTexts = await load();
    return texts[area];
  },
};

export async function startI18n(): Promise<void> {
  const language = currentLanguage();
  await i18next
    .use(backend)
    .use(initReactI18next)
    .init({
      lng: language,
      ns: ["shell", "messages"],
      defaultNS: "shell",
      fallbackLng: false,
      keySeparator: false,
      interpolation: { escapeValue: false },
    });
  // All texts are loaded soon after the start, so that no dialog waits for its texts.
  setTimeout(
    () => void TEXTS[language].load().then((all) => i18next.loadNamespaces(Object.keys(all))),
    IDLE_MS,
  );
}

export async function chooseLanguage(language: Language): Promise<void> {
  storeLanguage(language);
  await i18next.changeLanguage(language);
  applyLanguage(language);
}
