import type { Command } from "commander";
import type { CommandContext, CommandOutput } from "./context.ts";
import { addList, addOperation, type FieldOptions } from "./operation-command.ts";
import { UNSET } from "./options.ts";
import { readSecret, readSource, SOURCES } from "./secret-source.ts";
import { countText } from "../lib/count-text.ts";

const ID = "<id>  the channel's id";

export function addChannelCommands(program: Command, cli: CommandContext): void {
  const channels = program.command("channels").description("ways to vendors");
  addList(channels, cli, ["list", "channels.list"], {
    description: "list the channels of the file, the environment, the database and the catalogue",
    row: toRow,
  });
  addOperation(channels, cli, ["add", "channels.create"], {
    description: "add a channel to the database, its credential encrypted",
    fields: {
      provider: "<provider>  name of the provider",
      id: "--id <id>  its id, by default that of the provider's shipped channel",
      ...CHANNEL_FIELDS,
    },
    async input(given) {
      if (given.id === undefined) await requireNone(given.provider, cli);
      return await withCredential(given, cli);
    },
    rows: (channel) => [toRow(channel)],
  });
  addOperation(channels, cli, ["set", "channels.update"], {
    description: "change a channel of the database; what is not named stays as it is",
    fields: { id: ID, ...CHANNEL_FIELDS },
    async input(given) {
      if (Object.keys(given).length === 1)
        throw new Error("name what to change, such as --credential env:NAME");
      return await withCredential(given, cli);
    },
    rows: (channel) => [toRow(channel)],
  });
  addOperation(channels, cli, ["remove", "channels.remove"], {
    description: "remove a channel of the database",
    fields: { id: ID, force: "--force  even if routes name it" },
    line: (_, { id }) => `Channel ${id} is removed.`,
  });
  addVendorCommands(channels, cli);
  addOperation(channels, cli, ["reseal", "configuration.reseal"], {
    description:
      "encrypt stored credentials and secrets of TOTP with the present master key, after it was changed",
    json: (result) => result,
    line: ({ resealed }) => `Sealed ${countText(resealed, "secret")} anew.`,
    failure({ failed }) {
      const names = failed.map(({ kind, id, field }) => `${kind} ${id}: ${field}`);
      return names.length === 0
        ? null
        : `no key opens ${names.join(", ")}: set the earlier master key as GATEWAY_MASTER_KEY_PREVIOUS and run it again, or set the secrets anew`;
    },
  });
}

/** Adds the commands that call a vendor. */
function addVendorCommands(channels: Command, cli: CommandContext): void {
  addOperation(channels, cli, ["test", "channels.test"], {
    description: "call the vendor once to prove a channel's address and credential",
    fields: { id: ID },
    json: (result) => result,
    line: ({ ok, ms, message }) => `${ok ? "ok" : "failed"} (${ms} ms): ${message}`,
    failure: ({ ok }, { id }) => (ok ? null : `the channel "${id}" has failed its test`),
  });
  addOperation(channels, cli, ["models", "channels.models"], {
    description: "ask the vendor of a channel for the models that it offers",
    fields: { id: ID },
    rows: ({ models }) => models?.map((model) => ({ model })) ?? null,
    json: (result) => result,
    failure: ({ models, message }) => (models ? null : message),
  });
}

const CHANNEL_FIELDS = {
  baseUrl: "--base-url <address>  address of the vendor, by default the provider's own",
  credential: {
    usage: `--credential <source>  where to read the credential from: ${SOURCES}, or none`,
    read: (source) => (source === "none" ? UNSET : readSource(source)),
  },
  region: "--region <name>  region of the vendor",
  settings: "--setting <name=value>  setting of the provider (repeatable)",
  maxConcurrent: "--max-concurrent <n>  maximum number of concurrent calls from one process",
  isOwnServer: "--own-server  it is a server of your own",
} satisfies FieldOptions<"channels.create" | "channels.update">;

/** Reads the secret from its source. Returns the input with the secret as `credential`. */
async function withCredential<Given extends { credential?: string | null }>(
  given: Given,
  { context }: CommandContext,
): Promise<Given> {
  const { credential: source } = given;
  return source ? { ...given, credential: await readSecret(source, context.env) } : given;
}

/**
 * Throws when the database already has a channel of the provider. A second channel would get another id, which no route
 * uses, and the first channel would keep its old credential.
 */
async function requireNone(provider: string, cli: CommandContext): Promise<void> {
  const { data: all } = await cli.run("channels.list", {});
  const known = all.find((channel) => channel.provider === provider && channel.origin === "database");
  if (!known) return;
  throw new Error(
    `the channel "${known.id}" exists: change it by \`channels set ${known.id}\`, or add another by --id`,
  );
}

function toRow({
  id,
  provider,
  origin,
  baseUrl,
  credentialEnd,
  hasCredential,
  problems,
}: CommandOutput<"channels.create">) {
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
