import { Command, CommanderError, type Option } from "commander";
import { DependencyError } from "../gateway/dependency-error.ts";
import { ConfigurationError } from "../config/index.ts";
import { PROGRAM_NAME } from "../lib/program-files.ts";
import { VERSION } from "../lib/version.ts";
import { didYouMean } from "../lib/suggest.ts";
import { addAuditCommands } from "./audit.ts";
import { addBackupCommands } from "./backup.ts";
import { addBudgetCommands } from "./budgets.ts";
import { addChannelCommands } from "./channels.ts";
import { addCheckCommand, addConfigCommands } from "./config.ts";
import { addCompletionCommand } from "./completion.ts";
import { openCommandContext, type CliContext } from "./context.ts";
import { addImportCommands } from "./import.ts";
import { addJobCommands, addLinkCommands } from "./jobs.ts";
import { addKeyCommands } from "./keys.ts";
import { addLedgerCommands } from "./ledger.ts";
import { addLocalCommands } from "./local.ts";
import { addMemberCommands } from "./members.ts";
import { CommandEnd } from "./long-work.ts";
import { addOrganizationCommands, addPromptCommands } from "./organizations.ts";
import { addPriceCommands } from "./prices.ts";
import { readName } from "./options.ts";
import { readSource, SOURCES } from "./secret-source.ts";
import { addUsageCommand } from "./usage.ts";
import { addWebhookCommands } from "./webhooks.ts";
import { addRouteCommands } from "./routes.ts";

export type { CliContext } from "./context.ts";

/**
 * Runs the command in `argv`, which does not include program and script; without a command, runs `serve`. Returns the
 * exit code: 0 for success, 1 for failure, 2 for wrong usage, 3 when a comparison found differences, and 130 after an
 * interruption.
 */
export async function runCli(argv: readonly string[], context: CliContext): Promise<number> {
  try {
    // A gateway starts faster without the other commands.
    const isServing = argv.length === 0 || (argv.length === 1 && argv[0] === "serve");
    const program = buildProgram(context, isServing ? [] : COMMANDS);
    await requireOptionsLast(program).parseAsync(argv, { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return exitCodeOf(error);
    if (error instanceof CommandEnd) return error.exitCode;
    // The program that reads the output, such as `head`, has ended.
    if (error instanceof Error && "code" in error && error.code === "EPIPE") return 1;
    context.stderr.write(`${describe(error)}\n`);
    return 1;
  }
}

/**
 * Checks required options last, after unknown options. A mistyped option is then reported with a suggestion. If
 * required options were checked first, a mistyped option would be reported as missing.
 */
function requireOptionsLast(program: Command): Command {
  const required = new Set<Option>();
  const relax = (command: Command): void => {
    for (const option of command.options.filter(({ mandatory }) => mandatory)) {
      option.mandatory = false;
      required.add(option);
    }
    for (const inner of command.commands) relax(inner);
  };
  relax(program);
  return program.hook("preAction", (_, command) => {
    const missing = command.options.find(
      (option) => required.has(option) && command.getOptionValue(option.attributeName()) === undefined,
    );
    if (missing) command.error(`error: required option '${missing.flags}' not specified`, { exitCode: 2 });
  });
}

/** Returns the program as it is parsed and documented, with `serve` and the given commands: all by default. */
export function buildProgram(context: CliContext, commands = COMMANDS): Command {
  const program = new Command(PROGRAM_NAME);
  program
    .description("One address, one key and one bill in front of every hosted model.")
    .option("--version", "print the version")
    .option("--config <path>", "configuration file (else GATEWAY_CONFIG, else ./gateway.yaml when present)")
    .option(
      "--actor <name>",
      "who makes the change, for the audit (else the operating system's user)",
      readName,
    )
    .option("--url <address>", "work on the gateway at this address (else GATEWAY_URL, else the local store)")
    .option(
      "--token <source>",
      `where to read the admin token for it from: ${SOURCES} (else GATEWAY_TOKEN)`,
      readSource,
    )
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void context.stdout.write(text),
      writeErr: (text) => void context.stderr.write(text),
      outputError: (text, write) => write(text.replace("\n(", " (")),
    })
    .action(async () => {
      const [unknown] = program.args;
      if (unknown !== undefined) refuseCommand(program, unknown);
      if (program.opts<{ version?: boolean }>().version) return cli.printLine(VERSION);
      await serve();
    });

  const cli = openCommandContext(context, program);
  const serve = async () => {
    cli.requireLocal();
    const loaded = await cli.loadSettings();
    // A worker prints no warnings, because its supervisor has already printed them.
    if (loaded.settings.worker === null) cli.warn(loaded.warnings);
    await context.serve(loaded, cli.loadSettings);
  };
  program.command("serve").description("run the gateway, as without a command").action(serve);
  for (const add of commands) add(program, cli);
  // A mistyped command is parsed as an excess argument of the program, whose action then reports it. Excess arguments
  // are allowed last, because commands that are added later would inherit this permission.
  return program.helpCommand(true).allowExcessArguments();
}

/** Functions that add commands, in the order of the help. */
const COMMANDS: readonly ((program: Command, cli: ReturnType<typeof openCommandContext>) => void)[] = [
  addLocalCommands,
  addBackupCommands,
  addCheckCommand,
  addImportCommands,
  addConfigCommands,
  addChannelCommands,
  addKeyCommands,
  addOrganizationCommands,
  addPriceCommands,
  addBudgetCommands,
  addRouteCommands,
  addLedgerCommands,
  addUsageCommand,
  addPromptCommands,
  addLinkCommands,
  addJobCommands,
  addWebhookCommands,
  addMemberCommands,
  addAuditCommands,
  addCompletionCommand,
];

function refuseCommand(program: Command, unknown: string): never {
  const suggestion = didYouMean(
    unknown,
    program.commands.map((command) => command.name()),
  );
  program.error(`error: unknown command "${unknown}"${suggestion || `; ${PROGRAM_NAME} --help lists them`}`);
}

function exitCodeOf(error: CommanderError): number {
  // Requested help ends with 0. Help that is shown because a command is missing ends with 2.
  return error.exitCode === 0 ? 0 : 2;
}

function describe(error: unknown): string {
  if (error instanceof ConfigurationError) return error.message;
  if (error instanceof DependencyError) {
    const cause = error.cause instanceof Error ? ` (${error.cause.message})` : "";
    return `error: ${error.message}${cause}; ${error.advice ?? CHECK}`;
  }
  return `error: ${error instanceof Error ? error.message : String(error)}`;
}

const CHECK = "check DATABASE_URL and that the database runs, or the data folder where SQLite is used";
