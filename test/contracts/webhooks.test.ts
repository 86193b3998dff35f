import { afterAll, afterEach, beforeEach, expect, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import type { AdminContext } from "../../src/admin/context.ts";
import { redeliver, removeWebhook, rotateWebhook } from "../../src/admin/webhooks/webhooks.ts";
import { operatorMessage } from "../../src/domain/operator-message.ts";
import { sendDue } from "../../src/jobs/webhooks.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { createSafeFetch } from "../../src/lib/safe-fetch.ts";
import { migrate } from "../../src/storage/database/migrate.ts";
import type { Database } from "../../src/storage/database/sql.ts";
import { storesOn, type Stores } from "../../src/storage/tables/stores.ts";
import { addWebhook, listDeliveries } from "../support/admin-calls.ts";
import { aJob, CANCELLATION, completion, FAILURE } from "../support/jobs.ts";
import { aKey, anOrganization, BY, onEachDatabase } from "./storage-harness.ts";

/* Follows webhooks from the end of a job to a receiver. Signatures are verified with the specification's library. */
interface Received {
  path: string;
  headers: Record<string, string>;
  body: string;
}

onEachDatabase("webhooks", (databases) => {
  let database: Database;
  let stores: Stores;
  let admin: AdminContext;
  let received: Received[] = [];
  let status = 204;
  let addresses = ["93.184.216.34"];

  const receiver = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { pathname } = new URL(request.url);
      received.push({ path: pathname, headers: request.headers.toJSON(), body: await request.text() });
      return new Response(null, { status });
    },
  });
  afterAll(() => receiver.stop(true));
  const safeFetch = createSafeFetch({
    resolve: async () => addresses,
    dial: ({ link, headers, body }, signal) =>
      fetch(`http://127.0.0.1:${receiver.port}${link.url.pathname}`, {
        method: "POST",
        headers,
        body,
        signal,
      }),
  });

  beforeEach(async () => {
    database = await databases.open(await databases.location());
    await migrate(database);
    stores = storesOn(database);
    admin = {
      store: stores.admin,
      by: BY,
      clock: systemClock,
      catalogue: { allowedNetworks: [] as readonly string[] } as AdminContext["catalogue"],
    };
    for (const id of ["org_a", "org_b"]) {
      await stores.admin.organizations.create(anOrganization(id), BY);
      await stores.admin.keys.create(aKey(`key_${id}`, id), BY);
    }
  });
  afterEach(() => {
    received = [];
    status = 204;
    addresses = ["93.184.216.34"];
  });

  const send = () =>
    sendDue({
      queue: stores.webhooks,
      safeFetch,
      networks: () => admin.catalogue.allowedNetworks,
      links: { sign: (base, name) => `${base}/files/${name}`, check: () => "invalid", isNew: () => false },
      publicUrl: null,
      linkHoursOf: () => null,
      now: Date.now,
      onProblem: (message, cause) => {
        throw new Error(message, { cause });
      },
    });
  const sendAll = async () => {
    while ((await send()) > 0);
  };
  const endJob = async (
    ending: "completed" | "failed" | "cancelled",
    webhookUrl: string | null = null,
    organizationId = "org_a",
  ) => {
    await stores.jobs.submit(aJob({ webhookUrl, organizationId, keyId: `key_${organizationId}` }));
    const job = (await stores.jobs.claim("w", () => null))!;
    const endings = { completed: completion(job), failed: FAILURE, cancelled: CANCELLATION };
    await stores.jobs.finish(job, endings[ending]);
    return job.jobId;
  };
  const add = async (url: string | null, organizationId = "org_a") => {
    const { endpoint, secret } = await addWebhook(admin, { organizationId, url });
    return { endpoint, secret: String(secret) };
  };
  const makeDue = () =>
    database.begin((sql) => sql`UPDATE webhook_deliveries SET next_at = 1 WHERE status = 'waiting'`);
  const deliveries = async () => (await listDeliveries(admin, { limit: 10 })).data;

  test("every end is told, signed, to the organization's endpoints only", async () => {
    const { secret } = await add("https://hooks.example.com/a");
    await add("https://hooks.example.com/other", "org_b");
    const ids = [await endJob("completed"), await endJob("failed"), await endJob("cancelled")];
    await sendAll();
    expect(received.map(({ path }) => path)).toEqual(["/a", "/a", "/a"]);
    const events = received.map(({ body, headers }) => new Webhook(secret).verify(body, headers));
    expect(events).toHaveLength(3);
    expect(events).toEqual(
      expect.arrayContaining([
        {
          type: "job.completed",
          timestamp: expect.any(String),
          data: expect.objectContaining({ id: ids[0] }),
        },
        { type: "job.failed", timestamp: expect.any(String), data: expect.objectContaining({ id: ids[1] }) },
        {
          type: "job.cancelled",
          timestamp: expect.any(String),
          data: expect.objectContaining({ id: ids[2] }),
        },
      ]),
    );
    const completed = received.find(({ body }) => body.includes("job.completed"))!;
    expect(JSON.parse(completed.body).data.outputs[0].url).toStartWith("https://gateway.example.com/files/");
    expect((await deliveries()).map(({ status, attempts }) => [status, attempts])).toEqual([
      ["delivered", 1],
      ["delivered", 1],
      ["delivered", 1],
    ]);
  });

  test("an organization whose receivers are slow delays no other one", async () => {
    await add("https://hooks.example.com/slow");
    await add("https://hooks.example.com/prompt", "org_b");
    for (let count = 0; count < 20; count += 1) await endJob("cancelled");
    await endJob("cancelled", null, "org_b");
    await send();
    const paths = received.map(({ path }) => path);
    expect(paths).toContain("/prompt");
    expect(paths.length).toBeLessThan(10);
    await sendAll();
    expect(received).toHaveLength(21);
  });

  test("a job's own address needs the organization's secret", async () => {
    expect(await stores.webhooks.isSigned("org_a")).toBe(false);
    const { secret } = await add(null);
    expect(await stores.webhooks.isSigned("org_a")).toBe(true);
    await endJob("completed", "https://mine.example.com/hook");
    await endJob("completed");
    await sendAll();
    expect(received.map(({ path }) => path)).toEqual(["/hook"]);
    expect(new Webhook(secret).verify(received[0]!.body, received[0]!.headers)).toMatchObject({
      type: "job.completed",
    });
    await expect(add(null)).rejects.toMatchObject({ status: 409 });
  });

  test("a failed attempt is repeated under the same id, and at last given up", async () => {
    await add("https://hooks.example.com/a");
    await endJob("completed");
    let attempts = 0;
    for (; (await deliveries())[0]!.status === "waiting"; attempts += 1) {
      // A redirect is not followed and counts as a failed delivery.
      status = attempts === 0 ? 302 : 500;
      await makeDue();
      await send();
      expect(await send()).toBe(0);
    }
    expect(attempts).toBe(8);
    expect(new Set(received.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    expect((await deliveries())[0]).toMatchObject({
      status: "failed",
      attempts: 8,
      lastResult: "status 500",
    });
    status = 200;
    await redeliver(admin, (await deliveries())[0]!.id);
    await sendAll();
    expect((await deliveries())[0]).toMatchObject({ status: "delivered", attempts: 1 });
    await expect(redeliver(admin, "msg_unknown")).rejects.toMatchObject({ status: 404 });
  });

  test("a message that was delivered is not sent again for an attempt that failed before", async () => {
    await add("https://hooks.example.com/a");
    await endJob("completed");
    expect(await stores.webhooks.remove(-1_000, 10)).toBe(0);
    await sendAll();
    const { id } = (await deliveries())[0]!;
    for (const retryMs of [0, null])
      await stores.webhooks.failed(id, operatorMessage("delivery.noAnswer", { detail: "late" }), retryMs);
    expect((await deliveries())[0]).toMatchObject({ status: "delivered", lastResult: "status 204" });
    expect(await send()).toBe(0);
    expect(await stores.webhooks.remove(-1_000, 10)).toBe(1);
  });

  test("an address that is gone, or not public, is given up at once", async () => {
    await add("https://hooks.example.com/a");
    await endJob("completed");
    status = 410;
    await sendAll();
    expect((await deliveries())[0]).toMatchObject({
      status: "failed",
      attempts: 1,
      lastResult: "status 410",
    });
    await expect(add("https://10.0.0.1/")).rejects.toMatchObject({ field: "url" });
    await expect(add("http://hooks.example.com/")).rejects.toMatchObject({ field: "url" });
  });

  test("an endpoint may be in a network that the operator allows, but no address of a job", async () => {
    admin = {
      ...admin,
      catalogue: { ...admin.catalogue, allowedNetworks: ["10.1.0.0/16", "169.254.0.0/16"] },
    };
    addresses = ["10.1.2.3"];
    await add(null);
    await add("https://chat.internal/hooks");
    await add("https://10.1.2.3/hooks");
    for (const refused of ["https://10.2.0.1/", "https://169.254.169.254/", "http://chat.internal/"])
      await expect(add(refused)).rejects.toMatchObject({ field: "url" });
    await endJob("completed", "https://mine.example.com/hook");
    await sendAll();
    expect(received.map(({ path }) => path)).toEqual(["/hooks", "/hooks"]);
    addresses = ["10.2.0.1"];
    await endJob("completed");
    await sendAll();
    const results = (await deliveries()).map(({ url, lastResult }) => `${url} ${lastResult}`);
    expect(results.toSorted()).toEqual([
      "https://10.1.2.3/hooks status 204",
      "https://10.1.2.3/hooks status 204",
      "https://chat.internal/hooks status 204",
      "https://chat.internal/hooks the address is not allowed",
      "https://mine.example.com/hook the address is not allowed",
    ]);
  });

  test("during a rotation both secrets sign, and after it only the new one", async () => {
    const { endpoint, secret: old } = await add("https://hooks.example.com/a");
    const { secret } = await rotateWebhook(admin, endpoint.id, { overlapMs: 60_000 });
    await endJob("completed");
    await sendAll();
    for (const each of [old, secret]) new Webhook(each).verify(received[0]!.body, received[0]!.headers);
    await rotateWebhook(admin, endpoint.id, { overlapMs: 0 });
    await endJob("completed");
    await sendAll();
    expect(() => new Webhook(secret).verify(received[1]!.body, received[1]!.headers)).toThrow();
    await removeWebhook(admin, endpoint.id);
    await endJob("completed");
    expect(await send()).toBe(0);
  });

  test("two senders never send one message at once", async () => {
    await add("https://hooks.example.com/a");
    for (let index = 0; index < 5; index += 1) await endJob("completed");
    await Promise.all(Array.from({ length: 5 }, () => send()));
    await sendAll();
    expect(received).toHaveLength(5);
    expect(new Set(received.map(({ headers }) => headers["webhook-id"])).size).toBe(5);
  });
});
