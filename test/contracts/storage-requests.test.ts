import { beforeAll, expect, test } from "bun:test";
import type { RequestFilter, RequestRecord } from "../../src/admin/usage/store-port.ts";
import type { TrafficCount } from "../../src/domain/traffic.ts";
import { openStores, type Stores } from "../../src/storage/tables/stores.ts";
import { anEntry, onEachDatabase } from "./storage-harness.ts";

const START = Date.UTC(2026, 4, 15, 10);

function aRecord(id: string, fields: Partial<RequestRecord> = {}): RequestRecord {
  return {
    id,
    requestId: `request-${id}`,
    traceId: null,
    at: START,
    route: "chat",
    method: "POST",
    path: "/v1/chat/completions",
    address: null,
    organizationId: "org_a",
    keyId: "key_a",
    source: null,
    model: "m",
    askedModel: null,
    client: null,
    channel: null,
    status: 503,
    code: "overloaded",
    message: "Retry later.",
    cause: "UpstreamError: overloaded",
    durationMs: 12,
    firstByteMs: null,
    isStream: false,
    isFailed: true,
    isCharged: false,
    attempts: [{ channel: "c", upstreamModel: "u", durationMs: 12, outcome: "overloaded", status: 503 }],
    ...fields,
  };
}

onEachDatabase("Requests", (databases) => {
  let stores: Stores;
  /** Ids and times in the required order: newest first, and by descending id when times are equal. */
  const all: { id: string; at: number }[] = [];
  beforeAll(async () => {
    stores = await openStores(await databases.location());
    const times = Array.from({ length: 60 }, (_, index) => START + Math.floor(index / 4) * 1000);
    const charged = times.filter((_, index) => index % 2 === 0).map((at, index) => ({ id: `c${index}`, at }));
    const failed = times.filter((_, index) => index % 2 === 1).map((at, index) => ({ id: `f${index}`, at }));
    all.push(
      ...[...charged, ...failed].toSorted((one, other) => other.at - one.at || (one.id < other.id ? 1 : -1)),
    );
    await stores.ledger.post(
      "p",
      charged.map(({ id, at }) => anEntry(id, 5n, { at, model: "m" })),
    );
    await stores.admin.requests.add(failed.map(({ id, at }) => aRecord(id, { at })));
    // A charged request may also have a record, for example when it succeeded at the second attempt.
    const saved = { status: 200, code: null, message: null, cause: null, isFailed: false, isCharged: true };
    await stores.admin.requests.add([aRecord("c3", { ...saved, at: START - 1 })]);
    await stores.admin.requests.add([aRecord("c4", { at: START - 1, status: 200, isCharged: true })]);
    // Records of another organization, and of no organization.
    await stores.admin.requests.add([
      aRecord("x1", { at: START - 5000, organizationId: "org_b", keyId: "key_b" }),
      aRecord("x2", {
        at: START - 6000,
        organizationId: null,
        keyId: null,
        status: 401,
        code: "authentication_required",
      }),
    ]);
  });

  const list = (filter: RequestFilter, limit = 1000) =>
    stores.admin.requests.list(filter, { below: null, limit });

  test("are listed newest first with the ledger's charges, each once, whatever the page", async () => {
    const own = { organizations: ["org_a"] };
    for (const limit of [1, 7, 100]) {
      const found: string[] = [];
      for (let below: { at: number; id: string } | null = null; ;) {
        const page = await stores.admin.requests.list(own, { below, limit });
        found.push(...page.map(({ id }) => id));
        below = page.at(-1) ?? null;
        if (!below || page.length < limit) break;
      }
      expect(found).toEqual(all.map(({ id }) => id));
    }
  });

  test("carry both what the log and what the ledger know", async () => {
    const found = await list({ organizations: ["org_a"] });
    const of = (id: string) => found.find((each) => each.id === id);
    expect(of("c3")).toMatchObject({ record: { status: 200, isFailed: false }, charge: { amount: 5n } });
    expect(of("c5")).toMatchObject({ record: null, charge: { amount: 5n } });
    expect(of("f5")).toMatchObject({ record: { code: "overloaded" }, charge: null });
  });

  test("are filtered by outcome, status and code, a failed charge among the failed", async () => {
    const ids = async (filter: RequestFilter) =>
      (await list({ organizations: ["org_a"], ...filter })).map(({ id }) => id);
    const failed = await ids({ outcome: "failed" });
    expect(failed).toHaveLength(31);
    expect(failed).toContain("c4");
    expect(await ids({ outcome: "succeeded" })).not.toContain("c4");
    expect(await ids({ outcome: "succeeded" })).toHaveLength(29);
    expect(await ids({ statusClass: "5xx" })).toHaveLength(30);
    expect(await ids({ statusClass: "2xx" })).toHaveLength(30);
    expect(await ids({ code: "overloaded" })).toHaveLength(31);
    expect(await ids({ code: "nothing" })).toEqual([]);
    expect(await ids({ from: START + 1000, to: START + 2000 })).toHaveLength(4);
    expect(await ids({ requestId: "request-f3" })).toEqual(["f3"]);
    expect((await list({ organizations: ["org_b"] })).map(({ id }) => id)).toEqual(["x1"]);
    expect((await list({})).map(({ id }) => id)).toContain("x2");
  });

  test("are found by each of their ids", async () => {
    const { requests } = stores.admin;
    for (const id of ["c3", "request-c3", "c3:1"]) {
      const [found] = await requests.find(id);
      expect(found).toMatchObject({ id: "c3", record: { id: "c3" }, charge: { id: "c3" } });
    }
    expect(await requests.find("request-f2")).toMatchObject([{ id: "f2", charge: null }]);
    expect(await requests.find("nobody's")).toEqual([]);
    const attempt = { channel: "c", upstreamModel: "u", durationMs: 1, outcome: "broken" as const };
    await requests.add([aRecord("v1", { attempts: [{ ...attempt, vendorRequestId: "chatcmpl_100%" }] })]);
    expect(await requests.find("chatcmpl_100%")).toMatchObject([{ id: "v1" }]);
    for (const other of ["chatcmplx100%", "chatcmpl_1000", "chatcmpl", "%"])
      expect(await requests.find(other)).toEqual([]);
  });

  test("are written once, and swept by age and by number", async () => {
    const { requests } = stores.admin;
    await requests.add([aRecord("f1", { message: "another" })]);
    expect((await requests.find("f1"))[0]?.record?.message).toBe("Retry later.");
    expect(await requests.sweep(START - 5500, 1000)).toBe(1);
    expect(await requests.find("x2")).toEqual([]);
    expect(await requests.sweep(START - 5500, 1000)).toBe(0);
    const logged = 34;
    expect(await requests.sweep(0, logged - 3)).toBe(3);
    expect(await requests.sweep(0, logged - 3)).toBe(0);
    expect(await requests.find("x1")).toEqual([]);
  });

  test("are found by a vendor's id, also when many callers have sent it as theirs", async () => {
    const { requests } = stores.admin;
    const attempt = { channel: "c", upstreamModel: "u", durationMs: 1, outcome: "answered" as const };
    const attempts = [{ ...attempt, vendorRequestId: "req_often" }];
    const callers = Array.from({ length: 25 }, (_, index) =>
      aRecord(`often${index}`, { requestId: "req_often", organizationId: "org_c", at: START + 1 + index }),
    );
    await stores.ledger.post("p", [anEntry("hidden", 5n, { at: START, model: "m" })]);
    await requests.add([
      aRecord("hidden", { organizationId: "org_c", isCharged: true, attempts }),
      ...callers,
    ]);
    const found = await requests.find("req_often", ["org_c"]);
    expect(found).toHaveLength(21);
    expect(found.at(-1)).toMatchObject({ id: "hidden", charge: { id: "hidden" } });
    expect(await requests.find("req_often", ["org_a"])).toEqual([]);
    expect(await requests.find("hidden")).toHaveLength(1);
  });

  test("counts of several processes add up by minute, hour, day and month", async () => {
    const { usage } = stores.admin;
    const count: TrafficCount = {
      at: START,
      organizationId: "org_a",
      keyId: "key_a",
      model: "m",
      channel: "c",
      route: "chat",
      status: "2",
      code: "",
      requests: 2,
      charged: 0,
      durations: [0, 2],
    };
    const failed = { ...count, status: "5", code: "overloaded", requests: 2, charged: 1, durations: [2] };
    const call = { ...failed, route: "attempt", requests: 4 };
    await Promise.all(
      [1, 2, 3].map(() => usage.addTraffic([count, { ...count, keyId: "key_b" }, failed, call])),
    );
    await usage.addTraffic([{ ...count, at: START + 3 * 86_400_000 }]);
    for (const [span, expected] of [
      ["minute", 12],
      ["hour", 12],
      ["day", 12],
      ["month", 12],
    ] as const) {
      const range = { from: START - 32 * 86_400_000, to: START + 86_400_000, span };
      const [found, ...others] = await usage.traffic(range, ["organizationId"]);
      expect(others).toEqual([]);
      expect(found).toMatchObject({ requests: expected + 6, errors: 6 });
      expect(found?.durations.slice(0, 3)).toEqual([0, expected, 0]);
    }
    const range = { from: START - 3_600_000, to: START + 3_600_000, span: "hour" } as const;
    const counts = await usage.counts(range, ["keyId"]);
    expect(counts.map((sum) => [sum.keyId, sum.requests, sum.errors, sum.charged]).toSorted()).toEqual([
      ["", 12, 0, 0],
      ["key_a", 6, 6, 3],
    ]);
    expect(await usage.traffic(range, ["channel", "route"])).toContainEqual(
      expect.objectContaining({ channel: "c", route: "attempt", requests: 12, errors: 12 }),
    );
    expect(await usage.traffic({ ...range, organizations: ["org_b"] }, ["at"])).toEqual([]);
  });

  test("pictures are listed newest first and forgotten with their files", async () => {
    const { pictures } = stores.admin;
    const picture = (index: number) => ({
      name: `${index}.png`,
      at: START + Math.floor(index / 2),
      organizationId: index % 2 === 0 ? "org_a" : "org_b",
      keyId: "key_a",
      model: "m",
      requestId: "r",
      ledgerId: "l",
      width: 1024,
      height: 512,
      format: "png" as const,
      bytes: 2 ** 33,
    });
    await pictures.add(Array.from({ length: 8 }, (_, index) => picture(index)));
    const page = { since: START, below: null, limit: 3 };
    const found = await pictures.list({}, page);
    expect(found).toEqual([picture(7), picture(6), picture(5)]);
    const next = await pictures.list({}, { ...page, below: { at: START + 2, id: "5.png" } });
    expect(next.map(({ name }) => name)).toEqual(["4.png", "3.png", "2.png"]);
    expect(await pictures.list({ organizations: ["org_b"] }, { ...page, limit: 9 })).toHaveLength(4);
    expect(await pictures.sweep(START + 2)).toBe(4);
    expect(await pictures.list({}, { ...page, limit: 9 })).toHaveLength(4);
  });

  test("are found whatever ids other callers send", async () => {
    const { requests } = stores.admin;
    const copies = (organizationId: string, requestId: string) =>
      Array.from({ length: 25 }, (_, index) =>
        aRecord(`${organizationId}-${requestId}-${index}`, {
          at: START + 9000 + index,
          organizationId,
          requestId,
        }),
      );
    await requests.add([
      ...copies("org_b", "request-f2"),
      ...copies("org_a", "f3"),
      ...copies("org_b", "f4"),
    ]);
    expect(await requests.find("request-f2", ["org_a"])).toMatchObject([{ id: "f2" }]);
    expect((await requests.find("f3", ["org_a"])).map(({ id }) => id)).toContain("f3");
    expect((await requests.find("f4")).map(({ id }) => id)).toContain("f4");
    expect(await requests.find("f4", ["org_b"])).not.toContainEqual(expect.objectContaining({ id: "f4" }));
    expect(await requests.find("f4", [])).toEqual([]);
  });
});
