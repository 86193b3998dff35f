import { useTranslation } from "react-i18next";
import { chooseLanguage } from "../texts/i18n.ts";
import { LANGUAGES } from "../texts/language.ts";

/** The language switch for pages outside of the shell. Such pages have no member menu. */
export function LanguageSwitch() {
  const { t, i18n } = useTranslation();
  return (
    <div role="group" aria-label={t("language")} className="flex gap-1">
      {LANGUAGES.map(({ id, label }) => (
        <button
          key={id}
          type="button"
          lang={id}
          aria-pressed={i18n.language === id}
          onClick={() => void chooseLanguage(id)}
          className="rounded-md px-2 py-1 text-xs text-muted hover:text-text aria-pressed:font-medium aria-pressed:text-text"
        >
          {label}
        </button>
      ))}
    </div>
  );
}
