import { z } from "zod";
import { operation } from "./operation.ts";
import { readPrompt } from "./prompts.ts";
import { promptSchema } from "./prompt-schema.ts";

export const promptOperations = {
  "prompts.get": operation({
    method: "GET",
    path: "/prompts/{id}",
    summary: "What was said in a request, where its organization has that logged; reading it is audited",
    role: "admin",
    reach: "organization",
    cost: "page",
    input: z.strictObject({ id: z.string() }),
    output: promptSchema,
    run: (context, { id }) => readPrompt(context, id),
  }),
};
