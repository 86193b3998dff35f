import type { ErrorObject } from "openai/resources/shared";
import { z } from "zod";

/** An error of OpenAI's protocols (openai 7.55.0, resources/shared, `ErrorObject`). */
const errorObject = z.object({
  type: z.string().min(1),
  message: z.string().min(1),
  param: z.string().nullable(),
  code: z.string().nullable(),
}) satisfies z.ZodType<ErrorObject>;

export const responsesError = z.object({ error: errorObject });

/** The gateway omits the code when it refuses access itself. */
const refusedAccess = errorObject
  .omit({ code: true })
  .extend({ type: z.enum(["missing_api_key", "ip_not_allowed"]), code: z.undefined().optional() });

export const chatError = z.object({ error: z.union([refusedAccess, errorObject]) });
