// The texts of the first page and of signing in. All other texts are loaded shortly after the start.
export { OPERATOR_MESSAGES as messages } from "../../../domain/operator-messages.table.ts";
export { default as overview } from "./overview.json";
export { default as shell } from "./shell.json";
export { default as signIn } from "./sign-in.json";
