import type { ReactNode } from "react";
import type { List } from "../../api/queries.ts";

/** Shows content below a list once the length of the list is known. Otherwise the content would move. */
export function After({ list: { rows, error }, children }: { list: List<unknown>; children: ReactNode }) {
  return <div hidden={rows === undefined && error === null}>{children}</div>;
}
