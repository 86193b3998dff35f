import type { Command } from "commander";
import { formatPath } from "../domain/schema-problems.ts";
import { PatternMap } from "../lib/pattern-map.ts";
import type { CommandContext, CommandOutput } from "./context.ts";
import { addFields } from "./operation-command.ts";

/** Adds the command `routes explain`. It is a dry run of access, price and routing. */
export function addExplainCommand(routes: Command, cli: CommandContext): void {
  const command = routes
    .command("explain")
    .description("show which channel would serve a request, and why; sends nothing");
  const read = addFields(command, "routes.explain", {
    model: "--model <id>  model the request names",
    organizationId: { usage: "--org, --organization <id>  organization", default: "default" },
    keyId: "--key <id>  as if called with this key",
  });
  command.option("--json", "print JSON").action(async () => {
    const { json } = command.opts<{ json?: boolean }>();
    const input = read();
    const explanation = await cli.run("routes.explain", input);
    const routeFrom =
      explanation.source === "organization" ? "database" : await configuredIn(cli, input.model);
    cli.print(json, { ...toView(explanation), routeFrom }, toRows(explanation));
    if (json) return;
    cli.printLine(summary(explanation, routeFrom));
    if (!cli.isRemote()) cli.printLine(HEALTH_UNKNOWN);
  });
}

const HEALTH_UNKNOWN =
  "Targets that are out of service now are not considered: ask the running gateway with --url and --token.";

type Explanation = CommandOutput<"routes.explain">;

/**
 * Returns the file that configures a model or its pattern, or `database` or `catalogue`. The origin at a remote gateway
 * is not known, so returns `configuration` for such a gateway.
 */
async function configuredIn(cli: CommandContext, model: string): Promise<string> {
  if (cli.isRemote()) return "configuration";
  const { models, settings } = await cli.administer(async ({ store, configuration }) =>
    configuration.read(await store.configuration.list()),
  );
  const { id, origin } = new PatternMap(models).get(model) ?? { id: model, origin: "catalogue" };
  const row = settings.find(({ path }) => path === formatPath(["models", id]));
  return row?.from ?? origin;
}

function toView({ price, ...explanation }: Explanation): object {
  return { ...explanation, price: price && { ...price, amounts: amountsOf(price) } };
}

function amountsOf({ amounts }: NonNullable<Explanation["price"]>): string[] {
  return amounts.map(({ cell, amount }) => `${cell} ${amount}`);
}

function toRows({ targets, strategy }: Explanation) {
  return targets.map(({ name, provider, weight, share, ejection }) => ({
    target: name,
    provider,
    weight: strategy === "weighted" ? String(weight) : "",
    share: `${Math.round(share * 100)} %`,
    state: ejection
      ? `ejected (${ejection.reason}) for ${Math.ceil(ejection.durationMs / 1000)} s`
      : "in service",
  }));
}

const ORIGINS: Readonly<Record<string, string>> = {
  catalogue: "the shipped catalogue",
  database: "the database",
  configuration: "the configuration of the gateway",
};

function summary(
  { organization, source, missingChannel, strategy, price, verdict }: Explanation,
  routeFrom: string,
): string {
  const origin =
    source === "organization"
      ? `stored for the organization ${organization}`
      : `from ${ORIGINS[routeFrom] ?? routeFrom}`;
  const lines = [`Route: ${origin}, ${strategy}.`];
  if (missingChannel !== null)
    lines.push(
      `The organization's own route is left out: it names the channel ${missingChannel}, which is not configured.`,
    );
  lines.push(
    `Price: ${price ? `${amountsOf(price).join(", ")} ${price.currency} (${price.source})` : "none"}.`,
    verdict,
  );
  return lines.join("\n");
}
