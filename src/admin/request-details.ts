import type { z } from "zod";
import { AdminError } from "./admin-error.ts";
import type { AdminContext } from "./context.ts";
import type { requestDetailSchema } from "./usage-schemas.ts";

/** One request with everything that is known of it. Throws 404. */
export async function getRequest(
  _context: AdminContext,
  id: string,
): Promise<z.input<typeof requestDetailSchema>> {
  throw new AdminError(404, "id", `there is no request "${id}"`);
}
