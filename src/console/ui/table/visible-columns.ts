import { useState } from "react";

export interface ChoosableColumn {
  id: string;
  header: string;
  isOptional?: boolean;
}

/** Which columns of a table are shown, as chosen in this browser. */
export function useVisibleColumns(
  table: string,
  columns: readonly ChoosableColumn[],
): [Record<string, boolean>, (visible: Record<string, boolean>) => void] {
  const stored = `gateway.columns.${table}`;
  const [chosen, setChosen] = useState<Record<string, boolean>>(() =>
    JSON.parse(localStorage.getItem(stored) ?? "{}"),
  );
  const visible = Object.fromEntries(
    columns.map(({ id, isOptional }) => [id, chosen[id] ?? isOptional !== true]),
  );
  const choose = (visible: Record<string, boolean>) => {
    localStorage.setItem(stored, JSON.stringify(visible));
    setChosen(visible);
  };
  return [visible, choose];
}
