import { LIMITS } from "../forms/limits-field.tsx";
import { useTranslation } from "react-i18next";
import { formatCount, formatMoney, formatTime } from "../text/format.ts";
import { differences, isAmount } from "./difference-table.tsx";

/** The part of an audit entry that describes the change. */
interface Change {
  before?: unknown;
  after?: unknown;
  subjectName: string | null;
}

const FIELDS = [
  "addresses",
  "amount",
  "baseUrl",
  "cacheRead",
  "cacheWrite",
  "currency",
  "displayName",
  "effectiveFrom",
  "effectiveUntil",
  "email",
  "emails",
  "expiresAt",
  "imageInput",
  "imageOutput",
  "input",
  "isDisabled",
  "maxOutputTokens",
  "models",
  "name",
  "organizations",
  "output",
  "percents",
  "period",
  "promptLogDays",
  "provider",
  "reason",
  "reasoning",
  "refuseIgnored",
  "role",
  "scopes",
  "strategy",
  "targets",
  "type",
  "url",
  "way",
] as const;

/** Matches names of fields that readers do not need: ids, and fields that every record has. */
const HIDDEN =
  /^(?:id|version|createdAt|readAt|periodStart|periodEnd|prefix|hash|unit|spent|held|source|isBuiltIn)$|Ids?$/;

function lastName(path: string): string {
  return path.slice(path.lastIndexOf(".") + 1);
}

/** Returns a function that describes the change in an audit entry, field by field, such as `input $2.50 → $25.00`. */
export function useChangeWords(): (change: Change) => string[] {
  const { t } = useTranslation(["settings", "shell"]);
  const fieldOf = (path: string): string => {
    const name = lastName(path);
    const limit = LIMITS.find((each) => path === `limits.${each}`);
    if (limit) return t(`shell:limit.${limit}`);
    if (path.startsWith("price.perImage.")) return path.split(".").slice(2).join(" ");
    const known = FIELDS.find((each) => each === name);
    const field = known ? t(`field.${known}`) : inWords(name);
    return path.includes("longContext") ? t("field.longContext", { field }) : field;
  };
  return ({ before, after, subjectName }) => {
    const isNew = (before ?? null) === null;
    const currency = currencyOf(after) ?? currencyOf(before);
    const valueOf = (path: string, value: string | undefined): string => {
      if (value === undefined || EMPTY.has(value)) return "–";
      if (value === "true" || value === "false") return t(value === "true" ? "shell:yes" : "shell:no");
      if (value === "*") return t("shell:all");
      if (path.startsWith("limits.")) return formatCount(Number(value));
      if (currency !== null && isAmount(path)) return formatMoney(value, currency);
      return TIME.test(value) ? formatTime(Date.parse(value)) : value;
    };
    return differences(before, after).flatMap((found) => {
      const { path } = found;
      const isNothing = [found.before, found.after].every((value) => value === undefined || EMPTY.has(value));
      const isName = found.before === undefined && found.after === subjectName;
      if (isNothing || isName || HIDDEN.test(lastName(path))) return [];
      const field = fieldOf(path);
      const values = [found.before, found.after].map((value) => valueOf(path, value));
      // For a list of objects, only the field's name is returned. The entry itself shows all fields.
      if (values.some((value) => /^[[{]/.test(value))) return [field];
      const [was, is] = values;
      return [isNew ? `${field} ${is}` : `${field} ${was} → ${is}`];
    });
  };
}

const EMPTY: ReadonlySet<string> = new Set(["null", "{}", ""]);
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

function currencyOf(row: unknown): string | null {
  const currency = typeof row === "object" && row !== null && "currency" in row ? row.currency : null;
  return typeof currency === "string" ? currency : null;
}

/** Returns `max concurrent` for `maxConcurrent` and `max_concurrent`. */
function inWords(name: string): string {
  return name
    .replaceAll("_", " ")
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase();
}
