import { InvalidArgumentError, type Command } from "commander";
import type { CommandContext, Output } from "./context.ts";
import { readCount } from "./options.ts";
import { readSecret, readSource, SOURCES } from "./secret-source.ts";

/** `channels list|add|set|remove|test|reseal` */
export function addChannelCommands(program: Command, cli: CommandContext): void {
  const channels = program.command("channels").description("ways to vendors");
  channels
    .command("list")
    .description("list the channels of the file, the environment, the database and the catalogue")
    .option("--json", "print JSON")
    .action(async ({ json }: { json?: boolean }) => {
      const { data: all } = await cli.run("channels.list", {});
      cli.print(json, all, all.map(toRow));
    });
  addAddCommand(channels, cli);
  addSetCommand(channels, cli);
  channels
    .command("remove")
    .description("remove a channel of the database")
    .argument("<id>", "the channel's id")
    .option("--force", "even if routes name it")
    .action(async (id: string, { force }: { force?: boolean }) => {
      await cli.run("channels.remove", { id, force });
      cli.printLine(`Channel ${id} is removed.`);
    });
  channels
    .command("test")
    .description("call the vendor once to prove a channel's address and credential")
    .argument("<id>", "the channel's id")
    .option("--json", "print JSON")
    .action(async (id: string, { json }: { json?: boolean }) => {
      const result = await cli.run("channels.test", { id });
      if (json) cli.print(true, result, []);
      else cli.printLine(`${result.ok ? "ok" : "failed"} (${result.ms} ms): ${result.message}`);
      if (!result.ok) throw new Error(`the channel "${id}" has failed its test`);
    });
  channels
    .command("reseal")
    .description(
      "encrypt stored credentials and secrets of TOTP with the present master key, after it was changed",
    )
    .option("--json", "print JSON")
    .action(async ({ json }: { json?: boolean }) => {
      const result = await cli.run("configuration.reseal", {});
      const failed = result.failed.map(({ kind, id, field }) => `${kind} ${id}: ${field}`);
      if (json) cli.print(true, result, []);
      else cli.printLine(`Sealed ${result.resealed} secrets anew.`);
      if (failed.length > 0)
        throw new Error(
          `no key opens ${failed.join(", ")}: set the earlier master key as GATEWAY_MASTER_KEY_PREVIOUS and run it again, or set the secrets anew`,
        );
    });
}

interface ChannelOptions {
  baseUrl?: string;
  credential?: string;
  region?: string;
  setting?: Record<string, unknown>;
  maxConcurrent?: number;
  ownServer?: boolean;
  json?: boolean;
}

function addAddCommand(channels: Command, cli: CommandContext): void {
  const command = channels
    .command("add")
    .description("add a channel to the database, its credential encrypted")
    .argument("<provider>", "name of the provider")
    .option("--id <id>", "its id, by default that of the provider's shipped channel");
  addChannelOptions(command).action(
    async (provider: string, { id, ...options }: ChannelOptions & { id?: string }) => {
      if (id === undefined) await requireNone(provider, cli);
      const fields = await readChannelOptions(options, cli);
      const added = await cli.run("channels.create", {
        provider,
        ...(id !== undefined && { id }),
        ...fields,
      });
      cli.print(options.json, added, [toRow(added)]);
    },
  );
}

function addSetCommand(channels: Command, cli: CommandContext): void {
  const command = channels
    .command("set")
    .description("change a channel of the database; what is not named stays as it is")
    .argument("<id>", "the channel's id");
  addChannelOptions(command).action(async (id: string, options: ChannelOptions) => {
    const fields = await readChannelOptions(options, cli);
    if (Object.keys(fields).length === 0)
      throw new Error("name what to change, such as --credential env:NAME");
    const changed = await cli.run("channels.update", { id, ...fields });
    cli.print(options.json, changed, [toRow(changed)]);
  });
}

function addChannelOptions(command: Command): Command {
  return command
    .option("--base-url <address>", "address of the vendor, by default the provider's own")
    .option("--credential <source>", `where to read the credential from: ${SOURCES}, or none`, (source) =>
      source === "none" ? source : readSource(source),
    )
    .option("--region <name>", "region of the vendor")
    .option("--setting <name=value>", "setting of the provider (repeatable)", readSetting)
    .option("--max-concurrent <n>", "maximum number of concurrent calls from one process", readCount)
    .option("--own-server", "it is a server of your own")
    .option("--json", "print JSON");
}

/** The fields that the options name. */
async function readChannelOptions(options: ChannelOptions, cli: CommandContext) {
  const { baseUrl, region, setting: settings, maxConcurrent, ownServer: isOwnServer } = options;
  const { credential: source } = options;
  const credential = source && (source === "none" ? null : await readSecret(source, cli.context.env));
  const given = { baseUrl, region, settings, maxConcurrent, isOwnServer, credential };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/**
 * Throws where the database has a channel of the provider: a second one would get another id, which no route names,
 * and the first would go on with its old credential.
 */
async function requireNone(provider: string, cli: CommandContext): Promise<void> {
  const { data: all } = await cli.run("channels.list", {});
  const known = all.find((channel) => channel.provider === provider && channel.origin === "database");
  if (!known) return;
  throw new Error(
    `the channel "${known.id}" exists: change it by \`channels set ${known.id}\`, or add another by --id`,
  );
}

/** Collects `fan_out=true`; what is JSON is read as such. */
function readSetting(value: string, earlier: Record<string, unknown> = {}): Record<string, unknown> {
  const [, name = "", text = ""] = /^([A-Za-z][\w]*)=(.*)$/s.exec(value) ?? [];
  if (name === "") throw new InvalidArgumentError("It must be name=value, such as fan_out=true.");
  return { ...earlier, [name]: parsed(text) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function toRow({
  id,
  provider,
  origin,
  baseUrl,
  credentialEnd,
  hasCredential,
  problems,
}: Output<"channels.create">) {
  const shown = credentialEnd === null ? "set" : `…${credentialEnd}`;
  return {
    id,
    provider,
    origin,
    address: baseUrl ?? "",
    credential: hasCredential ? shown : "none",
    problems: problems.join("; "),
  };
}
