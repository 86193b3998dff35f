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

/** Fields of the audit log that have texts. Other fields are shown by their names in the interface, as code. */
export const FIELDS = [
  "above",
  "address",
  "addresses",
  "adjusted",
  "amount",
  "baseUrl",
  "cacheRead",
  "cacheWrite",
  "cacheWrite1h",
  "callerGone",
  "charges",
  "currency",
  "difference",
  "displayName",
  "effectiveFrom",
  "effectiveUntil",
  "email",
  "emails",
  "entries",
  "except",
  "expiresAt",
  "failOverRefusals",
  "fallbackAfterMs",
  "fallbackChannel",
  "file",
  "forceImageUrls",
  "format",
  "from",
  "identity",
  "imageInput",
  "imageOutput",
  "input",
  "isApplied",
  "isDisabled",
  "isTotpOn",
  "isWhole",
  "kind",
  "linkHours",
  "maxOutputTokens",
  "minRequests",
  "minutes",
  "model",
  "models",
  "month",
  "mustChangePassword",
  "name",
  "nativeImageUrls",
  "organizations",
  "output",
  "overlapEndsAt",
  "overlapMs",
  "percent",
  "percents",
  "period",
  "promptLogDays",
  "provider",
  "reason",
  "reasoning",
  "refuseIgnored",
  "removed",
  "role",
  "rows",
  "scopes",
  "seconds",
  "secrets",
  "session",
  "sessions",
  "severity",
  "strategy",
  "targets",
  "to",
  "type",
  "unrated",
  "url",
  "usesWebhooks",
  "way",
] as const;

/** Matches names of fields that readers of a change do not need, such as ids, hashes and times of use. */
export const HIDDEN =
  /^(?:id|version|createdAt|readAt|lastUsedAt|lastSeenAt|periodStart|periodEnd|nearSince|spentSince|prefix|hash|sha256|unit|spent|held|source|isBuiltIn)$|Ids?$/;

function lastName(path: string): string {
  return path.slice(path.lastIndexOf(".") + 1);
}

/** A changed field of an audit entry, and its value or its values before and after. */
export interface ChangeWords {
  field: string;
  /** True when `field` has no text. The interface's name is then shown as code. */
  isName: boolean;
  /** Empty for a list of objects. */
  value: string;
}

/** Returns a function that describes the change in an audit entry, field by field, such as `input $2.50 → $25.00`. */
export function useChangeWords(): (change: Change) => ChangeWords[] {
  const { t } = useTranslation(["settings", "shell"]);
  const fieldOf = (path: string): Pick<ChangeWords, "field" | "isName"> => {
    const name = lastName(path);
    const limit = LIMITS.find((each) => path === `limits.${each}`);
    if (limit) return { field: t(`shell:limit.${limit}`), isName: false };
    if (path.startsWith("price.perImage."))
      return { field: path.split(".").slice(2).join(" "), isName: false };
    const known = FIELDS.find((each) => each === name);
    const field = known ? t(`field.${known}`) : name;
    const isName = known === undefined;
    return { field: path.includes("longContext") ? t("field.longContext", { field }) : field, isName };
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
      const known = VALUES.find((each) => each === `${lastName(path)}.${value}`);
      if (known) return t(`value.${known}`);
      return TIME.test(value) ? formatTime(Date.parse(value)) : value;
    };
    return differences(before, after).flatMap((found): ChangeWords[] => {
      const { path } = found;
      const isNothing = [found.before, found.after].every((value) => value === undefined || EMPTY.has(value));
      const isName = found.before === undefined && found.after === subjectName;
      if (isNothing || isName || HIDDEN.test(lastName(path))) return [];
      const field = fieldOf(path);
      const values = [found.before, found.after].map((value) => valueOf(path, value));
      // For a list of objects, only the field's name is returned. The entry itself shows all fields.
      if (values.some((value) => /^[[{]/.test(value))) return [{ ...field, value: "" }];
      const [was = "", is = ""] = values;
      return [{ ...field, value: isNew ? is : `${was} → ${is}` }];
    });
  };
}

/** Values of closed sets that have texts, with their fields. */
const VALUES = [
  "period.total",
  "period.day",
  "period.month",
  "role.viewer",
  "role.billing",
  "role.admin",
  "role.owner",
  "severity.warning",
  "severity.critical",
  "strategy.ordered",
  "strategy.weighted",
  "way.password",
  "way.identity provider",
] as const;

const EMPTY: ReadonlySet<string> = new Set(["null", "{}", ""]);
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

function currencyOf(row: unknown): string | null {
  const currency = typeof row === "object" && row !== null && "currency" in row ? row.currency : null;
  return typeof currency === "string" ? currency : null;
}
