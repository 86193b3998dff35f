import type { Command } from "commander";
import type { CommandContext, Input, Output } from "./context.ts";
import {
  collect,
  limitText,
  readDuration,
  readLimit,
  readScope,
  readTime,
  readTimeOrNever,
  UNSET,
} from "./options.ts";

/** `keys create|list|set|rotate|disable|enable|delete` */
export function addKeyCommands(program: Command, cli: CommandContext): void {
  const keys = program.command("keys").description("gateway keys");
  addCreateCommand(keys, cli);
  addSetCommand(keys, cli);
  addRotateCommand(keys, cli);
  keys
    .command("list")
    .description("list keys")
    .option("--org <id>", "of this organization only")
    .option("--json", "print JSON")
    .action(async ({ org, json }: { org?: string; json?: boolean }) => {
      const keysFound = await cli.list("keys.list", { organizationId: org });
      cli.print(json, keysFound, keysFound.map(toRow));
    });
  addStateCommand(keys, cli, { name: "disable", description: "stop a key from being accepted" });
  addStateCommand(keys, cli, { name: "enable", description: "accept a disabled key again" });
  keys
    .command("delete")
    .description("delete a key for good; the ledger and the audit keep its id")
    .argument("<id>", "the key's id, as listed")
    .action(async (id: string) => {
      await cli.run("keys.remove", { id });
      cli.printLine(`Key ${id} is deleted.`);
    });
}

function addCreateCommand(keys: Command, cli: CommandContext): void {
  keys
    .command("create")
    .description("create a key and show its secret, this once")
    .requiredOption("--name <name>", "what it is for")
    .option("--org <id>", "organization", "default")
    .option("--scope <scope>", "ai:image, ai:llm or ai:* (repeatable; all when absent)", readScope)
    .option("--model <id>", "model it may call (repeatable; all of its organization when absent)", collect)
    .option("--address <cidr>", "address or network it may be used from (repeatable)", collect)
    .option("--limit <name=value>", "own limit, for example images_per_minute=10 (repeatable)", readLimit)
    .option("--expires <time>", "ISO date or time at which it ends", readTime)
    .option("--json", "print JSON")
    .action(async ({ org, expires, json, name, ...options }: CreateOptions) => {
      const { secret, key } = await cli.run("keys.create", {
        ...toFields(options),
        name,
        organizationId: org,
        expiresAt: expires,
      });
      if (json) return cli.print(true, { secret, key }, []);
      cli.printLine(`Key ${key.id} is created. Its secret is shown only now:\n\n  ${secret}\n`);
    });
}

function addSetCommand(keys: Command, cli: CommandContext): void {
  keys
    .command("set")
    .description("change a key; what is not named stays")
    .argument("<id>", "the key's id, as listed")
    .option("--name <name>", "what it is for")
    .option("--scope <scope>", "ai:image, ai:llm or ai:* (repeatable)", readScope)
    .option("--model <id>", 'model it may call (repeatable), or "*" for all of its organization', collect)
    .option("--address <cidr>", "address or network it may be used from (repeatable), or any", collect)
    .option("--limit <name=value>", "limit: a number, none or default (repeatable)", readLimit)
    .option("--expires <time|never>", "ISO date or time at which it ends", readTimeOrNever)
    .option("--json", "print JSON")
    .action(async (id: string, { expires, json, ...options }: SetOptions) => {
      const expiresAt = expires === UNSET ? null : expires;
      const key = await cli.run("keys.update", { id, ...toFields(options), expiresAt });
      cli.print(json, key, [toRow(key)]);
    });
}

function addRotateCommand(keys: Command, cli: CommandContext): void {
  keys
    .command("rotate")
    .description("give a key another secret and show it, this once")
    .argument("<id>", "the key's id, as listed")
    .option("--overlap <time>", "how long the old secret is accepted: 30m, 24h, 7d or 0", readDuration, 0)
    .option("--json", "print JSON")
    .action(async (id: string, { overlap, json }: { overlap: number; json?: boolean }) => {
      const { secret, key } = await cli.run("keys.rotate", { id, overlapMs: overlap });
      if (json) return cli.print(true, { secret, key }, []);
      const until = new Date(Date.now() + overlap).toISOString();
      const old =
        overlap === 0 ? "The old one is refused from now on" : `The old one is accepted until ${until}`;
      cli.printLine(`${old}. The new secret of ${key.id} is shown only now:\n\n  ${secret}\n`);
    });
}

function addStateCommand(
  keys: Command,
  cli: CommandContext,
  { name, description }: { name: "disable" | "enable"; description: string },
): void {
  keys
    .command(name)
    .description(description)
    .argument("<id>", "the key's id, as listed")
    .action(async (id: string) => {
      const key = await cli.run("keys.update", { id, isDisabled: name === "disable" });
      cli.printLine(`Key ${key.id} (${key.name}) is ${name}d.`);
    });
}

interface FieldOptions {
  name?: string;
  scope?: string[];
  model?: string[];
  address?: string[];
  limit?: Input<"keys.create">["limits"];
}

interface CreateOptions extends FieldOptions {
  org: string;
  name: string;
  expires?: number;
  json?: boolean;
}

interface SetOptions extends FieldOptions {
  expires?: number | typeof UNSET;
  json?: boolean;
}

function toFields({ name, scope, model, address, limit: limits }: FieldOptions) {
  const scopes = scope as Input<"keys.create">["scopes"];
  const models = model?.includes("*") ? ("*" as const) : model;
  const addresses = address?.includes("any") ? null : address;
  return { name, scopes, models, addresses, limits };
}

function toRow(key: Output<"keys.get">) {
  const isExpired = key.expiresAt !== null && Date.parse(key.expiresAt) <= Date.now();
  return {
    id: key.id,
    organization: key.organizationId,
    name: key.name,
    secret: `${key.prefix}…`,
    scopes: key.scopes.join(" "),
    models: key.models === "*" ? "all" : key.models.join(" "),
    addresses: key.addresses?.join(" ") ?? "any",
    limits: limitText(key.limits) || "default",
    state: key.isDisabled ? "disabled" : isExpired ? "expired" : "active",
    expires: key.expiresAt ?? "never",
    created: key.createdAt.slice(0, 10),
  };
}
