import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdtemp, readdir, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DependencyError } from "../../src/gateway/dependency-error.ts";
import type { StoredPicture } from "../../src/gateway/delivery/stored-blobs.ts";
import { readS3Address } from "../../src/lib/s3-address.ts";
import { createSpool, FilePool, type Spool } from "../../src/lib/spool.ts";
import { openBlobs, type Blobs } from "../../src/storage/blobs/index.ts";
import { openDiskStore } from "../../src/storage/blobs/disk.ts";
import { openPendingStore } from "../../src/storage/blobs/pending.ts";
import { openS3Store } from "../../src/storage/blobs/s3.ts";
import { isBlobName, newBlobName } from "../../src/storage/blobs/links.ts";
import { until } from "../support/gateway.ts";
import { startS3, type S3Simulator } from "../upstreams/s3.ts";

const linkSecrets = () => ["a secret of thirty-two characters"];

const DAY_MS = 24 * 60 * 60 * 1000;

/** A kind of blob store, with a function that makes a blob older. */
interface Setting {
  open(directory: string): Promise<Blobs>;
  age(directory: string, name: string, ageMs: number): Promise<void>;
  /** Returns the number of blobs, read from the storage without the gateway's code. */
  count(directory: string): Promise<number>;
}

let s3: S3Simulator;
let directory = "";

beforeAll(() => {
  s3 = startS3();
});
afterAll(() => s3.stop());
beforeEach(async () => {
  s3.objects.clear();
  directory = await mkdtemp(join(tmpdir(), "blobs-"));
  return () => rm(directory, { recursive: true, force: true });
});

/** Returns all bytes of a stored picture. */
function whole(picture: StoredPicture | null): Promise<Blob> | undefined {
  return picture ? new Response(picture.stream()).blob() : undefined;
}

async function files(directory: string): Promise<string[]> {
  const all = await readdir(join(directory, "blobs"), { recursive: true, withFileTypes: true }).catch(
    () => [],
  );
  return all.filter((entry) => entry.isFile()).map((entry) => entry.name);
}

const settings: Record<string, Setting> = {
  disk: {
    open: (directory) => openBlobs({ directory, linkSecrets }),
    async age(directory, name, ageMs) {
      const at = new Date(Date.now() - ageMs);
      await utimes(join(directory, "blobs", name.slice(0, 2), name), at, at);
    },
    count: async (directory) => (await files(directory)).length,
  },
  s3: {
    open: (directory) => openBlobs({ directory, linkSecrets, s3: readS3Address(s3.address) }),
    async age(_, name, ageMs) {
      s3.objects.get(`made/here/${name}`)!.modifiedAt = Date.now() - ageMs;
    },
    count: async () => s3.objects.size,
  },
};

describe.each(Object.entries(settings))("blobs on %s", (_, setting) => {
  const bytesOf = (length: number) => Uint8Array.from({ length }, (_, index) => (index * 31) & 255);

  test("a blob comes back unchanged, from memory and from a file, large and small", async () => {
    const { store } = await setting.open(directory);
    const path = join(directory, "upload");
    for (const length of [1, 70_000, 6_000_000]) {
      await writeFile(path, bytesOf(length));
      for (const image of [new Blob([bytesOf(length)]), Bun.file(path)]) {
        const { name } = await store.put(image, "png", "org_1");
        const got = await store.get(name);
        expect(got?.size).toBe(length);
        expect(Bun.hash(await (await whole(got))!.arrayBuffer())).toBe(Bun.hash(bytesOf(length)));
        expect(await (await whole(got!.slice(0, 1)))!.bytes()).toEqual(bytesOf(1));
      }
    }
  });

  test("the format decides the name's extension and the type", async () => {
    const { store } = await setting.open(directory);
    for (const [format, extension, type] of [
      ["png", ".png", "image/png"],
      ["jpeg", ".jpg", "image/jpeg"],
      ["webp", ".webp", "image/webp"],
    ] as const) {
      const { name } = await store.put(new Blob(["x"], { type: "text/html" }), format, "org_1");
      expect(name).toEndWith(extension);
      expect((await store.get(name))?.type).toBe(type);
    }
  });

  test("200 puts at once give 200 different blobs and leave nothing else behind", async () => {
    const { store } = await setting.open(directory);
    const names = await Promise.all(
      Array.from({ length: 200 }, async (_, index) => {
        const { name } = await store.put(new Blob([`picture ${index}`]), "webp", "org_1");
        return name;
      }),
    );
    expect(new Set(names).size).toBe(200);
    expect(names.every(isBlobName)).toBe(true);
    const texts = await Promise.all(names.map(async (name) => (await whole(await store.get(name)))?.text()));
    expect(texts).toEqual(names.map((_, index) => `picture ${index}`));
    expect(await setting.count(directory)).toBe(200);
  });

  test("unknown names and names with paths find nothing", async () => {
    const { store } = await setting.open(directory);
    const { name } = await store.put(new Blob(["x"]), "png", "org_1");
    const elsewhere = [
      "0".repeat(32) + ".png",
      name.toUpperCase(),
      `${name}\0`,
      `${name}/`,
      `./${name}`,
      `${name.slice(0, 2)}/../${name.slice(0, 2)}/${name}`,
      "../gateway.sqlite",
      "..%2fgateway.sqlite",
      "gateway.sqlite",
      "/etc/passwd",
      `${"0".repeat(28)}/../.png`,
      name.replace(".png", ".svg"),
      name.replace(".png", ""),
      `${name}\n`,
      "",
    ];
    for (const word of elsewhere) expect(await store.get(word)).toBeNull();
    expect(await store.get(name)).not.toBeNull();
  });

  test("a sweep removes what is older than seven days and nothing else", async () => {
    const blobs = await setting.open(directory);
    const put = async (ageMs: number) => {
      const { name } = await blobs.store.put(new Blob(["x"]), "png", "org_1");
      await setting.age(directory, name, ageMs);
      return name;
    };
    const young = await Promise.all([0, DAY_MS, 7 * DAY_MS - 60_000].map(put));
    const old = await Promise.all(
      Array.from({ length: 30 }, (_, index) => put(7 * DAY_MS + 60_000 * (index + 1))),
    );
    expect(await blobs.sweep()).toEqual({ removed: 30, failed: 0 });
    for (const name of young) expect(await blobs.store.get(name)).not.toBeNull();
    for (const name of old) expect(await blobs.store.get(name)).toBeNull();
    expect(await blobs.sweep()).toEqual({ removed: 0, failed: 0 });
  });

  test("sweeps do not overlap, and closing ends one", async () => {
    const blobs = await setting.open(directory);
    const first = blobs.sweep();
    expect(blobs.sweep()).toBe(first);
    await blobs.close();
    expect(await first).toEqual({ removed: 0, failed: 0 });
  });
});

test("a sweep of object storage reads every page and leaves foreign objects alone", async () => {
  const blobs = await settings.s3!.open(directory);
  const modifiedAt = Date.now() - 8 * DAY_MS;
  const object = { bytes: new Uint8Array(1), type: "image/png", modifiedAt };
  for (let index = 0; index < 1100; index += 1)
    s3.objects.set(`made/here/${index.toString(16).padStart(32, "0")}.png`, { ...object });
  for (const key of ["made/here/notes.txt", "made/hereafter.png", `other/${"0".repeat(32)}.png`])
    s3.objects.set(key, object);
  expect(await blobs.sweep()).toEqual({ removed: 1100, failed: 0 });
  expect([...s3.objects.keys()].sort()).toEqual([
    "made/here/notes.txt",
    "made/hereafter.png",
    `other/${"0".repeat(32)}.png`,
  ]);
});

test("object storage that is down or refuses is an unavailable dependency, never a missing blob", async () => {
  const { store } = await settings.s3!.open(directory);
  const { name } = await store.put(new Blob(["x"]), "png", "org_1");
  s3.setDown(true);
  expect(await store.get(name).catch((error: unknown) => error)).toBeInstanceOf(DependencyError);
  s3.setDown(false);
  const stranger = await openBlobs({
    directory,
    linkSecrets,
    s3: { ...readS3Address(s3.address), secretAccessKey: "wrong" },
  });
  expect(await stranger.store.get(name).catch((error: unknown) => error)).toBeInstanceOf(DependencyError);
});

test("pictures that object storage does not take are served from disk and shipped when it is back", async () => {
  const reports: string[] = [];
  const open = () =>
    openBlobs({
      directory,
      linkSecrets,
      s3: readS3Address(s3.address),
      onProblem: (message, _cause, level) => reports.push(`${level ?? "warn"} ${message}`),
    });
  const first = await open();
  s3.setDown(true);
  const pictures = ["one", "two"];
  const names = await Promise.all(
    pictures.map(async (text) => (await first.store.put(new Blob([text]), "png", "org_1")).name),
  );
  expect(
    await Promise.all(names.map(async (name) => (await whole(await first.store.get(name)))?.text())),
  ).toEqual(pictures);
  expect([first.isRemoteUp(), first.pending(), first.store.isAvailable()]).toEqual([false, 2, true]);
  await first.close();
  // The next process finds the pending blobs.
  const second = await open();
  expect(second.pending()).toBe(2);
  s3.setDown(false);
  await until("the pictures in the bucket", () => (second.pending() === 0 ? true : undefined));
  expect([...s3.objects.keys()].sort()).toEqual(names.map((name) => `made/here/${name}`).sort());
  await second.close();
  expect(reports).toEqual(["warn the object storage is away: pictures are kept on the local disk"]);
});

test("a picture that waits for the object storage is removed for good", async () => {
  const { store, close, pending } = await openBlobs({
    directory,
    linkSecrets,
    s3: readS3Address(s3.address),
  });
  s3.setDown(true);
  const { name } = await store.put(new Blob(["one"]), "png", "org_1");
  expect(pending()).toBe(1);
  s3.setDown(false);
  await store.remove(name);
  expect([pending(), await store.get(name)]).toEqual([0, null]);
  await close();
  const next = await openBlobs({ directory, linkSecrets, s3: readS3Address(s3.address) });
  expect(next.pending()).toBe(0);
  await next.close();
});

test("a picture that is removed during its upload is removed for good", async () => {
  const objects = new Set<string>();
  const [begun, letGo] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let isAway = true;
  const remote = {
    ...openS3Store(readS3Address(s3.address)),
    async write(name: string) {
      if (isAway) throw new DependencyError("the object storage is away", { dependency: "blobs" });
      begun.resolve();
      await letGo.promise;
      objects.add(name);
    },
    remove: async (name: string) => void objects.delete(name),
  };
  const local = openDiskStore(join(directory, "pending"), join(directory, "temporary"));
  const store = await openPendingStore({ remote, local, report() {}, intervalMs: 20 });
  const name = newBlobName("png");
  await store.write(name, new Blob(["one"]));
  isAway = false;
  await begun.promise;
  await store.remove(name);
  letGo.resolve();
  await store.stop();
  expect([objects.size, await local.get(name)]).toEqual([0, null]);
});

test("without space for more pictures the store is not available until the storage is back", async () => {
  const s3Store = openS3Store(readS3Address(s3.address));
  const store = await openPendingStore({
    remote: s3Store,
    local: openDiskStore(join(directory, "pending"), join(directory, "temporary")),
    report() {},
    intervalMs: 20,
    maxPending: 1,
  });
  s3.setDown(true);
  await store.write(newBlobName("png"), new Blob(["one"]));
  expect(store.isAvailable()).toBe(false);
  s3.setDown(false);
  await until("the storage", () => (store.isAvailable() && store.pending() === 0 ? true : undefined));
  await store.stop();
});

test("a disk that refuses writes is an unavailable dependency, and no half file stays", async () => {
  const { store } = await openBlobs({ directory, linkSecrets });
  await writeFile(join(directory, "blobs"), "a file where the folder should be");
  expect(await store.put(new Blob(["x"]), "png", "org_1").catch((error: unknown) => error)).toBeInstanceOf(
    DependencyError,
  );
});

test("half written files of a process that died are removed when the store is opened", async () => {
  const temporary = join(directory, "blobs", "temporary");
  const spool = JSON.stringify(join(import.meta.dir, "../../src/lib/spool.ts"));
  const script = `import { createSpool } from ${spool};
    const file = createSpool(${JSON.stringify(temporary)}).create();
    file.write(Buffer.alloc(10));
    await file.finish();`;
  const dying = Bun.spawn([process.execPath, "-e", script]);
  expect(await dying.exited).toBe(0);
  expect(await readdir(temporary)).toHaveLength(1);
  await Bun.write(join(temporary, "keep"), "not ours");
  const { store } = await openBlobs({ directory, linkSecrets });
  await store.put(new Blob(["x"]), "png", "org_1");
  expect(await readdir(temporary)).toEqual(["keep"]);
});

describe("a picture in a spool", () => {
  const bytes = Buffer.alloc(600_000, crypto.getRandomValues(new Uint8Array(4_099)));

  async function spoolPicture(spool: Spool): Promise<Blob> {
    const file = spool.create();
    file.write(bytes);
    return await file.finish();
  }

  test("is kept without a copy, and stays as it is when the spool is used again", async () => {
    const { store } = await openBlobs({ directory, linkSecrets });
    const place = join(directory, "spool");
    const filePool = new FilePool();
    const spool = createSpool(place, filePool);
    const picture = await spoolPicture(spool);
    const { name } = await store.put(picture, "png", "org");
    expect((await stat(join(directory, "blobs", name.slice(0, 2), name))).nlink).toBe(2);
    await spool.retire();
    await using next = createSpool(place, filePool);
    next.create().write(Buffer.alloc(700_000));
    const kept = await store.get(name);
    expect(Buffer.from(await (await whole(kept))!.bytes()).equals(bytes)).toBe(true);
    expect(await readdir(join(directory, "blobs", "temporary")).catch(() => [])).toEqual([]);
  });

  test("is copied when it is only a part of the file", async () => {
    const { store } = await openBlobs({ directory, linkSecrets });
    await using spool = createSpool(join(directory, "spool"));
    const picture = await spoolPicture(spool);
    const { name } = await store.put(picture.slice(10, 300_000), "png", "org");
    const kept = await store.get(name);
    expect(Buffer.from(await (await whole(kept))!.bytes()).equals(bytes.subarray(10, 300_000))).toBe(true);
  });
});

test("an object storage that never responds does not delay a stop", async () => {
  using silent = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    fetch: () => new Promise(() => {}),
  });
  const blobs = await openBlobs({
    directory,
    linkSecrets,
    s3: readS3Address(`s3://id:secret@bucket?endpoint=${silent.url.origin}`),
  });
  blobs.sweep().catch(() => {});
  await Bun.sleep(50);
  const startedAt = performance.now();
  await blobs.close();
  expect(performance.now() - startedAt).toBeLessThan(2_000);
});
