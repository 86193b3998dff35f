import { z } from "zod";
import { figuresSchema } from "../../admin/output.ts";
import type { ErrorFamily } from "../routes.ts";

const text = z.string();

/** The schemas of error bodies by family of routes. */
export const ERROR_SHAPES: Readonly<Record<ErrorFamily, { name: string; schema: z.ZodType }>> = {
  chat: {
    name: "ChatError",
    schema: z.object({
      error: z.object({
        code: text.optional(),
        message: text,
        type: text,
        param: text.nullish(),
      }),
    }),
  },
  messages: {
    name: "MessagesError",
    schema: z.object({
      type: z.literal("error").optional(),
      error: z.object({ type: text, message: text }),
      request_id: text.optional(),
    }),
  },
  responses: {
    name: "ResponsesError",
    schema: z.object({
      error: z.object({ message: text, type: text, param: text.nullable(), code: text.nullable() }),
    }),
  },
  images: {
    name: "ImagesError",
    schema: z.object({
      error: z.object({
        message: text,
        type: text,
        param: text.nullish(),
        code: text,
        request_id: text,
      }),
    }),
  },
  native: {
    name: "NativeError",
    schema: z.object({
      error: z.object({
        code: z.int(),
        message: text,
        status: text,
        details: z.array(z.looseObject({})).optional(),
      }),
    }),
  },
  admin: {
    name: "AdminError",
    schema: z.object({
      error: z.object({
        type: text.describe("Such as invalid_input, not_found or conflict"),
        code: text.optional().describe("Which sentence the message is; absent for one that has no code"),
        figures: figuresSchema.optional(),
        message: text.describe("The change that is needed"),
        field: text.nullable().describe("Path of the wrong field, where one is"),
        problems: z
          .array(
            z.object({
              field: text.nullable().describe("Path of the wrong field; null for the whole input"),
              message: text.describe("The change that is needed, in words that follow the path"),
              code: text.optional().describe("Which sentence the message is"),
              figures: figuresSchema.optional(),
            }),
          )
          .optional()
          .describe("The problems that the message lists, where it lists problems of the input"),
      }),
      requestId: text,
    }),
  },
};
