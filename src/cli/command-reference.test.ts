import { expect, test } from "bun:test";
import { COMMAND_REFERENCE_PATH, commandReference } from "./command-reference.ts";

test("the reference of commands is up to date: run `bun src/cli/command-reference.ts` when this fails", async () => {
  expect(await Bun.file(COMMAND_REFERENCE_PATH).text()).toBe(commandReference());
});
