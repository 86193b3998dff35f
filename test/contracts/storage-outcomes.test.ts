import { beforeEach, expect, test } from "bun:test";
import { migrate } from "../../src/storage/database/migrate.ts";
import type { Database } from "../../src/storage/database/sql.ts";
import { storesOn, type Stores } from "../../src/storage/tables/stores.ts";
import { onEachDatabase } from "./storage-harness.ts";

/* Stored outcomes of requests with an idempotency key. Several processes share them. */
onEachDatabase("stored outcomes", (databases) => {
  let database: Database;
  let outcomes: Stores["outcomes"];

  beforeEach(async () => {
    database = await databases.open(await databases.location());
    await migrate(database);
    outcomes = storesOn(database).outcomes;
    removed = [];
  });

  const claim = (id: string, key = "k") => ({ keyId: "key_1", key, id, organizationId: "org_1" });
  const outcome = {
    status: 200,
    headers: { "content-type": "a/b" },
    body: Uint8Array.of(0, 255),
    blob: null,
    bytes: 2,
  };
  /** Names of blobs that this test has removed. */
  let removed: string[];
  const removeBlob = async (name: string): Promise<void> => void removed.push(name);
  const expire = () => database.begin((sql) => sql`UPDATE stored_outcomes SET expires_at = 1`);
  const count = async () =>
    (await database.read((sql) => sql<object[]>`SELECT claim FROM stored_outcomes`)).length;

  test("exactly one of many claims at once succeeds", async () => {
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, index) => outcomes.claim(claim(`c${index}`), "f")),
    );
    expect(results.filter(({ kind }) => kind === "claimed")).toHaveLength(1);
    expect(results.filter(({ kind }) => kind === "running")).toHaveLength(19);
  });

  test("a completed claim is stored, and only for the same request", async () => {
    await outcomes.claim(claim("a"), "f");
    expect(await outcomes.claim(claim("b"), "g")).toEqual({ kind: "other" });
    await outcomes.complete(claim("a"), outcome);
    await outcomes.release(claim("a"));
    expect(await outcomes.claim(claim("b"), "f")).toEqual({ kind: "stored", outcome });
    expect(await outcomes.claim(claim("b"), "g")).toEqual({ kind: "other" });
  });

  test("a released claim and one of an ended process are taken over, and the earlier holder changes nothing", async () => {
    await outcomes.claim(claim("a"), "f");
    await outcomes.release(claim("a"));
    expect(await outcomes.claim(claim("b"), "f")).toEqual({ kind: "claimed" });
    await expire();
    expect(await outcomes.claim(claim("c"), "g")).toEqual({ kind: "claimed" });
    await outcomes.complete(claim("b"), outcome);
    await outcomes.release(claim("b"));
    expect(await outcomes.claim(claim("d"), "g")).toEqual({ kind: "running" });
  });

  test("an outcome is kept for a day, also when its claim is renewed late", async () => {
    await outcomes.claim(claim("a"), "f");
    await outcomes.complete(claim("a"), outcome);
    await outcomes.renew(claim("a"));
    const [row] = await database.read(
      (sql) => sql<{ expires_at: bigint }[]>`SELECT expires_at FROM stored_outcomes`,
    );
    expect(Number(row!.expires_at) - Date.now()).toBeGreaterThan(23 * 60 * 60_000);
  });

  test("a claim that takes an old outcome over is running, not stored", async () => {
    await outcomes.claim(claim("a"), "f");
    await outcomes.complete(claim("a"), outcome);
    await expire();
    expect(await outcomes.claim(claim("b"), "f")).toEqual({ kind: "claimed" });
    expect(await outcomes.claim(claim("c"), "f")).toEqual({ kind: "running" });
  });

  test("a renewed claim is kept, and the sweep removes what has expired", async () => {
    await outcomes.claim(claim("a"), "f");
    await expire();
    await outcomes.renew(claim("a"));
    await outcomes.sweep(removeBlob);
    expect(await count()).toBe(1);
    await outcomes.complete(claim("a"), outcome);
    await outcomes.sweep(removeBlob);
    expect(await count()).toBe(1);
    await expire();
    await outcomes.sweep(removeBlob);
    expect(await count()).toBe(0);
  });

  test("the sweep keeps the newest 10,000 outcomes of each key, and requests that run", async () => {
    const rows = Array.from({ length: 10_003 }, (_, index) => ({
      key_id: "key_1",
      idempotency_key: `k${index}`,
      fingerprint: "f",
      claim: "c",
      expires_at: 9_000_000_000_000 + index,
      status: 200,
      headers: "{}",
      body: "",
      blob: null,
    }));
    await database.insertRows("stored_outcomes", rows);
    const other = { ...claim("o"), keyId: "key_2" };
    await outcomes.claim(other, "f");
    await outcomes.complete(other, outcome);
    await outcomes.claim(claim("running", "running"), "f");
    await outcomes.sweep(removeBlob);
    expect(await count()).toBe(10_002);
    expect((await outcomes.claim({ ...other, id: "again" }, "f")).kind).toBe("stored");
    expect((await outcomes.claim(claim("again", "running"), "f")).kind).toBe("running");
    expect((await outcomes.claim(claim("x", "k2"), "f")).kind).toBe("claimed");
    expect((await outcomes.claim(claim("x", "k3"), "f")).kind).toBe("stored");
  });

  const MIB = 2 ** 20;
  /** Stores an outcome whose body has this size, in a blob with the key's name. Later calls store newer outcomes. */
  const keep = async (key: string, mebibytes: number, organizationId = "org_1") => {
    const its = { ...claim("a", key), organizationId };
    await outcomes.claim(its, "f");
    await outcomes.complete(its, { ...outcome, body: null, blob: `${key}.bin`, bytes: mebibytes * MIB });
    await Bun.sleep(2);
  };
  const bytesOf = async (key: string) => {
    const result = await outcomes.claim(claim("b", key), "f");
    return result.kind === "stored" ? result.outcome.bytes / MIB : result.kind;
  };

  test("the sweep removes the oldest bodies of an organization beyond 1 GiB, and none of their rows", async () => {
    await keep("their oldest", 1, "org_2");
    await keep("oldest", 1);
    await keep("theirs", 1024, "org_2");
    await keep("older", 200);
    await keep("newer", 424);
    await keep("newest", 600);
    await outcomes.sweep(removeBlob);
    expect(removed.toSorted()).toEqual(["older.bin", "oldest.bin", "their oldest.bin"]);
    expect(await Promise.all(["oldest", "older", "newer", "newest", "theirs"].map(bytesOf))).toEqual([
      0, 0, 424, 600, 1024,
    ]);
    expect((await outcomes.claim(claim("b", "oldest"), "g")).kind).toBe("other");
  });

  test("blobs of outcomes are removed when these expire", async () => {
    await keep("expired", 1);
    await expire();
    await keep("kept", 1);
    await outcomes.sweep(removeBlob);
    expect([removed, await bytesOf("kept")]).toEqual([["expired.bin"], 1]);
  });

  test("an organization adds 256 MiB between two sweeps at most", async () => {
    expect(outcomes.admits("org_1", 200 * MIB)).toBe(true);
    expect(outcomes.admits("org_1", 57 * MIB)).toBe(false);
    expect(outcomes.admits("org_1", 56 * MIB)).toBe(true);
    expect(outcomes.admits("org_2", 56 * MIB)).toBe(true);
    await outcomes.sweep(removeBlob);
    expect(outcomes.admits("org_1", 256 * MIB)).toBe(true);
  });
});
