import i18next from "i18next";
import { AMOUNT_FIGURES, sentenceOf, type Figures } from "../../domain/operator-message.ts";
import { formatShortMoney, formatTime } from "../ui/text/format.ts";

/** A sentence of the gateway, with its code and figures if it has them. */
export interface Said {
  message: string;
  code?: string | null;
  figures?: Figures;
  /** The problems of which the sentence consists. */
  problems?: readonly (Said & { field: string | null })[];
}

/**
 * Returns a sentence of the gateway in the reader's language. A sentence without a code, or with the code of a later
 * version, is returned as the gateway wrote it.
 */
export function operatorText({ message, code, figures = {}, problems }: Said): string {
  const texts: Readonly<Record<string, string>> =
    i18next.getResourceBundle(i18next.language, "messages") ?? {};
  if (problems)
    return problems
      .map(({ field, ...problem }) => [field, operatorText(problem)].filter(Boolean).join(" "))
      .join(texts["list.problems"] ?? "; ");
  if (!code) return message;
  const text = sentenceOf(texts, { code, figures }, (name, figure) => {
    if (AMOUNT_FIGURES.has(name)) return formatShortMoney(String(figure), String(figures["currency"]));
    return name === "since" ? formatTime(Date.parse(String(figure))) : String(figure);
  });
  return text ?? message;
}
