import { z } from "zod";
import { modelChangeSchema, modelCreationSchema, modelSchema, modelsInputSchema } from "./schema.ts";
import { createModel, getModel, listModels, removeModel, updateModel } from "./models.ts";
import { operation } from "../operation.ts";
import { doneSchema, pageOf } from "../output.ts";

/** The id is in the query or the body, because ids of models contain slashes. */
const idSchema = z.strictObject({ id: z.string() });

export const modelOperations = {
  "models.list": operation({
    method: "GET",
    path: "/models",
    summary: "Models of the file, the database and the catalogue, served or not, in order of their ids",
    role: "viewer",
    reach: "organization",
    cost: "report",
    input: modelsInputSchema,
    output: pageOf(modelSchema),
    run: listModels,
  }),
  "models.get": operation({
    method: "GET",
    path: "/model",
    summary: "One model",
    role: "viewer",
    reach: "organization",
    cost: "report",
    input: idSchema.extend({ organizationId: modelsInputSchema.shape.organizationId }),
    output: modelSchema,
    run: (context, { id, organizationId }) => getModel(context, id, organizationId),
  }),
  "models.create": operation({
    method: "POST",
    path: "/models",
    summary: "Add a model of your own",
    role: "admin",
    reach: "installation",
    cost: "report",
    input: modelCreationSchema,
    output: modelSchema,
    run: createModel,
  }),
  "models.update": operation({
    method: "PATCH",
    path: "/models",
    summary: "Change what the body names; of a shipped model what differs is stored",
    role: "admin",
    reach: "installation",
    cost: "report",
    input: modelChangeSchema.extend(idSchema.shape),
    output: modelSchema,
    run: (context, { id, ...change }) => updateModel(context, id, change),
  }),
  "models.remove": operation({
    method: "DELETE",
    path: "/models",
    summary: "Remove a model of the database; a shipped one is again as the catalogue has it",
    role: "admin",
    reach: "installation",
    cost: "page",
    input: idSchema,
    output: doneSchema,
    async run(context, { id }) {
      await removeModel(context, id);
      return { done: true as const };
    },
  }),
};
