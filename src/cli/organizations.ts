import type { Command } from "commander";
import type { CommandContext, Input, Output } from "./context.ts";
import {
  limitText,
  readLimit,
  readDaysOrOff,
  readHoursOrDefault,
  readSecondsOrOff,
  readSwitch,
  readThreeState,
  readWord,
  UNSET,
} from "./options.ts";

/** `orgs create|list|show|enable-model|disable-model|set` */
export function addOrganizationCommands(program: Command, cli: CommandContext): void {
  const organizations = program
    .command("orgs")
    .description("organizations, their models, settings and limits");
  addReadingCommands(organizations, cli);
  addModelCommands(organizations, cli);
  organizations
    .command("create")
    .description("create an organization that may call every model")
    .requiredOption("--name <name>", "its name")
    .option("--id <id>", "its id; made up when absent")
    .option("--currency <code>", "ISO 4217 code of its bills", "USD")
    .option("--json", "print JSON")
    .action(async ({ json, ...fields }: { json?: boolean; name: string; id?: string; currency: string }) => {
      const organization = await cli.run("organizations.create", fields);
      if (json) return cli.print(true, organization, []);
      cli.printLine(`Organization ${organization.id} is created.`);
    });
  organizations
    .command("set")
    .description("change settings and limits; what is not named stays")
    .argument("<id>", "organization")
    .option("--name <name>", "its name")
    .option("--disabled <on|off>", "whether its keys are refused", readSwitch)
    .option("--force-image-urls <on|off|unset>", "Force image responses to use URLs", readThreeState)
    .option("--native-image-urls <on|off>", "images of the native protocol as links", readSwitch)
    .option("--fallback-after <seconds|off>", "Cancel on timeout and use fallback", readSecondsOrOff)
    .option("--fallback-channel <id|next>", "channel of that fallback; next is the route's next target")
    .option("--prompt-log-days <days|off>", "how long prompts and replies are kept to be read", readDaysOrOff)
    .option("--link-hours <hours|default>", "how long links to its pictures are valid", readHoursOrDefault)
    .option(
      "--caller-gone <abort|drain>",
      "what becomes of a call whose caller hangs up",
      readWord("abort", "drain"),
    )
    .option("--fail-over-refusals <on|off>", "try the next target after a content refusal", readSwitch)
    .option("--limit <name=value>", "limit: a number, none or default (repeatable)", readLimit)
    .option("--json", "print JSON")
    .action(async (id: string, options: SetOptions) => {
      const organization = await cli.run("organizations.update", {
        id,
        name: options.name,
        isDisabled: options.disabled,
        limits: options.limit,
        settings: toSettings(options),
      });
      cli.print(options.json, organization, toFacts(organization));
    });
}

type OrganizationView = Output<"organizations.get">;

interface SetOptions {
  name?: string;
  disabled?: boolean;
  forceImageUrls?: boolean | typeof UNSET;
  nativeImageUrls?: boolean;
  fallbackAfter?: number | typeof UNSET;
  fallbackChannel?: string;
  linkHours?: number | typeof UNSET;
  callerGone?: string;
  failOverRefusals?: boolean;
  promptLogDays?: number | typeof UNSET;
  limit?: Input<"organizations.update">["limits"];
  json?: boolean;
}

function addReadingCommands(organizations: Command, cli: CommandContext): void {
  organizations
    .command("list")
    .description("list organizations")
    .option("--json", "print JSON")
    .action(async ({ json }: { json?: boolean }) => {
      const found = await cli.list("organizations.list", {});
      cli.print(json, found, found.map(toRow));
    });
  organizations
    .command("show")
    .description("show everything about an organization")
    .argument("<id>", "organization")
    .option("--json", "print JSON")
    .action(async (id: string, { json }: { json?: boolean }) => {
      const organization = await cli.run("organizations.get", { id });
      cli.print(json, organization, toFacts(organization));
    });
}

function addModelCommands(organizations: Command, cli: CommandContext): void {
  organizations
    .command("enable-model")
    .description("let an organization call models")
    .argument("<id>", "organization")
    .argument("<models...>", 'model ids, or "*" for all')
    .action(async (id: string, models: string[]) => {
      const enabled = models.includes("*") ? ("*" as const) : models;
      printModels(cli, await cli.run("organizations.enableModels", { id, models: enabled }));
    });
  organizations
    .command("disable-model")
    .description("stop an organization from calling models")
    .argument("<id>", "organization")
    .argument("<models...>", "model ids")
    .action(async (id: string, models: string[]) => {
      printModels(cli, await cli.run("organizations.disableModels", { id, models }));
    });
}

function printModels(cli: CommandContext, { id, models }: OrganizationView): void {
  cli.printLine(`Organization ${id} may call ${modelsText(models)}.`);
}

function modelsText(models: OrganizationView["models"]): string {
  if (models === "*") return "every model";
  if (!Array.isArray(models)) return `every model but ${models.except.join(", ")}`;
  return models.join(", ") || "no model";
}

function toSettings(options: SetOptions): Input<"organizations.update">["settings"] {
  const settings = {
    forceImageUrls: options.forceImageUrls,
    nativeImageUrls: options.nativeImageUrls,
    fallbackAfterMs: options.fallbackAfter,
    fallbackChannel: options.fallbackChannel === "next" ? UNSET : options.fallbackChannel,
    linkHours: options.linkHours,
    callerGone: options.callerGone,
    failOverRefusals: options.failOverRefusals,
    promptLogDays: options.promptLogDays,
  };
  const named = Object.entries(settings).filter(([, value]) => value !== undefined);
  return Object.fromEntries(named.map(([name, value]) => [name, value === UNSET ? null : value]));
}

function toRow(organization: OrganizationView) {
  return {
    id: organization.id,
    name: organization.name,
    currency: organization.currency,
    models: modelsText(organization.models),
    routes: String(Object.keys(organization.routes).length),
    state: organization.isDisabled ? "disabled" : "active",
    created: organization.createdAt.slice(0, 10),
  };
}

/** Every property, by the name and in the unit of the option that sets it. */
function toFacts(organization: OrganizationView) {
  const { settings, limits, models, routes } = organization;
  const facts = {
    id: organization.id,
    name: organization.name,
    currency: organization.currency,
    created: organization.createdAt.slice(0, 10),
    disabled: switchWord(organization.isDisabled),
    models: modelsText(models),
    "own routes": Object.keys(routes).join(" ") || "none",
    "force-image-urls": settings.forceImageUrls === null ? UNSET : switchWord(settings.forceImageUrls),
    "native-image-urls": switchWord(settings.nativeImageUrls),
    "fallback-after": settings.fallbackAfterMs === null ? "off" : String(settings.fallbackAfterMs / 1000),
    "fallback-channel": settings.fallbackChannel ?? "next",
    "link-hours": settings.linkHours === null ? "default" : String(settings.linkHours),
    "caller-gone": settings.callerGone,
    "fail-over-refusals": switchWord(settings.failOverRefusals),
    "prompt-log-days": settings.promptLogDays === null ? "off" : String(settings.promptLogDays),
    limit: limitText(limits) || "default",
  };
  return Object.entries(facts).map(([fact, value]) => ({ fact, value }));
}

function switchWord(isOn: boolean): string {
  return isOn ? "on" : "off";
}
