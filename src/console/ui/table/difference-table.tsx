import { useTranslation } from "react-i18next";
import { formatNanos } from "../../../lib/money.ts";

const CELL = "border-t border-line py-1.5 pr-4 align-top break-words";

/** Shows the differences between two values, field by field. */
export function DifferenceTable({ before, after }: { before: unknown; after: unknown }) {
  const { t } = useTranslation("settings");
  const found = differences(before, after);
  if (found.length === 0) return <p className="text-muted">{t("audit.noDetail")}</p>;
  return (
    <table className="w-full table-fixed text-left">
      <thead className="text-xs text-muted">
        <tr>
          <th scope="col" className="w-1/4 py-1 font-medium">
            {t("audit.field")}
          </th>
          <th scope="col" className="py-1 font-medium">
            {t("audit.before")}
          </th>
          <th scope="col" className="py-1 font-medium">
            {t("audit.after")}
          </th>
        </tr>
      </thead>
      <tbody>
        {found.map(({ path, before, after }) => (
          <tr key={path}>
            <th scope="row" className={`${CELL} font-mono text-xs font-normal text-muted`}>
              {path}
            </th>
            <td className={CELL}>{before !== undefined && <del className="text-bad">{before}</del>}</td>
            <td className={CELL}>
              {after !== undefined && <ins className="text-good no-underline">{after}</ins>}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** A field whose value differs. Undefined means that the field is absent. */
interface Difference {
  /** Path of the field, such as `limits.runningJobs`; empty for the value as a whole. */
  path: string;
  before: string | undefined;
  after: string | undefined;
}

/** Returns the differences between two JSON values in the order of their fields. Lists are compared as a whole. */
export function differences(before: unknown, after: unknown): Difference[] {
  const old = new Map(leaves(before, ""));
  const present = new Map(leaves(after, ""));
  return [...new Set([...old.keys(), ...present.keys()])]
    .map((path) => ({ path, before: old.get(path), after: present.get(path) }))
    .filter(({ before, after }) => before !== after);
}

function leaves(value: unknown, path: string): [string, string][] {
  if (value === null || value === undefined) return path === "" ? [] : [[path, "null"]];
  if (typeof value === "number" && isTime(path)) return [[path, new Date(value).toISOString()]];
  if (typeof value === "string" && isAmount(path) && /^-?\d+$/.test(value))
    return [[path, formatNanos(BigInt(value))]];
  if (typeof value !== "object") return [[path, String(value)]];
  if (Array.isArray(value)) return [[path, renderList(value)]];
  const fields = Object.entries(value);
  if (fields.length === 0 && path !== "") return [[path, "{}"]];
  return fields.flatMap(([name, field]) => leaves(field, path === "" ? name : `${path}.${name}`));
}

function renderList(list: readonly unknown[]): string {
  const isPlain = list.every((item) => typeof item !== "object");
  return isPlain ? list.join(", ") : JSON.stringify(list);
}

/** True for a field of the audit log that contains an amount in nano-units as text. */
export function isAmount(path: string): boolean {
  return /^(amount|price\.(longContext\.)?per.*)$/.test(path);
}

/** True for the name of a field with Unix milliseconds. */
function isTime(path: string): boolean {
  return /(At|From|Until|Start)$/.test(path);
}
