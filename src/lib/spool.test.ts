import { afterAll, expect, test } from "bun:test";
import { mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSpool, sweepSpool } from "./spool.ts";

const directory = await mkdtemp(join(tmpdir(), "spool-test-"));
afterAll(() => rm(directory, { recursive: true, force: true }));

async function freshDirectory(): Promise<string> {
  return mkdtemp(join(directory, "case-"));
}

test("what was written is in the blob, and the file is gone after the request", async () => {
  const place = join(await freshDirectory(), "made", "on", "demand");
  const bytes = crypto.getRandomValues(new Uint8Array(50_000));
  {
    await using spool = createSpool(place);
    const file = spool.create();
    for (let turn = 0; turn < 40; turn += 1) {
      file.write(bytes);
      await file.ready();
    }
    const blob = await file.finish("image/png");
    expect(blob.size).toBe(2_000_000);
    expect(blob.type).toBe("image/png");
    expect(Buffer.from(await blob.bytes()).equals(Buffer.concat(Array(40).fill(bytes)))).toBe(true);
    expect(await readdir(place)).toHaveLength(1);
  }
  expect(await readdir(place)).toHaveLength(0);
});

test("an empty file is a file", async () => {
  await using spool = createSpool(await freshDirectory());
  const blob = await spool.create().finish();
  expect(blob.size).toBe(0);
  expect(await blob.text()).toBe("");
});

test("an unfinished file is removed too", async () => {
  const place = await freshDirectory();
  {
    await using spool = createSpool(place);
    const file = spool.create();
    file.write(new Uint8Array(1_000_000));
    spool.create();
  }
  expect(await readdir(place)).toHaveLength(0);
});

test("a file made or written after the request has ended leaves nothing behind", async () => {
  const place = await freshDirectory();
  const spool = createSpool(place);
  const early = spool.create();
  early.write(new Uint8Array(1_000_000));
  await spool[Symbol.asyncDispose]();
  for (const file of [early, spool.create()]) {
    file.write(new Uint8Array(1_000_000));
    await expect(file.finish()).rejects.toThrow();
  }
  expect(await readdir(place)).toEqual([]);
});

test("a disk that refuses is told to the writer, not swallowed", async () => {
  const place = await freshDirectory();
  const blocked = join(place, "a-file");
  await writeFile(blocked, "");
  await using spool = createSpool(join(blocked, "below"));
  const file = spool.create();
  file.write(new Uint8Array(300_000));
  await expect(file.finish()).rejects.toThrow();
});

test("sweeping removes what dead processes left and nothing else", async () => {
  const place = await freshDirectory();
  const script = `const { createSpool } = await import(${JSON.stringify(join(import.meta.dir, "spool.ts"))});
    const file = createSpool(${JSON.stringify(place)}).create();
    file.write(new Uint8Array(10)); await file.finish(); console.log("written"); await new Promise(() => setInterval(() => {}, 1000));`;
  const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe" });
  const { value } = await child.stdout.getReader().read();
  expect(Buffer.from(value ?? []).toString()).toContain("written");
  await using spool = createSpool(place);
  await spool.create().finish();
  await writeFile(join(place, "someone-elses.txt"), "keep");

  expect(await sweepSpool(place)).toBe(0);
  child.kill("SIGKILL");
  await child.exited;
  expect(await sweepSpool(place)).toBe(1);
  expect((await readdir(place)).toSorted()).toEqual(["someone-elses.txt", expect.stringMatching(/^spool-/)]);
});

test("files of another host go by age alone", async () => {
  const place = await freshDirectory();
  const name = join(place, `spool-${"0".repeat(16)}-1-${"a".repeat(16)}-0-${"b".repeat(16)}`);
  await writeFile(name, "");
  expect(await sweepSpool(place)).toBe(0);
  const dayAgo = (Date.now() - 25 * 60 * 60 * 1000) / 1000;
  await utimes(name, dayAgo, dayAgo);
  expect(await sweepSpool(place)).toBe(1);
});

test("sweeping a directory that is not there is no error", async () => {
  expect(await sweepSpool(join(directory, "nowhere"))).toBe(0);
});
