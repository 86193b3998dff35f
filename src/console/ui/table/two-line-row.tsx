import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";

/** The fields of a table column that a row of two lines uses. */
interface Column<Row> {
  id: string;
  header: string;
  cell(row: Row): ReactNode;
  isAction?: boolean;
  phone?: "first" | "second" | "named";
}

/** The header of a table with rows of two lines. Each row has one cell, so one header is enough. */
export function TwoLineHead({ label }: { label: string }) {
  return (
    <thead className="sr-only">
      <tr>
        <th scope="col">{label}</th>
      </tr>
    </thead>
  );
}

/** A row of a table as a single cell with two lines. A column's `phone` decides on which line the column is. */
export function TwoLineRow<Row>({ row, columns }: { row: Row; columns: readonly Column<Row>[] }) {
  const { t } = useTranslation("shell");
  const [name, ...others] = columns;
  const first = others.filter(({ phone, isAction }) => phone === "first" && !isAction);
  const second = others.filter(({ phone, isAction }) => phone !== "first" && !isAction);
  const actions = others.filter(({ isAction }) => isAction);
  return (
    <td className="max-w-0 border-b border-line px-4 py-2.5 group-last:border-b-0">
      <div className="flex min-h-6 flex-wrap items-center justify-end gap-x-3 gap-y-1">
        {/* A table cell limits the width of its content. In this row, the content may take the whole line. */}
        <span className="min-w-0 flex-auto truncate **:max-w-full">{name?.cell(row)}</span>
        {[...first, ...actions].map(({ id, cell }) => (
          <span key={id} className="shrink-0 empty:hidden has-data-nothing:hidden">
            {cell(row)}
          </span>
        ))}
      </div>
      <div className="mt-1 flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-muted">
        {second.map(({ id, header, cell, phone }) => (
          <span
            key={id}
            className="flex max-w-full min-w-0 items-baseline gap-1 has-data-nothing:hidden has-[>span:last-child:empty]:hidden"
          >
            {phone !== "second" && <span className="shrink-0">{t("named", { name: header })}</span>}
            <span className="min-w-0 break-words">{cell(row)}</span>
          </span>
        ))}
      </div>
    </td>
  );
}
