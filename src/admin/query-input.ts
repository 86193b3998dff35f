import { z } from "zod";
import { timeSchema } from "./input.ts";

/** Fields of GET inputs, which arrive as text. */

export const queryTimeSchema = z.preprocess(
  (value) => (typeof value === "string" && /^\d{1,16}$/.test(value) ? Number(value) : value),
  timeSchema,
);

/** Items of a page. */
export const queryLimitSchema = z.coerce.number().int().min(1).max(1000).default(50);

/** A flag of a query. */
export const queryFlagSchema = z
  .union([z.boolean(), z.enum(["true", "false"])])
  .transform((value) => value === true || value === "true")
  .optional();
