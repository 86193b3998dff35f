import { z } from "zod";
import { AdminError } from "./admin-error.ts";
import type { ListPosition } from "./list-page.ts";
import { inputError } from "../domain/schema-problems.ts";

const MAX_LIMIT = 1000;

/** Input fields of a list with pages. `limit` may be a text, because it may come from a query. */
export const pageFields = {
  /** `next` of the previous page. */
  cursor: z.string().optional(),
  limit: z
    .union(
      [
        z.int(),
        z
          .string()
          .regex(/^\d{1,6}$/)
          .transform(Number),
      ],
      { error: inputError("input.whole", {}) },
    )
    .pipe(z.int().min(1).max(MAX_LIMIT))
    .default(50)
    .meta({ type: "integer", minimum: 1, maximum: MAX_LIMIT }),
};

/** A page of items, and the cursor of the next page. */
export interface Page<Item> {
  data: Item[];
  next: string | null;
}

/** Returns the list position in a cursor. Throws 400 for a text that is not a cursor. */
export function readCursor(cursor: string | undefined): ListPosition | undefined {
  if (cursor === undefined) return undefined;
  const [, at, id] = /^(\d{1,15})\.([\x21-\x7e]{1,300})$/.exec(cursor) ?? [];
  if (at === undefined || id === undefined)
    throw new AdminError(400, "cursor", "the cursor is not one of this list: use `next` of the page before");
  return { at: Number(at), id };
}

/** Makes a page of `limit` items. `found` contains one item more if another page follows. */
export function toPage<Item extends { id: string; createdAt: number }>(
  found: readonly Item[],
  limit: number,
): Page<Item> {
  const data = found.slice(0, limit);
  const last = data.at(-1);
  return { data, next: found.length > limit && last ? `${last.createdAt}.${last.id}` : null };
}

/**
 * Makes a page of a list that is completely in memory. The cursor is the name of the previous page's last item, so the
 * names must be unique.
 */
export function pageByName<Item>(
  all: readonly Item[],
  { cursor, limit }: { cursor?: string; limit: number },
  nameOf: (item: Item) => string,
): Page<Item> {
  const start = cursor === undefined ? 0 : all.findIndex((item) => nameOf(item) === cursor) + 1;
  if (cursor !== undefined && start === 0)
    throw new AdminError(400, "cursor", "the cursor is not in this list any more: begin anew");
  const data = all.slice(start, start + limit);
  const last = data.at(-1);
  return { data, next: start + limit < all.length && last ? nameOf(last) : null };
}
