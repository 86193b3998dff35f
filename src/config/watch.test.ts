import { expect, test } from "bun:test";
import { mkdtemp, rename, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileVersion, watchFile } from "./watch.ts";

test("a file that is rewritten, replaced by a link or removed is noticed once each, and touching it is not", async () => {
  const directory = await mkdtemp(join(tmpdir(), "gateway-watch-"));
  const path = join(directory, "gateway.yaml");
  await Bun.write(path, "a");
  let changes = 0;
  let noticed = Promise.withResolvers<void>();
  const work = watchFile(
    path,
    await fileVersion(path),
    async () => {
      changes += 1;
      noticed.resolve();
    },
    (error) => noticed.reject(error),
  );
  const notice = async (change: () => Promise<unknown>): Promise<void> => {
    noticed = Promise.withResolvers<void>();
    await change();
    await noticed.promise;
  };
  try {
    await notice(() => Bun.write(path, "b"));
    await Bun.write(path, "b");
    await Bun.write(join(directory, "other"), "c");
    await notice(async () => {
      await symlink("other", join(directory, "link"));
      await rename(join(directory, "link"), path);
    });
    await notice(() => rm(path));
    expect(changes).toBe(3);
  } finally {
    await work.stop();
    await rm(directory, { recursive: true });
  }
});
