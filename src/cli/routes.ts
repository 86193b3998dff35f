import type { Command } from "commander";
import type { CommandContext, Input, Output } from "./context.ts";
import { readTarget, readWord } from "./options.ts";
import { addExplainCommand } from "./route-explanation.ts";

/** `routes set|show|explain` */
export function addRouteCommands(program: Command, cli: CommandContext): void {
  const routes = program.command("routes").description("where an organization's requests go");
  routes
    .command("set")
    .description("give an organization its own route for a model")
    .argument("<model>", "model id")
    .option("--org <id>", "organization", "default")
    .option(
      "--strategy <ordered|weighted>",
      "in order, or by weight with the rest as fallbacks",
      readWord("ordered", "weighted"),
      "ordered",
    )
    .option("--target <channel/upstream[=weight]>", "target to call (repeatable, in order)", readTarget)
    .option("--reset", "go back to the configured route")
    .option("--json", "print JSON")
    .action(async (model: string, options: SetOptions, command: Command) => {
      const { org: organizationId, strategy, target: targets, reset, json } = options;
      if ((reset === true) === (targets !== undefined))
        command.error("error: name either --target or --reset", { exitCode: 2 });
      const effective = await cli.connect(async ({ run }) => {
        const named = { organizationId, model };
        if (targets === undefined) await run("routes.remove", named);
        else await run("routes.set", { ...named, strategy: strategy as Strategy, targets });
        return (await run("routes.list", named)).data;
      });
      cli.print(json, effective.map(toView), effective.map(toRow));
    });
  routes
    .command("show")
    .description("show the routes in force, of one model or of all")
    .argument("[model]", "model id")
    .option("--org <id>", "organization", "default")
    .option("--json", "print JSON")
    .action(async (model: string | undefined, { org, json }: { org: string; json?: boolean }) => {
      const effective = await cli.list("routes.list", { organizationId: org, model });
      cli.print(json, effective.map(toView), effective.map(toRow));
    });
  addExplainCommand(routes, cli);
}

type RouteView = Output<"routes.set">;
type Strategy = Input<"routes.set">["strategy"];

interface SetOptions {
  org: string;
  strategy: string;
  target?: Input<"routes.set">["targets"];
  reset?: boolean;
  json?: boolean;
}

function toView({ version: _version, ...route }: RouteView): object {
  return route;
}

function toRow({ model, source, strategy, targets }: RouteView) {
  const names = targets.map(({ channel, upstreamModel, weight }) =>
    strategy === "weighted" ? `${channel}/${upstreamModel}=${weight}` : `${channel}/${upstreamModel}`,
  );
  return {
    model,
    strategy,
    targets: names.join(strategy === "weighted" ? ", " : " then ") || "(none)",
    source,
  };
}
