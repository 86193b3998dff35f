import { shell } from "./en/shell.ts";

/** Every text in English, by area; the other languages have the same names. */
export const en = { shell };
export type Texts = { [Area in keyof typeof en]: Record<keyof (typeof en)[Area], string> };
