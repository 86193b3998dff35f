import { formatShortNanos, parseNanos } from "../lib/money.ts";
import { OPERATOR_MESSAGES } from "./operator-messages.table.ts";

/**
 * Makes a sentence for operators from its code and its figures. Amounts are exact decimals in the figures, and short in
 * the sentence.
 */
export function operatorMessage<Code extends MessageCode>(
  code: Code,
  figures: FiguresOf<Code>,
): OperatorMessage {
  const message = sentenceOf(OPERATOR_MESSAGES, { code, figures }, (name, figure) =>
    AMOUNT_FIGURES.has(name) ? `${shortAmount(String(figure))} ${figures["currency"]}` : String(figure),
  );
  return { code, figures, message: message ?? code };
}

/**
 * A sentence for operators in English. The console makes the sentence in its own language from the code and figures.
 */
export interface OperatorMessage {
  message: string;
  code: MessageCode;
  figures: Figures;
}

/** Numbers and names in a sentence. An amount is an exact decimal, and `currency` is the currency of all amounts. */
export type Figures = Readonly<Record<string, string | number>>;

/** Figures that are amounts of money. */
export const AMOUNT_FIGURES: ReadonlySet<string> = new Set(["spent", "amount"]);

type Texts = typeof OPERATOR_MESSAGES;
type CodeOf<Name> = Name extends `${infer Code}_one` | `${infer Code}_other` ? Code : Name;
export type MessageCode = CodeOf<keyof Texts>;
type TextsOf<Code extends MessageCode> = Texts[Extract<keyof Texts, Code | `${Code}_one` | `${Code}_other`>];
type NamesIn<Text> = Text extends `${string}{{${infer Name}}}${infer Rest}` ? Name | NamesIn<Rest> : never;
/** Every name in the text of the code has a figure, and an amount has its currency. Further figures are allowed. */
export type FiguresOf<Code extends MessageCode> = Figures & {
  readonly [Name in NamesIn<TextsOf<Code>> | ("amount" extends NamesIn<TextsOf<Code>> ? "currency" : never)]:
    string | number;
};

/**
 * Returns the sentence of a code in the language of `texts`; null when there is none. `print` writes a figure that has no
 * text of its own. A figure such as `meant`, for which there is an `end` in the texts, adds it to the sentence.
 */
export function sentenceOf(
  texts: Readonly<Record<string, string>>,
  { code, figures }: { code: string; figures: Figures },
  print: (name: string, figure: string | number) => string,
): string | null {
  const text = texts[code] ?? texts[`${code}_${figures["count"] === 1 ? "one" : "other"}`];
  if (text === undefined) return null;
  const ends = Object.keys(figures).map((name) => texts[`end.${name}`] ?? "");
  return [text, ...ends].join("").replace(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const figure = figures[name] ?? "";
    if (name === "values") return String(figure).replaceAll(", ", texts["list.or"] ?? ", ");
    const own = CLOSED_FIGURES.has(name) ? texts[`${name}.${figure}`] : undefined;
    return own ?? print(name, figure);
  });
}

/** Figures of a closed set, whose values have texts of their own, such as `reason.limited`. */
const CLOSED_FIGURES: ReadonlySet<string> = new Set(["reason", "period", "noun", "expected", "received"]);

function shortAmount(decimal: string): string {
  const isNegative = decimal.startsWith("-");
  return `${isNegative ? "-" : ""}${formatShortNanos(parseNanos(isNegative ? decimal.slice(1) : decimal))}`;
}
