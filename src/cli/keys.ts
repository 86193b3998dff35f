import type { Command } from "commander";
import type { CommandContext, CommandOutput } from "./context.ts";
import { addList, addOperation } from "./operation-command.ts";
import { limitText, readTimeOrNever } from "./options.ts";
import { systemClock } from "../lib/clock.ts";

const ID = "<id>  the key's id, as listed";

export function addKeyCommands(program: Command, cli: CommandContext): void {
  const keys = program.command("keys").description("gateway keys");
  addOperation(keys, cli, ["create", "keys.create"], {
    description: "create a key and show its secret, this once",
    fields: {
      name: "--name <name>  what it is for",
      organizationId: { usage: "--org <id>  organization", default: "default" },
      scopes: "--scope <scope>  ai:image, ai:llm or ai:* (repeatable; all when absent)",
      models: "--model <id>  model it may call (repeatable; all of its organization when absent)",
      addresses: "--address <cidr>  address or network it may be used from (repeatable)",
      limits: "--limit <name=value>  own limit, for example images_per_minute=10 (repeatable)",
      refuseIgnored: "--refuse-ignored <on|off>  refuse fields that would have no effect",
      expiresAt: "--expires <time>  ISO date or time at which it ends",
    },
    json: (created) => created,
    line: ({ secret, key }) => `Key ${key.id} is created. Its secret is shown only now:\n\n  ${secret}\n`,
  });
  addOperation(keys, cli, ["set", "keys.update"], {
    description: "change a key; what is not named stays",
    fields: {
      id: ID,
      name: "--name <name>  what it is for",
      scopes: "--scope <scope>  ai:image, ai:llm or ai:* (repeatable)",
      models: '--model <id>  model it may call (repeatable), or "*" for all of its organization',
      addresses: "--address <cidr>  address or network it may be used from (repeatable), or any",
      limits: "--limit <name=value>  limit: a number, none or default (repeatable)",
      refuseIgnored: "--refuse-ignored <on|off>  refuse fields that would have no effect",
      expiresAt: {
        usage: "--expires <time|never>  ISO date or time at which it ends",
        read: readTimeOrNever,
      },
    },
    rows: (key) => [toRow(key)],
  });
  addOperation(keys, cli, ["rotate", "keys.rotate"], {
    description: "give a key another secret and show it, this once",
    fields: {
      id: ID,
      overlapMs: {
        usage: "--overlap <time>  how long the old secret is accepted: 30m, 24h, 7d or 0",
        default: 0,
      },
    },
    json: (rotated) => rotated,
    line({ secret, key }, { overlapMs }) {
      const until = new Date(systemClock.now() + overlapMs).toISOString();
      const old =
        overlapMs === 0 ? "The old one is refused from now on" : `The old one is accepted until ${until}`;
      return `${old}. The new secret of ${key.id} is shown only now:\n\n  ${secret}\n`;
    },
  });
  addUseCommands(keys, cli);
}

function addUseCommands(keys: Command, cli: CommandContext): void {
  addList(keys, cli, ["list", "keys.list"], {
    description: "list keys",
    fields: { organizationId: "--org <id>  of this organization only" },
    row: toRow,
  });
  addOperation(keys, cli, ["disable", "keys.update"], {
    description: "stop a key from being accepted",
    fields: { id: ID },
    input: (given) => ({ ...given, isDisabled: true }),
    line: ({ id, name }) => `Key ${id} (${name}) is disabled.`,
  });
  addOperation(keys, cli, ["enable", "keys.update"], {
    description: "accept a disabled key again",
    fields: { id: ID },
    input: (given) => ({ ...given, isDisabled: false }),
    line: ({ id, name }) => `Key ${id} (${name}) is enabled.`,
  });
  addOperation(keys, cli, ["delete", "keys.remove"], {
    description: "delete a key for good; the ledger and the audit keep its id",
    fields: { id: ID },
    line: (_, { id }) => `Key ${id} is deleted.`,
  });
}

function toRow(key: CommandOutput<"keys.get">) {
  const isExpired = key.expiresAt !== null && Date.parse(key.expiresAt) <= systemClock.now();
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
    "without effect": key.refuseIgnored ? "refused" : "named",
  };
}
