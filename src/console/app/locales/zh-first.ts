import { overview } from "./zh/overview.ts";
import { shell } from "./zh/shell.ts";

/** What the first page needs; the rest follows when the browser is idle. */
export const first = { overview, shell };
