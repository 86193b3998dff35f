import { overview } from "./en/overview.ts";
import { shell } from "./en/shell.ts";

/** What the first page needs; the rest follows when the browser is idle. */
export const first = { overview, shell };
