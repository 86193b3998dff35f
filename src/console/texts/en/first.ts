import { overview } from "./overview.ts";
import { shell } from "./shell.ts";

/** What the first page needs; the rest follows when the browser is idle. */
export const first = { overview, shell };
