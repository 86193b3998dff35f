import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";

/** Folder of the shipped files for monitoring. */
export const DEPLOY = join(import.meta.dir, "../../deploy");

const rulesSchema = z.object({
  groups: z.array(z.object({ rules: z.array(z.object({ alert: z.string(), expr: z.string() })) })),
});

const boardSchema = z.object({
  panels: z.array(
    z.object({ title: z.string(), targets: z.array(z.object({ expr: z.string() })).default([]) }),
  ),
});

/** The shipped alert rules, in order. */
export const rules = rulesSchema
  .parse(parse(await Bun.file(join(DEPLOY, "prometheus/alerts.yaml")).text()))
  .groups.flatMap((group) => group.rules);

/** The shipped board's panels with their queries, in order. */
export const panels = boardSchema
  .parse(await Bun.file(join(DEPLOY, "grafana/board.json")).json())
  .panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ title, query: expr })));
