import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSpool, sweepSpool, type Spool } from "../../src/lib/spool.ts";

const directory = join(tmpdir(), "gateway-test-spool");
await sweepSpool(directory);

/** A spool for tests that need only its files. A later test process removes the files at its start. */
export const testSpool: Spool = createSpool(directory);
