import { operation } from "../operation.ts";
import { overviewInputSchema, readOverview } from "../overview/overview.ts";
import { overviewSchema, usageSchema } from "./schema.ts";
import { readUsage, usageInputSchema } from "./usage.ts";

export const usageOperations = {
  "overview.get": operation({
    method: "GET",
    path: "/overview",
    summary: "What happened in a range, what it cost, and whether everything is well now",
    role: "viewer",
    reach: "organization",
    cost: "report",
    input: overviewInputSchema,
    output: overviewSchema,
    run: readOverview,
  }),
  "usage.list": operation({
    method: "GET",
    path: "/usage",
    summary: "Usage and amounts over time, by model, key, organization, channel, member or client program",
    role: "viewer",
    reach: "organization",
    cost: "report",
    input: usageInputSchema,
    output: usageSchema,
    run: readUsage,
  }),
};
