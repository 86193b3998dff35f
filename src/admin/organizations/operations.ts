import { z } from "zod";
import { MAX_LISTED, modelListSchema } from "../input.ts";
import { operation } from "../operation.ts";
import {
  createOrganization,
  disableModels,
  enableModels,
  getOrganization,
  listOrganizations,
  updateOrganization,
} from "./organizations.ts";
import { pageOf } from "../output.ts";
import {
  organizationChangeSchema,
  organizationCreationSchema,
  organizationListSchema,
  organizationSchema,
} from "./schema.ts";
import { inputError } from "../../domain/schema-problems.ts";

const idSchema = z.strictObject({ id: z.string() });

export const organizationOperations = {
  "organizations.list": operation({
    method: "GET",
    path: "/organizations",
    summary: "Organizations, oldest first",
    role: "viewer",
    reach: "organization",
    cost: "page",
    input: organizationListSchema,
    output: pageOf(organizationSchema),
    run: listOrganizations,
  }),
  "organizations.create": operation({
    method: "POST",
    path: "/organizations",
    summary: "Create an organization",
    role: "admin",
    reach: "installation",
    cost: "page",
    input: organizationCreationSchema,
    output: organizationSchema,
    run: createOrganization,
  }),
  "organizations.get": operation({
    method: "GET",
    path: "/organizations/{id}",
    summary: "One organization",
    role: "viewer",
    reach: "organization",
    cost: "page",
    input: idSchema,
    output: organizationSchema,
    run: (context, { id }) => getOrganization(context, id, "id"),
  }),
  "organizations.update": operation({
    method: "PATCH",
    path: "/organizations/{id}",
    summary: "Change what the body names; everything else stays",
    role: "admin",
    reach: "organization",
    cost: "page",
    input: organizationChangeSchema.extend(idSchema.shape),
    output: organizationSchema,
    run: (context, { id, ...change }) => updateOrganization(context, id, change),
  }),
  "organizations.enableModels": operation({
    method: "POST",
    path: "/organizations/{id}/enable-models",
    summary: "Let an organization call models besides those that it may call",
    role: "admin",
    reach: "installation",
    cost: "page",
    input: idSchema.extend({
      models: z.union([z.literal("*"), modelListSchema.min(1)], {
        error: inputError("input.models", { most: MAX_LISTED }),
      }),
    }),
    output: organizationSchema,
    run: (context, { id, models }) => enableModels(context, id, models),
  }),
  "organizations.disableModels": operation({
    method: "POST",
    path: "/organizations/{id}/disable-models",
    summary:
      "Stop an organization from calling models; one that may call all keeps all others, later ones too",
    role: "admin",
    reach: "installation",
    cost: "page",
    input: idSchema.extend({ models: modelListSchema.min(1) }),
    output: organizationSchema,
    run: (context, { id, models }) => disableModels(context, id, models),
  }),
};
