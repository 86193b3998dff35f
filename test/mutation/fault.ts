/** One deliberate fault, and the tests that must notice it. */
export interface Fault {
  /** Short description of the broken promise. */
  name: string;
  /** Path of a file of the program, from the root. */
  file: string;
  /** Text that occurs in the file exactly once. */
  find: string;
  replace: string;
  /** The smallest test files that prove the promise. */
  tests: readonly string[];
}
