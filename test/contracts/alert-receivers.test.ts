import { afterAll, beforeEach, expect, test } from "bun:test";
import type { AdminContext } from "../../src/admin/context.ts";
import { removeAlert } from "../../src/admin/alerts/alerts.ts";
import { rotateWebhook } from "../../src/admin/webhooks/webhooks.ts";
import { watch } from "../../src/alerts/watch.ts";
import type { StatusCause } from "../../src/domain/status.ts";
import { sendDue } from "../../src/jobs/webhooks.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { createSafeFetch } from "../../src/lib/safe-fetch.ts";
import { migrate } from "../../src/storage/database/migrate.ts";
import type { Database } from "../../src/storage/database/sql.ts";
import { storesOn, type Stores } from "../../src/storage/tables/stores.ts";
import {
  addWebhook,
  createAlert,
  listAlertEvents,
  listDeliveries,
  updateAlert,
} from "../support/admin-calls.ts";
import { startAlertReceivers } from "../support/alert-receivers.ts";
import { aJob, FAILURE } from "../support/jobs.ts";
import { aBudget, aKey, anOrganization, BY, onEachDatabase } from "./storage-harness.ts";

const PATH = "/services/T000/B000/secret";
const SLACK = `https://hooks.slack.com${PATH}`;
const KEY = "0123456789abcdef0123456789abcdef";

/* Follows alerts from a cause to simulated chat and on-call services. These services refuse invalid requests. */
onEachDatabase("receivers of alerts", (databases) => {
  const receivers = startAlertReceivers({ path: PATH, routingKey: KEY });
  afterAll(() => receivers.stop());
  let database: Database;
  let stores: Stores;
  let admin: AdminContext;
  let causes: StatusCause[] = [];

  beforeEach(async () => {
    database = await databases.open(await databases.location());
    await migrate(database);
    stores = storesOn(database);
    const catalogue = { mail: null, allowedNetworks: [] as readonly string[] } as AdminContext["catalogue"];
    admin = { store: stores.admin, by: BY, clock: systemClock, catalogue };
    await stores.admin.organizations.create(anOrganization("org_a"), BY);
    await stores.admin.keys.create(aKey("key_a", "org_a"), BY);
    receivers.clear();
    causes = [];
  });

  const safeFetch = createSafeFetch({
    resolve: async () => ["93.184.216.34"],
    dial: ({ link, headers, body }, signal) =>
      fetch(`http://127.0.0.1:${receivers.port}${link.url.pathname}`, {
        method: "POST",
        headers,
        body,
        signal,
      }),
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
  const sendAgain = async () => {
    await database.begin((sql) => sql`UPDATE webhook_deliveries SET next_at = 1 WHERE status = 'waiting'`);
    await send();
  };
  const look = () =>
    watch({
      store: stores.alerts,
      processId: "proc_1",
      ejections: () => [],
      causes: async () => causes,
      installation: () => ({ name: "gateway.example.com", url: "https://gateway.example.com" }),
    });
  const addSlack = (organizationId: string | null = null) =>
    addWebhook(admin, { organizationId, format: "slack", url: SLACK });
  const addPagerDuty = (organizationId: string | null = null) =>
    addWebhook(admin, { organizationId, format: "pagerduty", routingKey: KEY });
  const watchState = (name = "State") =>
    createAlert(admin, { organizationId: null, name, settings: { kind: "status" }, usesWebhooks: true });
  const trouble = (message: string): StatusCause => ({
    kind: "model",
    severity: "critical",
    subject: "gpt",
    organizationId: null,
    since: 0,
    message,
    code: null,
    figures: {},
    path: "/",
  });
  const deliveries = async () => (await listDeliveries(admin, { limit: 20 })).data;

  test("the installation's alerts open and resolve an incident, and are told in a chat", async () => {
    await addSlack();
    await addPagerDuty();
    await watchState("Everything & <all>");
    causes = [trouble(`No target of gpt can be called: <${"x&".repeat(3_000)}>`)];
    await look();
    await send();
    expect(receivers.problems).toEqual([]);
    expect(receivers.messages[0]?.text).toStartWith(
      "*critical: Everything &amp; &lt;all&gt;*\nNo target of gpt",
    );
    expect(receivers.messages[0]?.text).toContain(
      "<https://gateway.example.com/console/settings/alerts|Alerts>",
    );
    const [incident] = receivers.incidents.values();
    expect(incident).toMatchObject({ severity: "critical", events: 1, isOpen: true });
    causes = [];
    await look();
    await send();
    expect(receivers.messages.map(({ text }) => text.slice(0, 10))).toEqual(["*critical:", "*over: Eve"]);
    expect([...receivers.incidents.values()]).toEqual([{ ...incident!, isOpen: false }]);
    expect(receivers.problems).toEqual([]);
    const [event] = (await listAlertEvents(admin, {})).data;
    expect(event?.notices.map(({ status, result }) => `${status} ${result}`).toSorted()).toEqual([
      "delivered status 200",
      "delivered status 200",
      "delivered status 202",
      "delivered status 202",
    ]);
  });

  test("an event that is sent again opens no second incident, and one that is over is not begun", async () => {
    await addPagerDuty();
    await watchState();
    causes = [trouble("gone")];
    receivers.faults.push({ status: 500, isProcessed: true });
    await look();
    await send();
    await sendAgain();
    expect([...receivers.incidents.values()]).toMatchObject([{ events: 2, isOpen: true }]);
    causes = [];
    await look();
    await send();
    receivers.faults.push({ status: 503 });
    causes = [trouble("again")];
    await look();
    await send();
    causes = [];
    await look();
    await sendAgain();
    expect([...receivers.incidents.values()]).toMatchObject([{ isOpen: false }]);
    expect((await deliveries()).map(({ event, status }) => `${event} ${status}`).toSorted()).toEqual([
      "alert.fired delivered",
      "alert.fired failed",
      "alert.resolved delivered",
      "alert.resolved delivered",
    ]);
  });

  test.each([
    [400, "failed"],
    [403, "failed"],
    [404, "failed"],
    [410, "failed"],
    [408, "waiting"],
    [500, "waiting"],
  ])("a message that is refused with %s is %s", async (status, state) => {
    await addSlack();
    await watchState();
    causes = [trouble("gone")];
    receivers.faults.push({ status });
    await look();
    await send();
    expect(await deliveries()).toMatchObject([
      { status: state, attempts: 1, lastResult: `status ${status}` },
    ]);
  });

  test("a service that is busy is left alone for as long as it asks, an hour at most", async () => {
    await addSlack();
    await watchState();
    for (const [asked, least, most] of [
      ["120", 110_000, 130_000],
      ["999999", 3_590_000, 3_610_000],
      ["soon", 1_000, 400_000],
    ] as const) {
      causes = [trouble("gone")];
      receivers.faults.push({ status: 429, headers: { "retry-after": asked } });
      await look();
      await sendAgain();
      const [delivery] = await deliveries();
      expect(delivery).toMatchObject({ status: "waiting", lastResult: "status 429" });
      expect(delivery!.nextAt! - Date.now()).toBeWithin(least, most);
    }
  });

  test("a budget's end resolves its incident alone, and ends of jobs are not told", async () => {
    await addSlack("org_a");
    await addPagerDuty("org_a");
    await stores.jobs.submit(aJob({ organizationId: "org_a", keyId: "key_a" }));
    await stores.jobs.finish((await stores.jobs.claim("w", () => null))!, FAILURE);
    expect(await send()).toBe(0);
    await stores.admin.budgets.create(aBudget("budget_1", 100n), BY);
    await createAlert(admin, {
      organizationId: "org_a",
      name: "Money",
      settings: { kind: "budget", percents: [100] },
      usesWebhooks: true,
    });
    await database.begin((sql) => sql`UPDATE budgets SET spent = 100`);
    await look();
    await send();
    await database.begin((sql) => sql`UPDATE budgets SET spent = 0`);
    await look();
    await send();
    expect(receivers.messages).toHaveLength(1);
    expect([...receivers.incidents.values()]).toMatchObject([{ isOpen: false }]);
  });

  test("an incident ends with its alert, or although the alert tells nobody any more", async () => {
    await addPagerDuty();
    for (const end of ["removed", "silent"]) {
      const { id } = await watchState();
      causes = [trouble("gone")];
      await look();
      await send();
      expect([...receivers.incidents.values()].at(-1)).toMatchObject({ isOpen: true });
      if (end === "removed") await removeAlert(admin, id);
      else {
        await updateAlert(admin, id, { usesWebhooks: false });
        causes = [];
        await look();
      }
      await send();
      expect([...receivers.incidents.values()].at(-1)).toMatchObject({ isOpen: false });
    }
    expect(receivers.incidents.size).toBe(2);
  });

  test("an endpoint has what its format needs, and its key is shown nowhere", async () => {
    const refused = async (input: object) =>
      await addWebhook(admin, input).then(
        () => "added",
        (error: { status: number; field: string }) => `${error.status} ${error.field}`,
      );
    expect(await refused({ organizationId: null, format: "slack" })).toBe("400 url");
    expect(await refused({ organizationId: null })).toBe("400 url");
    expect(await refused({ organizationId: null, format: "pagerduty" })).toBe("400 routingKey");
    expect(await refused({ organizationId: null, format: "pagerduty", routingKey: "short" })).toBe(
      "400 routingKey",
    );
    expect(await refused({ organizationId: null, format: "slack", url: SLACK, routingKey: KEY })).toBe(
      "400 routingKey",
    );
    const { endpoint, secret } = await addPagerDuty();
    expect([endpoint.url, secret]).toEqual(["https://events.pagerduty.com/v2/enqueue", null]);
    await expect(rotateWebhook(admin, endpoint.id, { overlapMs: 0 })).rejects.toMatchObject({ status: 404 });
    const shown = [await stores.admin.webhooks.list(null), await stores.admin.audit.list({ limit: 10 })];
    expect(JSON.stringify(shown, (_, value) => (typeof value === "bigint" ? 0 : value))).not.toContain(KEY);
    expect(await stores.admin.webhooks.list("org_a")).toEqual([]);
  });
});
