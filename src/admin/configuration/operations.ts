import { z } from "zod";
import {
  exportConfiguration,
  importConfiguration,
  importResultSchema,
  importSchema,
} from "../document/document.ts";
import { readConfigured } from "./configured.ts";
import { operation } from "../operation.ts";
import { pageOf } from "../output.ts";
import { resealSecrets } from "./reseal.ts";

const settingSchema = z.object({
  path: z.string().describe("As in the configuration file"),
  value: z.string().describe("Secrets masked"),
  origin: z.enum(["default", "database", "file", "environment"]),
  from: z.string().nullable().describe("The variable or the file"),
  isReloadable: z.boolean().describe("Whether a change takes effect without a restart"),
});

export const configurationOperations = {
  "settings.list": operation({
    method: "GET",
    path: "/settings",
    summary: "Every setting with its value and where that comes from",
    role: "admin",
    reach: "installation",
    cost: "page",
    input: z.strictObject({}),
    output: pageOf(settingSchema),
    async run(context) {
      const { state } = await readConfigured(context);
      return { data: [...state.settings], next: null };
    },
  }),
  "configuration.export": operation({
    method: "GET",
    path: "/configuration",
    summary: "Everything that the database declares, as one YAML text without secrets",
    role: "admin",
    reach: "installation",
    cost: "report",
    input: z.strictObject({}),
    output: z.object({ yaml: z.string() }),
    run: exportConfiguration,
  }),
  "configuration.import": operation({
    method: "POST",
    path: "/configuration",
    summary: "Make the database declare what a document says, all of it or nothing",
    role: "owner",
    reach: "installation",
    cost: "report",
    input: importSchema,
    output: importResultSchema,
    run: importConfiguration,
  }),
  "configuration.reseal": operation({
    method: "POST",
    path: "/configuration/reseal",
    summary: "Encrypt stored secrets anew after the master key was changed",
    role: "owner",
    reach: "installation",
    cost: "report",
    input: z.strictObject({}),
    output: z.object({
      resealed: z.int(),
      failed: z
        .array(z.object({ kind: z.enum(["channel", "model", "member"]), id: z.string(), field: z.string() }))
        .describe("What no key here opens"),
    }),
    run: resealSecrets,
  }),
};
