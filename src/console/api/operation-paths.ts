import { operations } from "../../admin/operations.ts";

/** Method and path of every operation. A macro: it runs when the page is bundled, so that the page has only the result. */
export function operationPaths(): Record<string, { method: string; path: string }> {
  return Object.fromEntries(
    Object.entries(operations).map(([name, { method, path }]) => [name, { method, path }]),
  );
}
