/** A deliberate fault, and the tests that must notice it. */
export interface Fault {
  /** Short description of the fault's effect. */
  name: string;
  /** Path of the changed file, from the repository's root. */
  file: string;
  /** Text that occurs exactly once in the file. */
  find: string;
  replace: string;
  /** Small test files, of which at least one must fail. */
  tests: readonly string[];
}
