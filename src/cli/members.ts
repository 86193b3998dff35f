import type { Command } from "commander";
import { ROLES } from "../admin/roles.ts";
import type { CommandContext } from "./context.ts";
import { addList, addOperation } from "./operation-command.ts";
import { collect } from "./options.ts";
import { countText } from "../lib/count-text.ts";

const MEMBER = "<member>  the member's id or name";

export function addMemberCommands(program: Command, cli: CommandContext): void {
  const members = program.command("members").description("who administers, in the console and by tokens");
  addCreateCommand(members, cli);
  addSetCommand(members, cli);
  addList(members, cli, ["list", "members.list"], {
    description: "list members",
    row: ({ id, name, role, organizations, ...member }) => ({
      id,
      name,
      role,
      organizations: organizations === "*" ? "all" : organizations.join(" "),
      totp: member.isTotpOn ? "on" : "off",
      state: member.isDisabled ? "disabled" : "enabled",
      seen: member.lastSeenAt ?? "never",
    }),
  });
  addOperation(members, cli, ["reset-password", "members.resetPassword"], {
    description: "give a member a password and show it, this once; it has to be changed",
    fields: { id: MEMBER },
    input: (given) => withId(cli, given),
    line: ({ member, password }) => passwordText(member.name, password),
  });
  addOperation(members, cli, ["sign-out", "members.signOut"], {
    description: "end all sessions of a member",
    fields: { id: MEMBER },
    input: (given) => withId(cli, given),
    line: ({ sessions }, { id: named }) => `${countText(sessions, "session")} of ${named} ended.`,
  });
  addOperation(members, cli, ["remove", "members.remove"], {
    description: "remove a member with its sessions and tokens",
    fields: { id: MEMBER },
    input: (given) => withId(cli, given),
    line: (_, { id: named }) => `Member ${named} is removed.`,
  });
}

const ROLE = { usage: "--role <role>  what the member may do", choices: ROLES };
const EMAIL = "--email <address>  by which an identity provider's account is recognized";

function addCreateCommand(members: Command, cli: CommandContext): void {
  addOperation(members, cli, ["create", "members.create"], {
    description: "create a member and show its first password, this once",
    fields: {
      name: "--name <name>  what the member signs in with",
      role: ROLE,
      organizations: {
        usage: "--org <id>  organization (repeatable; all when absent)",
        isRequired: false,
        read: collect,
      },
      email: EMAIL,
    },
    options: { "--no-password": "without a password: for the identity provider alone" },
    input: (given, { password }) => ({
      ...given,
      organizations: given.organizations ?? "*",
      ...(password === false && { password: null }),
    }),
    json: (created) => created,
    line: ({ member, password }) =>
      password === null ? `Member ${member.id} is created.` : passwordText(member.name, password),
  });
}

function addSetCommand(members: Command, cli: CommandContext): void {
  addOperation(members, cli, ["set", "members.update"], {
    description: "change a member; changed rights end its sessions",
    fields: {
      id: MEMBER,
      role: ROLE,
      organizations: "--org <id>  organization (repeatable); * is all",
      email: EMAIL,
    },
    options: {
      "--disable": "refuse the member",
      "--enable": "accept a disabled member again",
      "--no-totp": "ask for no code of an authenticator any more",
    },
    input: async (given, { disable, enable, totp }) => ({
      ...(await withId(cli, given)),
      ...(disable === true ? { isDisabled: true } : enable === true && { isDisabled: false }),
      ...(totp === false && { isTotpOn: false }),
    }),
    line: ({ name }) => `Member ${name} is changed.`,
  });
}

/** Replaces the name of a member by the member's id. Any other text stays unchanged. */
async function withId<Fields extends { id: string }>(cli: CommandContext, given: Fields): Promise<Fields> {
  const members = await cli.list("members.list", {});
  const known = members.find(({ id, name }) => id === given.id || name === given.id);
  return { ...given, id: known?.id ?? given.id };
}

function passwordText(name: string, password: string): string {
  return `The password of ${name} is shown only now and has to be changed:\n\n  ${password}\n`;
}
