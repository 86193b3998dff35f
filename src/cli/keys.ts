import type { Command } from "commander";
import type { CommandContext, Output } from "./context.ts";
import { addList, addOperation } from "./operation-command.ts";
import { limitText, readAddress, readDuration, collectOrAll, readScope, readTimeOrNever } from "./options.ts";

const ID = { flags: "<id>", text: "the key's id, as listed" };

/** `keys create|set|rotate|list|disable|enable|delete` */
export function addKeyCommands(program: Command, cli: CommandContext): void {
  const keys = program.command("keys").description("gateway keys");
  addOperation(keys, cli, ["create", "keys.create"], {
    description: "create a key and show its secret, this once",
    fields: {
      name: { flags: "--name <name>", text: "what it is for" },
      organizationId: { flags: "--org <id>", text: "organization", default: "default" },
      scopes: {
        flags: "--scope <scope>",
        text: "ai:image, ai:llm or ai:* (repeatable; all when absent)",
        read: readScope,
      },
      models: {
        flags: "--model <id>",
        text: "model it may call (repeatable; all of its organization when absent)",
        read: collectOrAll,
      },
      addresses: {
        flags: "--address <cidr>",
        text: "address or network it may be used from (repeatable)",
        read: readAddress,
      },
      limits: {
        flags: "--limit <name=value>",
        text: "own limit, for example images_per_minute=10 (repeatable)",
      },
      expiresAt: { flags: "--expires <time>", text: "ISO date or time at which it ends" },
    },
    json: (created) => created,
    line: ({ secret, key }) => `Key ${key.id} is created. Its secret is shown only now:\n\n  ${secret}\n`,
  });
  addOperation(keys, cli, ["set", "keys.update"], {
    description: "change a key; what is not named stays",
    fields: {
      id: ID,
      name: { flags: "--name <name>", text: "what it is for" },
      scopes: { flags: "--scope <scope>", text: "ai:image, ai:llm or ai:* (repeatable)", read: readScope },
      models: {
        flags: "--model <id>",
        text: 'model it may call (repeatable), or "*" for all of its organization',
        read: collectOrAll,
      },
      addresses: {
        flags: "--address <cidr>",
        text: "address or network it may be used from (repeatable), or any",
        read: readAddress,
      },
      limits: { flags: "--limit <name=value>", text: "limit: a number, none or default (repeatable)" },
      expiresAt: {
        flags: "--expires <time|never>",
        text: "ISO date or time at which it ends",
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
        flags: "--overlap <time>",
        text: "how long the old secret is accepted: 30m, 24h, 7d or 0",
        default: 0,
        read: readDuration,
      },
    },
    json: (rotated) => rotated,
    line({ secret, key }, { overlapMs }) {
      const until = new Date(Date.now() + overlapMs).toISOString();
      const old =
        overlapMs === 0 ? "The old one is refused from now on" : `The old one is accepted until ${until}`;
      return `${old}. The new secret of ${key.id} is shown only now:\n\n  ${secret}\n`;
    },
  });
  addList(keys, cli, ["list", "keys.list"], {
    description: "list keys",
    fields: { organizationId: { flags: "--org <id>", text: "of this organization only" } },
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
