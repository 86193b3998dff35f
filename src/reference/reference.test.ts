import { expect, test } from "bun:test";
import { join } from "node:path";
import { PROGRAM_ROOT } from "../lib/program-files.ts";
import { referenceFiles } from "./index.ts";

test.each([...(await referenceFiles())])(
  "%s is up to date: `npm run reference` writes it",
  async (path, text) => {
    expect(await Bun.file(join(PROGRAM_ROOT, path)).text()).toBe(text);
  },
);
