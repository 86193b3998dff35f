import { z } from "zod";
import { requireRunning, type AdminContext } from "../context.ts";
import { queryTimeSchema } from "../input.ts";
import { getKey } from "../keys/keys.ts";
import { getOrganization } from "../organizations/organizations.ts";
import { isoTime } from "../output.ts";
import { pageFields, readCursor, type Page } from "../paging.ts";
import type { PictureRecord } from "../usage/store-port.ts";
import type { pictureSchema } from "../usage/schema.ts";

export const picturesInputSchema = z.strictObject({
  organizationId: z.string().optional(),
  keyId: z.string().optional(),
  model: z.string().optional(),
  ledgerId: z.string().optional().describe("Of one request or job"),
  from: queryTimeSchema.optional(),
  to: queryTimeSchema.optional().describe("Exclusive"),
  ...pageFields,
});

type Picture = z.input<typeof pictureSchema>;

/** Returns a page of the pictures that are still stored, newest first, with newly signed links. */
export async function listPictures(
  context: AdminContext,
  input: z.output<typeof picturesInputSchema>,
): Promise<Page<Picture>> {
  const { cursor, limit, organizationId, from = 0, to, ...filter } = input;
  const running = requireRunning(context);
  if (organizationId !== undefined) await getOrganization(context, organizationId);
  if (filter.keyId !== undefined) await getKey(context, filter.keyId, "keyId");
  const found = await context.store.pictures.list(
    { ...filter, ...(organizationId !== undefined && { organizations: [organizationId] }) },
    {
      since: Math.max(from, context.clock.now() - running.picturesKeptMs()),
      below: readCursor(cursor) ?? (to === undefined ? null : { at: to, id: "" }),
      // Reads one more picture than the page has, to find out if another page follows.
      limit: limit + 1,
    },
  );
  const page = found.slice(0, limit);
  const last = page.at(-1);
  const view = ({ name, at, ...picture }: PictureRecord): Picture =>
    Object.assign(picture, { id: name, at: isoTime(at), url: running.linkTo(name) });
  return {
    data: page.map(view),
    next: found.length > limit && last ? `${last.at}.${last.name}` : null,
  };
}
