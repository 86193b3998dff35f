import type { Argument, Command, Option } from "commander";
import { buildProgram } from "./index.ts";
import type { CliContext } from "./context.ts";

const INTRODUCTION = `\`npm start -- <command>\` works on the local store: the database and the data folder that the configuration names. With
\`GATEWAY_URL=https://gateway.example.com\` and \`GATEWAY_TOKEN=ga_…\` in the environment, or with \`--url\` and \`--token\`, the same
commands work on that gateway over the [administrative interface](../build/administration.md), with what the token's role may
do. \`serve\`, \`worker\`, \`health\`, \`check\`, \`migrate\`, \`demo\`, \`backup\`, \`restore\` and \`ledger archive\`
concern the local machine alone.

\`--json\` prints JSON in place of a table. A command ends with 0 when it is done, with 1 when it was refused or has failed,
and with 2 when it was not understood.

\`completion\` prints what completes commands, options and their words in a shell: \`source <(gateway completion bash)\` in
\`~/.bashrc\`, \`source <(gateway completion zsh)\` in \`~/.zshrc\`, or \`gateway completion fish | source\` in fish's
\`config.fish\`.
`;

/** Returns the reference of commands as Markdown without its title. */
export function commandReference(): string {
  // No command is run here, so the commands need no context.
  const program = buildProgram({} as CliContext);
  const sections = program.commands.map((command) =>
    command.commands.length === 0
      ? `## \`${command.name()}\`\n\n${partsOf(command)}`
      : `## \`${command.name()}\`\n\n${sentence(command.description())}\n\n${command.commands.map((inner) => `### \`${usageOf(inner)}\`\n\n${partsOf(inner)}`).join("\n\n")}`,
  );
  return `${INTRODUCTION}
## For every command

${listOf(program.options.map(optionRow))}

${sections.join("\n\n")}
`;
}

function usageOf(command: Command): string {
  const names = command.registeredArguments.map(nameOf);
  return [command.parent?.name(), command.name(), ...names].filter(Boolean).join(" ");
}

function nameOf(argument: Argument): string {
  const name = argument.name() + (argument.variadic ? "..." : "");
  return argument.required ? `<${name}>` : `[${name}]`;
}

function partsOf(command: Command): string {
  const rows = [
    ...command.registeredArguments.map((argument): Row => [nameOf(argument), argument.description]),
    ...command.options.map(optionRow),
  ];
  return [sentence(command.description()), ...(rows.length > 0 ? [listOf(rows)] : [])].join("\n\n");
}

type Row = [name: string, meaning: string];

function optionRow({ flags, description, mandatory, defaultValue }: Option): Row {
  const isShown = defaultValue !== undefined && !Array.isArray(defaultValue);
  const notes = [...(mandatory ? ["required"] : []), ...(isShown ? [`default \`${defaultValue}\``] : [])];
  return [flags, notes.length > 0 ? `${description} (${notes.join(", ")})` : description];
}

function listOf(rows: readonly Row[]): string {
  return rows.map(([name, meaning]) => `- \`${name}\`: ${meaning}`).join("\n");
}

function sentence(description: string): string {
  return `${description.charAt(0).toUpperCase()}${description.slice(1)}.`;
}
