import { Option, type Command } from "commander";
import { ROLES, type Role } from "../admin/roles.ts";
import type { CommandContext, Output } from "./context.ts";
import { collect } from "./options.ts";

/** `members create|list|set|reset-password|sign-out|remove` */
export function addMemberCommands(program: Command, cli: CommandContext): void {
  const members = program.command("members").description("who administers, in the console and by tokens");
  addCreateCommand(members, cli);
  addSetCommand(members, cli);
  members
    .command("list")
    .description("list members")
    .option("--json", "print JSON")
    .action(async ({ json }: { json?: boolean }) => {
      const found = await cli.list("members.list", {});
      cli.print(json, found, found.map(toRow));
    });
  members
    .command("reset-password")
    .description("give a member a password and show it, this once; it has to be changed")
    .argument("<member>", "the member's id or name")
    .action(async (named: string) => {
      const { member, password } = await cli.run("members.resetPassword", { id: await idOf(cli, named) });
      printPassword(cli, member.name, password);
    });
  members
    .command("sign-out")
    .description("end all sessions of a member")
    .argument("<member>", "the member's id or name")
    .action(async (named: string) => {
      const { sessions } = await cli.run("members.signOut", { id: await idOf(cli, named) });
      cli.printLine(`${sessions} sessions of ${named} ended.`);
    });
  members
    .command("remove")
    .description("remove a member with its sessions and tokens")
    .argument("<member>", "the member's id or name")
    .action(async (named: string) => {
      await cli.run("members.remove", { id: await idOf(cli, named) });
      cli.printLine(`Member ${named} is removed.`);
    });
}

const roleOption = () => new Option("--role <role>", "what the member may do").choices(ROLES);

function addCreateCommand(members: Command, cli: CommandContext): void {
  members
    .command("create")
    .description("create a member and show its first password, this once")
    .requiredOption("--name <name>", "what the member signs in with")
    .addOption(roleOption().makeOptionMandatory())
    .option("--org <id>", "organization (repeatable; all when absent)", collect)
    .option("--email <address>", "by which an identity provider's account is recognized")
    .option("--no-password", "without a password: for the identity provider alone")
    .option("--json", "print JSON")
    .action(async ({ name, role, org, email, password: hasPassword, json }: CreateOptions) => {
      const input = { name, role, organizations: org ?? ("*" as const), email };
      const { member, password } = await cli.run("members.create", {
        ...input,
        ...(!hasPassword && { password: null }),
      });
      if (json) cli.print(true, { member, password }, []);
      else if (password === null) cli.printLine(`Member ${member.id} is created.`);
      else printPassword(cli, member.name, password);
    });
}

interface CreateOptions {
  name: string;
  role: Role;
  org?: string[];
  email?: string;
  password: boolean;
  json?: boolean;
}

function addSetCommand(members: Command, cli: CommandContext): void {
  members
    .command("set")
    .description("change a member; changed rights end its sessions")
    .argument("<member>", "the member's id or name")
    .addOption(roleOption())
    .option("--org <id>", "organization (repeatable); * is all", collect)
    .option("--email <address>", "by which an identity provider's account is recognized")
    .option("--disable", "refuse the member")
    .option("--enable", "accept a disabled member again")
    .option("--no-totp", "ask for no code of an authenticator any more")
    .action(async (named: string, { role, org, email, disable, enable, totp }: SetOptions) => {
      const { name } = await cli.run("members.update", {
        id: await idOf(cli, named),
        role,
        email,
        organizations: org?.includes("*") ? "*" : org,
        isDisabled: disable ? true : enable ? false : undefined,
        isTotpOn: totp ? undefined : false,
      });
      cli.printLine(`Member ${name} is changed.`);
    });
}

interface SetOptions {
  role?: Role;
  org?: string[];
  email?: string;
  disable?: boolean;
  enable?: boolean;
  totp: boolean;
}

/** The id of a member who is named by it or by the name for signing in; an unknown one is returned as it is. */
async function idOf(cli: CommandContext, named: string): Promise<string> {
  const members = await cli.list("members.list", {});
  return members.find(({ id, name }) => id === named || name === named)?.id ?? named;
}

function printPassword(cli: CommandContext, name: string, password: string): void {
  cli.printLine(`The password of ${name} is shown only now and has to be changed:\n\n  ${password}\n`);
}

function toRow({ id, name, role, organizations, ...member }: Output<"members.get">) {
  return {
    id,
    name,
    role,
    organizations: organizations === "*" ? "all" : organizations.join(" "),
    totp: member.isTotpOn ? "on" : "off",
    state: member.isDisabled ? "disabled" : "enabled",
    seen: member.lastSeenAt ?? "never",
  };
}
