// The texts of the first page and of signing in. All other texts are loaded shortly after the start.
export { default as messages } from "./messages.json";
export { default as overview } from "./overview.json";
export { default as shell } from "./shell.json";
export { default as signIn } from "./sign-in.json";
