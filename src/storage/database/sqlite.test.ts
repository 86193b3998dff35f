import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "./open.ts";

test("a damaged file is named, with what to do", async () => {
  const folder = mkdtempSync(join(tmpdir(), "gateway-sqlite-"));
  const path = join(folder, "gateway.sqlite");
  writeFileSync(path, "x".repeat(8192));
  try {
    await expect(openDatabase(path)).rejects.toThrow(
      `the database ${path} cannot be opened (SQLITE_NOTADB): it is damaged; stop the gateway and put a backup in its place by npm start -- restore FILE --force`,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});
