import { chmodSync, lstatSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { until, type TestGateway } from "../support/gateway.ts";
import { canMount, fillDisk, mountSmallDisk } from "../support/small-disk.ts";
import { CHAT, IMAGE, openGatewayFixture } from "../support/vendor.ts";

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "gateway-disk-"));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

if (!canMount) console.warn("SKIPPED: a full disk: no tmpfs can be mounted here");

test.skipIf(!canMount)(
  "charges of running requests reach the ledger from a process whose disk is full",
  async () => {
    const data = join(directory, "full");
    const journal = join(data, "journal");
    mkdirSync(journal, { recursive: true });
    expect(mountSmallDisk(journal, "512k")).toBe(true);
    try {
      await using fixture = await openGatewayFixture({ env: { GATEWAY_DATA_DIR: data } });
      const { gateway, vendor } = fixture;
      vendor.next({ tokens: 20, frameDelayMs: 50 });
      const running = await gateway.call("/v1/chat/completions", {
        body: { model: CHAT, stream: true, messages: [{ role: "user", content: "go on" }] },
        headers: { "x-request-id": "running" },
      });
      fillDisk(join(journal, "filler"));
      expect(await running.text()).toEndWith("data: [DONE]\n\n");
      const [row] = await gateway.charged("running");
      expect(row).toMatchObject({ flags: [] });
      expect(row!.amount).toBeGreaterThan(0n);
      const chat = () =>
        gateway.call("/v1/chat/completions", {
          body: { model: CHAT, messages: [{ role: "user", content: "hi" }] },
        });
      expect((await chat()).status).toBe(503);
      expect(await writableOf(gateway)).toBe("0");
      const refused = await until("the line of the refused request", () =>
        gateway.logs().find(({ status }) => status === 503),
      );
      expect(refused["cause"]).toMatch(/journal\/proc_\w+ cannot be written: ENOSPC/);
      rmSync(join(journal, "filler"));
      await until("the journal to be written", async () =>
        (await writableOf(gateway)) === "1" ? true : undefined,
      );
      expect((await chat()).status).toBe(200);
      const events = gateway.logs().filter(({ message }) => /^the journal .*written/.test(String(message)));
      expect(events).toEqual([
        expect.objectContaining({ level: "warn", cause: expect.stringContaining("ENOSPC") }),
        expect.objectContaining({
          level: "info",
          message: expect.stringMatching(/^the journal can be written again after /),
        }),
      ]);
      expect(await gateway.stop()).toBe(0);
    } finally {
      Bun.spawnSync(["umount", journal]);
    }
  },
  30_000,
);

test.skipIf(!canMount)(
  "a picture is refused before its vendor is called while the disk has no inode",
  async () => {
    const data = join(directory, "inodes");
    const blobs = join(data, "blobs");
    mkdirSync(blobs, { recursive: true });
    const mount = ["mount", "-t", "tmpfs", "-o", "size=8m,nr_inodes=40", "tmpfs", blobs];
    expect(Bun.spawnSync(mount).success).toBe(true);
    try {
      await using fixture = await openGatewayFixture({ env: { GATEWAY_DATA_DIR: data } });
      const { gateway, vendor } = fixture;
      const draw = async () => {
        const body = { model: IMAGE, prompt: "A pier" };
        return (await gateway.call("/v1/images/generations", { body })).status;
      };
      const files = Array.from({ length: 60 }, (_, index) => join(blobs, `filler${index}`));
      try {
        for (const file of files) writeFileSync(file, "");
      } catch {
        // No inode is left.
      }
      expect(await draw()).toBe(503);
      expect(vendor.hits).toHaveLength(0);
      for (const file of files) rmSync(file, { force: true });
      await until("inodes", async () => ((await draw()) === 200 ? true : undefined));
      const events = gateway.logs().filter(({ message }) => String(message).startsWith("the disk takes"));
      expect(events.map(({ level }) => level)).toEqual(["warn", "info"]);
    } finally {
      Bun.spawnSync(["umount", "--lazy", blobs]);
    }
  },
  30_000,
);

test("only the owner can read database, journals and pictures, with any umask", async () => {
  const data = join(directory, "private");
  for (const folder of ["journal", "blobs", "blobs/temporary"]) {
    mkdirSync(join(data, folder), { recursive: true });
    chmodSync(join(data, folder), 0o755);
  }
  writeFileSync(join(data, "gateway.sqlite"), "", { mode: 0o644 });
  const before = process.umask(0);
  try {
    await using fixture = await openGatewayFixture({ env: { GATEWAY_DATA_DIR: data } });
    process.umask(before);
    const { gateway } = fixture;
    const response = await gateway.call("/v1/images/generations", {
      body: { model: IMAGE, prompt: "A pier" },
    });
    expect(response.status).toBe(200);
    const readable = readdirSync(data, { recursive: true, encoding: "utf8" }).filter(
      (name) => (lstatSync(join(data, name)).mode & 0o077) !== 0,
    );
    expect(readable).toEqual([]);
    expect(readdirSync(data)).toContain("gateway.sqlite-wal");
  } finally {
    process.umask(before);
  }
}, 30_000);

/** Returns the metric that is 1 when the disk accepts charges. */
async function writableOf(gateway: TestGateway): Promise<string | undefined> {
  const metrics = await (await gateway.call("/metrics")).text();
  return /^gateway_journal_writable (\d)$/m.exec(metrics)?.[1];
}
