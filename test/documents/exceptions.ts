import { expect } from "bun:test";
import type { Page } from "./pages.ts";

/**
 * Pages that do not follow a rule yet. The lists can only become shorter: a page that follows the rule, or no longer
 * exists, must be removed.
 */
const EXCEPTIONS = {
  "every code block is run, checked, or says why not": [],
  "no cell of a table has over 90 characters": [],
  "a page written by hand has at most 250 lines": [],
  "no page for users names a file of the program": [],
} satisfies Record<string, string[]>;

/** Fails for a page that breaks the rule and is not listed, and for a listed page that follows the rule. */
export function expectOnPages(
  rule: keyof typeof EXCEPTIONS,
  pages: readonly Page[],
  problemsOf: (page: Page) => readonly string[],
): void {
  const excepted = new Set<string>(EXCEPTIONS[rule]);
  const problems = pages.map((page) => ({ path: page.path, found: problemsOf(page) }));
  const broken = problems.filter(({ path, found }) => found.length > 0 && !excepted.has(path));
  expect(broken.flatMap(({ path, found }) => found.map((problem) => `${path}: ${problem}`))).toEqual([]);
  const breaking = new Set(problems.filter(({ found }) => found.length > 0).map(({ path }) => path));
  const kept = [...excepted].filter((path) => !breaking.has(path));
  expect(kept, "These pages keep the rule: take them off the list in test/documents/exceptions.ts").toEqual(
    [],
  );
}
