import type { Command } from "commander";
import { systemClock } from "../lib/clock.ts";
import type { CommandContext } from "./context.ts";
import { runLongWork } from "./long-work.ts";
import { countText } from "../lib/count-text.ts";

/** Adds the commands `worker|health|migrate|demo`, which work on the processes and the database of this machine. */
export function addLocalCommands(program: Command, cli: CommandContext): void {
  addWorkerCommand(program, cli);
  addHealthCommand(program, cli);
  addMigrateCommand(program, cli);
  addDemoCommand(program, cli);
}

function addWorkerCommand(program: Command, cli: CommandContext): void {
  program
    .command("worker")
    .description("run jobs, and serve no requests")
    .action(async () => {
      cli.requireLocal();
      const loaded = await cli.loadSettings();
      cli.warn(loaded.warnings);
      await cli.context.runWorker(loaded, cli.loadSettings);
    });
}

const HEALTH_MS = 5_000;

/** Adds the command `health`, for the health check of a container without any other HTTP client. */
function addHealthCommand(program: Command, cli: CommandContext): void {
  program
    .command("health")
    .description("ask the gateway on this machine whether it is ready")
    .action(async () => {
      cli.requireLocal();
      const { host, port, metricsPort } = (await cli.loadSettings()).settings.server;
      const name = ["0.0.0.0", "::"].includes(host) ? "localhost" : host;
      const url = `http://${name.includes(":") ? `[${name}]` : name}:${metricsPort ?? port}/readyz`;
      const signal = AbortSignal.timeout(HEALTH_MS);
      const { status } = await fetch(url, { signal, proxy: "" }).catch((error: Error) => {
        throw new Error(`nothing answers at ${url}: ${error.message}`);
      });
      if (status !== 200) throw new Error(`${url} responded with status ${status}`);
      cli.printLine("The gateway is ready.");
    });
}

function addMigrateCommand(program: Command, cli: CommandContext): void {
  program
    .command("migrate")
    .description("bring the database to the newest form")
    .option("--json", "print JSON")
    .action(async ({ json }: { json?: boolean }) => {
      cli.requireLocal();
      const { settings } = await cli.loadSettings();
      const { applied } = await runLongWork(cli.context, {
        run: (onProgress) => cli.context.migrate(settings, onProgress),
        whenInterrupted: () => "The database has all of the changes or none; the same command makes them.",
        mayBeLeft: true,
      });
      if (json) cli.print(true, { applied }, []);
      else
        cli.printLine(
          applied.length === 0 ? "The database is up to date." : `Applied ${applied.join(", ")}.`,
        );
    });
}

function addDemoCommand(program: Command, cli: CommandContext): void {
  program
    .command("demo")
    .description("fill an empty data folder with two weeks of traffic, to look at the console")
    .action(async () => {
      cli.requireLocal();
      const { settings } = await cli.loadSettings();
      const { context } = cli;
      const admin = {
        by: { actor: context.userName(), source: "cli/demo" },
        clock: systemClock,
        catalogue: settings,
        configuration: context.openConfiguration(cli.loadSettings),
      };
      const { requests, password } = await runLongWork(context, {
        run: (onProgress) => context.fillDemo(settings, admin, onProgress),
        whenInterrupted: () =>
          settings.databaseUrl === null
            ? "Nothing is left of the demo."
            : "A part of the demo is in the database: empty it before the next one.",
      });
      cli.printLine(
        `Wrote ${countText(requests, "request")} of the last 14 days to ${settings.dataDirectory}.`,
      );
      cli.printLine("Now start the gateway with the same settings, and open /console.");
      if (password !== null) cli.printLine(`Sign in as admin with the password ${password}`);
    });
}
