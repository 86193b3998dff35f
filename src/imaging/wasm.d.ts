/** The path of a WebAssembly file imported with the type `file`; in a build, relative to the importing file. */
declare module "*.wasm" {
  const path: string;
  export default path;
}
