import type { Texts } from "./en.ts";
import { shell } from "./zh/shell.ts";

export const zh: Texts = { shell };
