import { useTranslation } from "react-i18next";
import { differences } from "./difference.ts";

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
