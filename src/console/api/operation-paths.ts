import { operations } from "../../admin/operations.ts";

/**
 * Returns method and path of every operation. This is a macro: it runs while the page is bundled, and the bundle
 * contains only its result.
 */
export function operationPaths(): Record<string, { method: string; path: string }> {
  return Object.fromEntries(
    Object.entries(operations).map(([name, { method, path }]) => [name, { method, path }]),
  );
}
