import i18next, { type BackendModule } from "i18next";
import { initReactI18next } from "react-i18next";
import type * as en from "./en/index.ts";
import type * as zh from "./zh/index.ts";

declare module "i18next" {
  interface CustomTypeOptions {
    defaultNS: "shell";
    resources: typeof en;
    // The names of texts contain dots, so a dot must not separate levels of keys.
    keySeparator: false;
  }
}

export const LANGUAGES = [
  { id: "en", label: "English" },
  { id: "zh", label: "中文" },
] as const;
type Language = (typeof LANGUAGES)[number]["id"];

/** All texts by area and name. If a language lacks a text, the loader of that language fails the type check. */
type Texts = TextsOf<typeof en> & TextsOf<typeof zh>;
type TextsOf<Language> = { [Area in keyof Language]: { [Name in keyof Language[Area]]: string } };

/** Functions that load the texts of the first page, and all texts, of each language. */
const LOADERS: Record<Language, { first(): Promise<Partial<Texts>>; all(): Promise<Texts> }> = {
  en: { first: () => import("./en/first.ts"), all: () => import("./en/index.ts") },
  zh: { first: () => import("./zh/first.ts"), all: () => import("./zh/index.ts") },
};
const STORED = "gateway.language";
const IDLE_MS = 2_000;

type AreaTexts = Readonly<Record<string, Readonly<Record<string, string>> | undefined>>;

const backend: BackendModule = {
  type: "backend",
  init() {},
  async read(language, area) {
    const { first, all } = LOADERS[knownLanguage(language) ?? "en"];
    const early: AreaTexts = await first();
    if (early[area]) return early[area];
    const texts: AreaTexts = await all();
    return texts[area];
  },
};

/** Starts in the language that the user chose earlier, else in that of the browser if it has texts, else in English. */
export async function startI18n(): Promise<void> {
  const language = chosenLanguage();
  await i18next
    .use(backend)
    .use(initReactI18next)
    .init({
      lng: language,
      ns: ["shell"],
      defaultNS: "shell",
      fallbackLng: false,
      keySeparator: false,
      interpolation: { escapeValue: false },
    });
  document.documentElement.lang = language;
  // All texts are loaded soon after the start, so that no dialog waits for its texts.
  setTimeout(
    () => void LOADERS[language].all().then((all) => i18next.loadNamespaces(Object.keys(all))),
    IDLE_MS,
  );
}

export async function chooseLanguage(language: Language): Promise<void> {
  localStorage.setItem(STORED, language);
  await i18next.changeLanguage(language);
  document.documentElement.lang = language;
}

function chosenLanguage(): Language {
  const wanted = [localStorage.getItem(STORED) ?? "", ...navigator.languages];
  return wanted.map(knownLanguage).find((language) => language !== undefined) ?? "en";
}

/** Returns the language for a tag such as `en-GB`; undefined when the console has no texts in that language. */
function knownLanguage(tag: string): Language | undefined {
  return LANGUAGES.find(({ id }) => id === tag.slice(0, 2))?.id;
}
