// The texts of the first page. The other texts are loaded when the browser is idle.
export { default as overview } from "./overview.json";
export { default as shell } from "./shell.json";
