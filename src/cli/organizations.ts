import type { Command } from "commander";
import type { CommandContext, Output } from "./context.ts";
import { addList, addOperation } from "./operation-command.ts";
import {
  limitText,
  readChannelOrNext,
  readDaysOrOff,
  readHoursOrDefault,
  collectOrAll,
  readSecondsOrOff,
  readThreeState,
} from "./options.ts";

const ID = { flags: "<id>", text: "organization" };

/** `orgs list|show|enable-model|disable-model|create|set` */
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
      models: { flags: "<models...>", text: 'model ids, or "*" for all', read: collectOrAll },
    },
    line: mayCall,
  });
  addOperation(organizations, cli, ["disable-model", "organizations.disableModels"], {
    description: "stop an organization from calling models",
    fields: { id: ID, models: { flags: "<models...>", text: "model ids" } },
    line: mayCall,
  });
  addOperation(organizations, cli, ["create", "organizations.create"], {
    description: "create an organization that may call every model",
    fields: {
      name: { flags: "--name <name>", text: "its name" },
      id: { flags: "--id <id>", text: "its id; made up when absent" },
      currency: { flags: "--currency <code>", text: "ISO 4217 code of its bills" },
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
      name: { flags: "--name <name>", text: "its name" },
      isDisabled: { flags: "--disabled <on|off>", text: "whether its keys are refused" },
      "settings.forceImageUrls": {
        flags: "--force-image-urls <on|off|unset>",
        text: "Force image responses to use URLs",
        read: readThreeState,
      },
      "settings.nativeImageUrls": {
        flags: "--native-image-urls <on|off>",
        text: "images of the native protocol as links",
      },
      "settings.fallbackAfterMs": {
        flags: "--fallback-after <seconds|off>",
        text: "Cancel on timeout and use fallback",
        read: readSecondsOrOff,
      },
      "settings.fallbackChannel": {
        flags: "--fallback-channel <id|next>",
        text: "channel of that fallback; next is the route's next target",
        read: readChannelOrNext,
      },
      "settings.promptLogDays": {
        flags: "--prompt-log-days <days|off>",
        text: "how long prompts and replies are kept to be read",
        read: readDaysOrOff,
      },
      "settings.linkHours": {
        flags: "--link-hours <hours|default>",
        text: "how long links to its pictures are valid",
        read: readHoursOrDefault,
      },
      "settings.callerGone": {
        flags: "--caller-gone <abort|drain>",
        text: "what becomes of a call whose caller hangs up",
      },
      "settings.failOverRefusals": {
        flags: "--fail-over-refusals <on|off>",
        text: "try the next target after a content refusal",
      },
      limits: { flags: "--limit <name=value>", text: "limit: a number, none or default (repeatable)" },
    },
    rows: toFacts,
  });
}

type OrganizationView = Output<"organizations.get">;

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
    "force-image-urls": settings.forceImageUrls === null ? "unset" : switchWord(settings.forceImageUrls),
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
