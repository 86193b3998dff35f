// The texts of the first page; the rest follows when the browser is idle.
export { default as overview } from "./overview.json";
export { default as shell } from "./shell.json";
