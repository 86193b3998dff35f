import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSpool, type Spool } from "../../src/lib/spool.ts";

const directory = mkdtempSync(join(tmpdir(), "gateway-spool-"));

/** A spool for tests that only read what comes out of it; its files go when the tests end. */
export const testSpool: Spool = createSpool(directory);

process.on("exit", () => rmSync(directory, { recursive: true, force: true }));
