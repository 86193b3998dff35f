/** A WebAssembly file that is imported with the type `file`: its path, also inside the one-file executable. */
declare module "*.wasm" {
  const path: string;
  export default path;
}
