/**
 * The path of a WebAssembly file that is imported with the type `file`. In a build, the path is relative to the
 * importing file.
 */
declare module "*.wasm" {
  const path: string;
  export default path;
}
