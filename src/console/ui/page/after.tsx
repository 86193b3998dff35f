import type { ReactNode } from "react";
import type { List } from "../../api/queries.ts";

/** What stands below a list: it is shown once the length of the list is known, so that it does not move. */
export function After({ list: { rows, error }, children }: { list: List<unknown>; children: ReactNode }) {
  return <div hidden={rows === undefined && error === null}>{children}</div>;
}
