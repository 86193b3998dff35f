import { operations } from "../../admin/operations.ts";

/** Returns method and path of every operation. As a macro it runs while the page is bundled: only its result gets in. */
export function operationPaths(): Record<string, { method: string; path: string }> {
  return Object.fromEntries(
    Object.entries(operations).map(([name, { method, path }]) => [name, { method, path }]),
  );
}
