/** A WebAssembly file that is imported with the type `file`: its path, in a build relative to the importing file. */
declare module "*.wasm" {
  const path: string;
  export default path;
}
