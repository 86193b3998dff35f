import type { Command } from "commander";
import { createKey, listKeys, updateKey } from "../admin/keys.ts";
import type { KeyRecord } from "../admin/ports.ts";
import type { CommandContext } from "./context.ts";
import { collect, readLimit, readScope, readTime } from "./options.ts";

/** `keys create|list|disable|enable` */
export function addKeyCommands(program: Command, cli: CommandContext): void {
  const keys = program.command("keys").description("gateway keys");
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
    .action(async (options: CreateOptions) => {
      const { secret, key } = await cli.administer((admin) =>
        createKey(admin, {
          organizationId: options.org,
          name: options.name,
          scopes: options.scope,
          models: options.model,
          addresses: options.address,
          limits: options.limit,
          expiresAt: options.expires,
        }),
      );
      if (options.json) return cli.print(true, { secret, key: toView(key) }, []);
      cli.printLine(`Key ${key.id} is created. Its secret is shown only now:\n\n  ${secret}\n`);
    });
  keys
    .command("list")
    .description("list keys")
    .option("--org <id>", "of this organization only")
    .option("--json", "print JSON")
    .action(async ({ org, json }: { org?: string; json?: boolean }) => {
      const records = await cli.administer((admin) => listKeys(admin, org));
      cli.print(json, records.map(toView), records.map(toRow));
    });
  keys
    .command("disable")
    .description("stop a key from being accepted")
    .argument("<id>", "the key's id, as listed")
    .action(async (id: string) => {
      const key = await cli.administer((admin) => updateKey(admin, id, { isDisabled: true }));
      cli.printLine(`Key ${key.id} (${key.name}) is disabled.`);
    });
  keys
    .command("enable")
    .description("accept a disabled key again")
    .argument("<id>", "the key's id, as listed")
    .action(async (id: string) => {
      const key = await cli.administer((admin) => updateKey(admin, id, { isDisabled: false }));
      cli.printLine(`Key ${key.id} (${key.name}) is enabled.`);
    });
}

interface CreateOptions {
  name: string;
  org: string;
  scope?: string[];
  model?: string[];
  address?: string[];
  limit?: object;
  expires?: number;
  json?: boolean;
}

function toView(key: KeyRecord): object {
  const { hash: _hash, ...shown } = key;
  return {
    ...shown,
    expiresAt: key.expiresAt === null ? null : new Date(key.expiresAt).toISOString(),
    createdAt: new Date(key.createdAt).toISOString(),
  };
}

function toRow(key: KeyRecord) {
  const isExpired = key.expiresAt !== null && key.expiresAt <= Date.now();
  return {
    id: key.id,
    organization: key.organizationId,
    name: key.name,
    secret: `${key.prefix}…`,
    scopes: key.scopes.join(" "),
    models: key.models === "*" ? "all" : key.models.join(" "),
    addresses: key.addresses?.join(" ") ?? "any",
    state: key.isDisabled ? "disabled" : isExpired ? "expired" : "active",
    created: new Date(key.createdAt).toISOString().slice(0, 10),
  };
}
