import type { Command } from "commander";
import type { CommandContext, CommandOutput } from "./context.ts";
import { addFields, addList } from "./operation-command.ts";
import { addExplainCommand } from "./route-explanation.ts";

const ORGANIZATION = { usage: "--org <id>  organization", default: "default" };

export function addRouteCommands(program: Command, cli: CommandContext): void {
  const routes = program.command("routes").description("where an organization's requests go");
  addSetCommand(routes, cli);
  addList(routes, cli, ["show", "routes.list"], {
    description: "show the routes in force, of one model or of all",
    fields: { model: "[model]  model id", organizationId: ORGANIZATION },
    row: toRow,
    json: (effective) => effective.map(toView),
  });
  addExplainCommand(routes, cli);
}

function addSetCommand(routes: Command, cli: CommandContext): void {
  const command = routes.command("set").description("give an organization its own route for a model");
  const read = addFields(command, "routes.set", {
    model: "<model>  model id",
    organizationId: ORGANIZATION,
    strategy: "--strategy <ordered|weighted>  in order, or by weight with the rest as fallbacks",
    targets: {
      usage: "--target <channel/upstream[=weight]>  target to call (repeatable, in order)",
      isRequired: false,
    },
  });
  command
    .option("--reset", "go back to the configured route")
    .option("--json", "print JSON")
    .action(async () => {
      const { organizationId, model, ...route } = read();
      const { reset, json } = command.opts<{ reset?: boolean; json?: boolean }>();
      if ((reset === true) === (route.targets !== undefined))
        command.error("error: name either --target or --reset", { exitCode: 2 });
      const named = { organizationId, model };
      const effective = await cli.connect(async ({ run }) => {
        if (reset) await run("routes.remove", named);
        else await run("routes.set", { ...named, ...route });
        return (await run("routes.list", named)).data;
      });
      cli.print(json, effective.map(toView), effective.map(toRow));
    });
}

type RouteView = CommandOutput<"routes.set">;

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
