import { afterAll, describe, expect, test } from "bun:test";
import { link, mkdtemp, readdir, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../../test/support/gateway.ts";
import { createSpool, FilePool, sweepSpool, type Spool } from "./spool.ts";

const directory = await mkdtemp(join(tmpdir(), "spool-test-"));
afterAll(() => rm(directory, { recursive: true, force: true }));

async function freshDirectory(): Promise<string> {
  return mkdtemp(join(directory, "case-"));
}

test("the blob has the written bytes, and disposing deletes the file", async () => {
  const directory = join(await freshDirectory(), "made", "on", "demand");
  const bytes = crypto.getRandomValues(new Uint8Array(50_000));
  {
    await using spool = createSpool(directory);
    const file = spool.create();
    for (let turn = 0; turn < 40; turn += 1) {
      file.write(bytes);
      await file.ready();
    }
    const blob = await file.finish("image/png");
    expect(blob.size).toBe(2_000_000);
    expect(blob.type).toBe("image/png");
    expect(Buffer.from(await blob.bytes()).equals(Buffer.concat(Array(40).fill(bytes)))).toBe(true);
    expect(await readdir(directory)).toHaveLength(1);
  }
  expect(await readdir(directory)).toHaveLength(0);
});

test("an empty file is a file", async () => {
  await using spool = createSpool(await freshDirectory());
  const blob = await spool.create().finish();
  expect(blob.size).toBe(0);
  expect(await blob.text()).toBe("");
});

test("an unfinished file is removed too", async () => {
  const directory = await freshDirectory();
  {
    await using spool = createSpool(directory);
    const file = spool.create();
    file.write(new Uint8Array(1_000_000));
    spool.create();
  }
  expect(await readdir(directory)).toHaveLength(0);
});

test("a file created or written after disposal leaves nothing on disk", async () => {
  const directory = await freshDirectory();
  const spool = createSpool(directory);
  const early = spool.create();
  early.write(new Uint8Array(1_000_000));
  await spool[Symbol.asyncDispose]();
  for (const file of [early, spool.create()]) {
    file.write(new Uint8Array(1_000_000));
    await expect(file.finish()).rejects.toThrow();
  }
  expect(await readdir(directory)).toEqual([]);
});

test("an error of the disk reaches the writer", async () => {
  const directory = await freshDirectory();
  const blocked = join(directory, "a-file");
  await writeFile(blocked, "");
  await using spool = createSpool(join(blocked, "below"));
  const file = spool.create();
  file.write(new Uint8Array(300_000));
  await expect(file.finish()).rejects.toThrow();
});

describe("a spool with a file pool", () => {
  const MIB = 1024 * 1024;
  const noise = (length: number) => Buffer.alloc(length, crypto.getRandomValues(new Uint8Array(65_537)));

  async function write(spool: Spool, bytes: Buffer): Promise<Blob> {
    const file = spool.create();
    for (let from = 0; from < bytes.byteLength; from += 100_000) {
      file.write(bytes.subarray(from, from + 100_000));
      await file.ready();
    }
    return file.finish();
  }

  const inodesOf = async (directory: string) =>
    Promise.all((await readdir(directory)).map(async (name) => (await stat(join(directory, name))).ino));

  test.each([
    ["shorter", 2 * MIB + 5],
    ["equally long", 3 * MIB],
    ["longer", 5 * MIB + 7],
    ["empty", 0],
  ])("overwrites a retired file, whose content a %s text does not show", async (_, length) => {
    const directory = await freshDirectory();
    const filePool = new FilePool();
    const earlier = createSpool(directory, filePool);
    const old = await write(earlier, noise(3 * MIB));
    await earlier.retire();
    await expect(old.bytes()).rejects.toThrow();
    const inodes = await inodesOf(directory);
    {
      await using spool = createSpool(directory, filePool);
      const bytes = noise(length);
      const blob = await write(spool, bytes);
      expect(await inodesOf(directory)).toEqual(inodes);
      expect(blob.size).toBe(length);
      expect(Buffer.from(await blob.bytes()).equals(bytes)).toBe(true);
    }
    expect(await readdir(directory)).toEqual([]);
  });

  test("never overwrites a file with a second hard link", async () => {
    const directory = await freshDirectory();
    const filePool = new FilePool();
    const bytes = noise(MIB);
    const spool = createSpool(directory, filePool);
    const { name = "" } = (await write(spool, bytes)) as Bun.BunFile;
    await link(name, join(directory, "kept.png"));
    await spool.retire();
    expect(await readdir(directory)).toEqual(["kept.png"]);
    expect(filePool.take()).toBeUndefined();
    expect(Buffer.from(await Bun.file(join(directory, "kept.png")).bytes()).equals(bytes)).toBe(true);
  });

  test("deletes failed, unfinished and small files", async () => {
    const directory = await freshDirectory();
    const filePool = new FilePool();
    {
      await using spool = createSpool(directory, filePool);
      await write(spool, noise(MIB));
    }
    const spool = createSpool(directory, filePool);
    await write(spool, noise(1000));
    spool.create().write(noise(MIB));
    await spool.retire();
    expect(await readdir(directory)).toEqual([]);
  });

  test("keeps no file for long without requests", async () => {
    const directory = await freshDirectory();
    const spool = createSpool(directory, new FilePool({ idleMs: 5 }));
    await write(spool, noise(MIB));
    await spool.retire();
    await until("the folder to be empty", async () =>
      (await readdir(directory)).length === 0 ? true : undefined,
    );
  });

  test("creates new files when the pooled ones are lost", async () => {
    const directory = await freshDirectory();
    const filePool = new FilePool();
    const earlier = createSpool(directory, filePool);
    await write(earlier, noise(MIB));
    await earlier.retire();
    for (const name of await readdir(directory)) await rm(join(directory, name));
    await using spool = createSpool(directory, filePool);
    expect((await write(spool, noise(2 * MIB))).size).toBe(2 * MIB);
  });
});

test("sweeping removes the files of ended processes and no others", async () => {
  const directory = await freshDirectory();
  const script = `const { createSpool } = await import(${JSON.stringify(join(import.meta.dir, "spool.ts"))});
    const file = createSpool(${JSON.stringify(directory)}).create();
    file.write(new Uint8Array(10)); await file.finish(); console.log("written"); await new Promise(() => setInterval(() => {}, 1000));`;
  const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe" });
  const { value } = await child.stdout.getReader().read();
  expect(Buffer.from(value ?? []).toString()).toContain("written");
  await using spool = createSpool(directory);
  await spool.create().finish();
  await writeFile(join(directory, "someone-elses.txt"), "keep");

  expect(await sweepSpool(directory)).toBe(0);
  child.kill("SIGKILL");
  await child.exited;
  expect(await sweepSpool(directory)).toBe(1);
  expect((await readdir(directory)).toSorted()).toEqual([
    "someone-elses.txt",
    expect.stringMatching(/^spool-/),
  ]);
});

test("sweeping removes the pooled files of ended processes", async () => {
  const directory = await freshDirectory();
  const script = `const { createSpool, FilePool } = await import(${JSON.stringify(join(import.meta.dir, "spool.ts"))});
    const spool = createSpool(${JSON.stringify(directory)}, new FilePool()); const file = spool.create();
    file.write(new Uint8Array(2_000_000)); await file.finish(); await spool.retire();`;
  await Bun.spawn([process.execPath, "-e", script]).exited;
  expect(await readdir(directory)).toEqual([expect.stringMatching(/^spare-/)]);
  expect(await sweepSpool(directory)).toBe(1);
});

test("files of another host are removed by age", async () => {
  const directory = await freshDirectory();
  const name = join(directory, `spool-${"0".repeat(16)}-1-${"a".repeat(16)}-0-${"b".repeat(16)}`);
  await writeFile(name, "");
  expect(await sweepSpool(directory)).toBe(0);
  const dayAgo = (Date.now() - 25 * 60 * 60 * 1000) / 1000;
  await utimes(name, dayAgo, dayAgo);
  expect(await sweepSpool(directory)).toBe(1);
});

test("sweeping a missing directory is no error", async () => {
  expect(await sweepSpool(join(directory, "nowhere"))).toBe(0);
});
