import { join } from "node:path";
import { YAML } from "bun";
import { z } from "zod";
import { PROGRAM_ROOT } from "../lib/program-files.ts";
import { type MetricDeclaration, METRICS } from "../telemetry/metrics.table.ts";
import { code, list, type ReferencePage } from "./page.ts";

const rulesSchema = z.object({
  groups: z.array(
    z.object({
      rules: z.array(
        z.object({
          alert: z.string(),
          expr: z.string(),
          for: z.string().optional(),
          annotations: z.object({ description: z.string() }),
        }),
      ),
    }),
  ),
});

/** Returns the page of all metrics, each with the alert rules that use it. */
export async function metricsPage(): Promise<ReferencePage> {
  const text = await Bun.file(join(PROGRAM_ROOT, "deploy/prometheus/alerts.yaml")).text();
  const rules = rulesSchema.parse(YAML.parse(text)).groups.flatMap(({ rules: own }) => own);
  const alerts = (name: string) =>
    rules
      .filter(({ expr }) => new RegExp(`\\b${name}(?:_bucket|_sum|_count)?\\b`).test(expr))
      .map(({ alert }) => `[${code(alert)}](#alert-rules)`);
  return {
    name: "metrics",
    title: "Metrics",
    source: "the table of metrics and the alert rules",
    body: `\`GET /metrics\` answers in the text format of Prometheus. With \`METRICS_PORT\` it is served on a port of its own, and with
\`METRICS_TOKEN\` it needs that bearer token. With several workers every series has the label \`process\`.

## Metrics

${Object.entries(METRICS)
  .map(([name, metric]) => entryOf(name, metric, alerts(name)))
  .join("\n\n")}

## Number of series

A model that a pattern covers counts under the pattern's id. A metric by organization and model has at most 2,000 series of
its own names; beyond that the organization of new series becomes \`other\`, and beyond as many again the model too. Currency,
channel, route and outcome never do. A histogram has at most 300 series, beyond which the model becomes \`other\`. A series that
was idle for a day gives its place to a new one.

## Alert rules

\`deploy/prometheus/alerts.yaml\` has these rules, with the time after which each fires. Their thresholds
are a start.

${list(rules.map(({ alert, annotations, for: after = "at once" }) => [`${code(alert)} (${after})`, annotations.description]))}`,
  };
}

function entryOf(name: string, { type, labels, help }: MetricDeclaration, alerts: readonly string[]): string {
  const by = labels.length > 0 ? ` by ${labels.map(code).join(", ")}` : "";
  const read = alerts.length > 0 ? ` Read by ${alerts.join(", ")}.` : "";
  return `### ${name}\n\nA ${type}${by}. ${help}${read}`;
}
