import { expect, test } from "bun:test";
import type { Command } from "commander";
import type { CliContext } from "./context.ts";
import { buildProgram } from "./index.ts";

test("no command has an option of the name of one for every command, which would take its value", () => {
  const program = buildProgram({} as CliContext);
  const namesOf = (command: Command) => command.options.flatMap(({ long, short }) => [long, short ?? long]);
  const common = new Set(namesOf(program));
  const commands = commandsWithin(program);
  expect(commands.length).toBeGreaterThan(40);
  for (const command of commands)
    expect([command.name(), namesOf(command).filter((name) => common.has(name))]).toEqual([
      command.name(),
      [],
    ]);
});

test("no option without a value has a reader, which would refuse the absent text", () => {
  const options = commandsWithin(buildProgram({} as CliContext)).flatMap((command) => command.options);
  const flags = options.filter((option) => option.isBoolean());
  expect(flags.length).toBeGreaterThan(20);
  expect(flags.filter((option) => option.parseArg !== undefined).map(({ flags: text }) => text)).toEqual([]);
});

function commandsWithin(command: Command): Command[] {
  return command.commands.flatMap((inner) => [inner, ...commandsWithin(inner)]);
}
