import type { Command } from "commander";
import { explainRoute, type RouteExplanation } from "../admin/explain-route.ts";
import { priceOrigin, priceStart } from "../domain/price.ts";
import { formatNanos } from "../lib/money.ts";
import { formatPath } from "../lib/schema-problems.ts";
import type { CommandContext } from "./context.ts";
import { namedRates } from "../admin/price-cells.ts";

/** `routes explain`: a dry run of access, price and routing. */
export function addExplainCommand(routes: Command, cli: CommandContext): void {
  routes
    .command("explain")
    .description("show which channel would serve a request, and why; sends nothing")
    .requiredOption("--model <id>", "model the request names")
    .option("--org, --organization <id>", "organization", "default")
    .option("--key <id>", "as if called with this key")
    .option("--json", "print JSON")
    .action(async ({ organization, model, key, json }: ExplainOptions) => {
      const { rows } = await cli.loadSettings();
      const explanation = await cli.administer((admin) => explainRoute(admin, { organization, model, key }));
      const configuredIn = rows.find(({ path }) => path === formatPath(["models", model]))?.from ?? null;
      const routeFrom = explanation.source === "organization" ? "database" : (configuredIn ?? "catalogue");
      cli.print(json, { ...toView(explanation), routeFrom }, toRows(explanation));
      if (!json) cli.printLine(summary(explanation, routeFrom));
    });
}

interface ExplainOptions {
  organization: string;
  model: string;
  key?: string;
  json?: boolean;
}

function toView({ price, ...explanation }: RouteExplanation): object {
  if (!price) return { ...explanation, price };
  const { currency, unit } = price;
  const { source, effectiveFrom } = priceOrigin(price);
  return {
    ...explanation,
    price: { unit, currency, source, effectiveFrom: priceStart(effectiveFrom), amounts: rateAmounts(price) },
  };
}

function rateAmounts(price: NonNullable<RouteExplanation["price"]>): string[] {
  return namedRates(price).map(({ name, value }) => `${name} ${formatNanos(value.amount)}`);
}

function toRows({ targets, strategy }: RouteExplanation) {
  return targets.map(({ name, provider, weight, share, ejection }) => ({
    target: name,
    provider,
    weight: strategy === "weighted" ? String(weight) : "",
    share: `${Math.round(share * 100)} %`,
    state: ejection ? `ejected (${ejection.reason}) for ${Math.ceil(ejection.durationMs / 1000)} s` : "asked",
  }));
}

function summary(
  { organization, source, missingChannel, strategy, price, verdict }: RouteExplanation,
  routeFrom: string,
): string {
  const origin =
    source === "organization"
      ? `stored for the organization ${organization}`
      : `from ${routeFrom === "catalogue" ? "the shipped catalogue" : routeFrom}`;
  const lines = [`Route: ${origin}, ${strategy}.`];
  if (missingChannel !== null)
    lines.push(
      `The organization's own route is left out: it names the channel ${missingChannel}, which is not configured.`,
    );
  lines.push(
    `Price: ${price ? `${rateAmounts(price).join(", ")} ${price.currency} (${priceOrigin(price).source})` : "none"}.`,
    verdict,
  );
  return lines.join("\n");
}
