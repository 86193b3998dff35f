import type { Command } from "commander";
import type { CommandContext, CommandOutput } from "./context.ts";
import { addList, addOperation } from "./operation-command.ts";
import { collect, limitText } from "./options.ts";
import { countText } from "../lib/count-text.ts";

const ID = "<id>  organization";

export function addOrganizationCommands(program: Command, cli: CommandContext): void {
  const organizations = program
    .command("orgs")
    .description("organizations, their models, settings and limits");
  addList(organizations, cli, ["list", "organizations.list"], {
    description: "list organizations",
    row: toRow,
  });
  addOperation(organizations, cli, ["show", "organizations.get"], {
    description: "show everything about an organization",
    fields: { id: ID },
    rows: toFacts,
  });
  addOperation(organizations, cli, ["enable-model", "organizations.enableModels"], {
    description: "let an organization call models",
    fields: {
      id: ID,
      models: '<models...>  model ids, or "*" for all',
    },
    line: mayCall,
  });
  addOperation(organizations, cli, ["disable-model", "organizations.disableModels"], {
    description: "stop an organization from calling models",
    fields: { id: ID, models: { usage: "<models...>  model ids", read: collect } },
    line: mayCall,
  });
  addOperation(organizations, cli, ["create", "organizations.create"], {
    description: "create an organization that may call every model",
    fields: {
      name: "--name <name>  its name",
      id: "--id <id>  its id; made up when absent",
      currency: "--currency <code>  ISO 4217 code of its bills",
    },
    json: (organization) => organization,
    line: ({ id }) => `Organization ${id} is created.`,
  });
  addSetCommand(organizations, cli);
}

function addSetCommand(organizations: Command, cli: CommandContext): void {
  addOperation(organizations, cli, ["set", "organizations.update"], {
    description: "change settings and limits; what is not named stays",
    fields: {
      id: ID,
      name: "--name <name>  its name",
      isDisabled: "--disabled <on|off>  whether its keys are refused",
      "settings.forceImageUrls": "--force-image-urls <on|off|unset>  Force image responses to use URLs",
      "settings.nativeImageUrls": "--native-image-urls <on|off>  images of the native protocol as links",
      "settings.fallbackAfterMs": "--fallback-after <seconds|off>  Cancel on timeout and use fallback",
      "settings.fallbackChannel":
        "--fallback-channel <id|next>  channel of that fallback; next is the route's next target",
      "settings.promptLogDays":
        "--prompt-log-days <days|off>  how long prompts and replies are kept to be read",
      "settings.linkHours": "--link-hours <hours|default>  how long links to its pictures are valid",
      "settings.callerGone": "--caller-gone <abort|drain>  what becomes of a call whose caller hangs up",
      "settings.failOverRefusals":
        "--fail-over-refusals <on|off>  try the next target after a content refusal",
      "settings.refuseIgnored": "--refuse-ignored <on|off>  refuse fields that would have no effect",
      limits: "--limit <name=value>  limit: a number, none or default (repeatable)",
    },
    rows: toFacts,
  });
}

export function addPromptCommands(program: Command, cli: CommandContext): void {
  const prompts = program.command("prompts").description("prompts and replies that organizations have kept");
  addOperation(prompts, cli, ["delete", "prompts.remove"], {
    description: "delete what is kept of an organization: all of it, or what meets each condition",
    fields: {
      organizationId: "--org <id>  organization",
      id: "--request <id>  of this request only; its id in the ledger",
      keyId: "--key <id>  of this key only, which may be deleted",
      before: "--before <time>  of requests before this ISO date or time only",
    },
    json: (result) => result,
    line: ({ removed }) => `Deleted prompts and replies of ${countText(removed, "request")}.`,
  });
}

type OrganizationView = CommandOutput<"organizations.get">;

function mayCall({ id, models }: OrganizationView): string {
  return `Organization ${id} may call ${modelsText(models)}.`;
}

function modelsText(models: OrganizationView["models"]): string {
  if (models === "*") return "every model";
  if (!Array.isArray(models)) return `every model but ${models.except.join(", ")}`;
  return models.join(", ") || "no model";
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

/** Returns the properties. A property that an option sets has the name and unit of the option. */
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
    "force-image-urls": settings.forceImageUrls === null ? "unset" : switchWord(settings.forceImageUrls),
    "native-image-urls": switchWord(settings.nativeImageUrls),
    "fallback-after": settings.fallbackAfterMs === null ? "off" : String(settings.fallbackAfterMs / 1000),
    "fallback-channel": settings.fallbackChannel ?? "next",
    "link-hours": settings.linkHours === null ? "default" : String(settings.linkHours),
    "caller-gone": settings.callerGone,
    "fail-over-refusals": switchWord(settings.failOverRefusals),
    "refuse-ignored": switchWord(settings.refuseIgnored),
    "prompt-log-days": settings.promptLogDays === null ? "off" : String(settings.promptLogDays),
    limit: limitText(limits) || "default",
  };
  return Object.entries(facts).map(([fact, value]) => ({ fact, value }));
}

function switchWord(isOn: boolean): string {
  return isOn ? "on" : "off";
}
