// The texts of the first page. All other texts are loaded shortly after the start.
export { default as overview } from "./overview.json";
export { default as shell } from "./shell.json";
