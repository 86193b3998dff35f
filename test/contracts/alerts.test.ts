import { afterAll, beforeEach, expect, test } from "bun:test";
import { SMTPServer } from "smtp-server";
import { removeAlert } from "../../src/admin/alerts/alerts.ts";
import type { AdminContext } from "../../src/admin/context.ts";
import { isRecipient } from "../../src/admin/alerts/recipients.ts";
import { openMailer, sendDueMails } from "../../src/alerts/mail.ts";
import { watch } from "../../src/alerts/watch.ts";
import type { StatusCause } from "../../src/domain/status.ts";
import type { Ejection } from "../../src/gateway/routing/health.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { migrate } from "../../src/storage/database/migrate.ts";
import type { Database } from "../../src/storage/database/sql.ts";
import { storesOn, type Stores } from "../../src/storage/tables/stores.ts";
import { aBudget, aKey, anOrganization, BY, onEachDatabase } from "./storage-harness.ts";
import {
  addWebhook,
  createAlert,
  createMember,
  listAlertEvents,
  listDeliveries,
  updateAlert,
  updateMember,
} from "../support/admin-calls.ts";

/* Follows alerts from a cause to the mail server and the queue of webhooks. */
interface MailRow {
  status: string;
  last_result: string | null;
}

interface Received {
  from: string;
  to: string[];
  text: string;
}

onEachDatabase("alerts", (databases) => {
  let database: Database;
  let stores: Stores;
  let admin: AdminContext;
  let ejections: Ejection[] = [];
  let causes: StatusCause[] = [];
  const mails: Received[] = [];
  const problems: string[] = [];
  let refusal: number | null = null;
  let allowedDomains: string[] = [];

  const server = new SMTPServer({
    secure: false,
    disabledCommands: ["STARTTLS"],
    onAuth: ({ username, password }, _, done) =>
      username === "gateway" && password === "secret"
        ? done(null, { user: username })
        : done(new Error("535 wrong")),
    onRcptTo: (_, __, done) =>
      done(refusal === null ? null : Object.assign(new Error("not now"), { responseCode: refusal })),
    onData(stream, { envelope }, done) {
      void new Response(stream as never).text().then((text) => {
        mails.push({
          from: envelope.mailFrom ? envelope.mailFrom.address : "",
          to: envelope.rcptTo.map(({ address }) => address),
          text,
        });
        done();
      });
    },
  });
  const listening = new Promise<number>((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.server.address();
      resolve(typeof address === "object" && address ? address.port : 0);
    });
  });
  afterAll(() => server.close());

  beforeEach(async () => {
    database = await databases.open(await databases.location());
    await migrate(database);
    stores = storesOn(database);
    admin = {
      store: stores.admin,
      by: BY,
      clock: systemClock,
      catalogue: { mail: null, allowedNetworks: [] as readonly string[] } as AdminContext["catalogue"],
    };
    for (const id of ["org_a", "org_b"]) {
      await stores.admin.organizations.create(anOrganization(id), BY);
      await stores.admin.keys.create(aKey(`key_${id}`, id), BY);
    }
    mails.length = 0;
    problems.length = 0;
    ejections = [];
    causes = [];
    refusal = null;
    allowedDomains = ["example.com"];
  });

  const look = (processId = "proc_1") =>
    watch({
      store: stores.alerts,
      processId,
      ejections: () => ejections,
      causes: async () => causes,
      installation: () => ({ name: "gateway.example.com", url: "https://gateway.example.com" }),
    });
  const sendMails = async () => {
    const url = `smtp://gateway:secret@127.0.0.1:${await listening}`;
    const send = openMailer({ url, from: "Gateway <gateway@example.com>" });
    await sendDueMails(
      stores.alerts,
      send,
      (email, organizationId) => isRecipient(stores.admin, { allowedDomains }, email, organizationId),
      (message, cause) => void problems.push(`${message}: ${cause}`),
    );
  };
  const events = async (organizationId = "org_a") => (await listAlertEvents(admin, { organizationId })).data;
  const spend = (id: string, amount: bigint) =>
    database.begin((sql) => sql`UPDATE budgets SET spent = ${amount} WHERE id = ${id}`);
  const traffic = (status: string, requests: number) =>
    stores.admin.usage.addTraffic([
      {
        at: Date.now(),
        organizationId: "org_a",
        keyId: "key_org_a",
        model: "m",
        channel: "c",
        route: "chat",
        status,
        code: "",
        requests,
        charged: 0,
        durations: [requests],
      },
    ]);

  test("a budget tells of the period that runs by the store's clock, and of none that is over", async () => {
    const day = { period: "day", spent: 90n } as const;
    const inTwoYears = Date.now() + 2 * 365 * 24 * 60 * 60_000;
    await stores.admin.budgets.create(aBudget("budget_over", 100n, { ...day, periodStart: 0 }), BY);
    await stores.admin.budgets.create(aBudget("budget_ahead", 100n, { ...day, periodStart: inTwoYears }), BY);
    const { budgets, now } = await stores.alerts.facts("org_a", 0);
    expect(budgets.map(({ spent }) => spent)).toEqual([90n, 0n]);
    for (const { periodStart } of budgets) expect(now - periodStart).toBeWithin(0, 24 * 60 * 60_000);
    const rule = { organizationId: "org_a", name: "Money", settings: { kind: "budget" } };
    await createAlert(admin, { ...rule, usesWebhooks: true });
    await look();
    expect((await events()).map(({ subject }) => subject)).toEqual(["budget_ahead"]);
  });

  test("a budget tells once for each share, by mail and webhook, and nobody else", async () => {
    await stores.admin.budgets.create(aBudget("budget_1", 1_000_000_000n), BY);
    await addWebhook(admin, { organizationId: "org_a", url: "https://hooks.example.com/a" });
    await addWebhook(admin, { organizationId: "org_b", url: "https://hooks.example.com/b" });
    const { id } = await createAlert(admin, {
      organizationId: "org_a",
      name: "Money",
      settings: { kind: "budget" },
      emails: ["billing@example.com"],
      usesWebhooks: true,
    });
    // No operation accepts this name. Even a stored name must not become a header of a mail.
    const name = "Money\r\nBcc: everybody@example.com";
    await stores.admin.alerts.update(id, () => ({ name }), BY);
    await look();
    expect(await events()).toEqual([]);
    await spend("budget_1", 850_123_456n);
    await look();
    await look();
    expect(await events()).toMatchObject([{ subject: "budget_1", resolvedAt: null }]);
    await spend("budget_1", 1_000_000_000n);
    await look();
    expect((await events()).map(({ message }) => message)).toEqual([
      expect.stringContaining("all of its budget"),
      expect.stringContaining("80 %"),
    ]);
    await sendMails();
    await sendMails();
    expect(mails.map(({ to, from }) => [from, ...to])).toEqual([
      ["gateway@example.com", "billing@example.com"],
      ["gateway@example.com", "billing@example.com"],
    ]);
    const early = mails.find(({ text }) => text.includes("80 %"))!;
    expect(early.text).toContain("has spent at least 80 % of its budget: 0.85 USD of 1.00");
    expect(early.text.split("\r\n\r\n")[0]).not.toMatch(/^Bcc:/m);
    const { data } = await listDeliveries(admin, { limit: 10 });
    expect(data.map(({ url, event }) => [url, event])).toEqual([
      ["https://hooks.example.com/a", "alert.fired"],
      ["https://hooks.example.com/a", "alert.fired"],
    ]);
  });

  test("a share of failed requests fires, and is over when they succeed again", async () => {
    await addWebhook(admin, { organizationId: "org_a", url: "https://hooks.example.com/a" });
    await createAlert(admin, {
      organizationId: "org_a",
      name: "Errors",
      settings: { kind: "error_rate", percent: 10, minutes: 5, minRequests: 10 },
      usesWebhooks: true,
    });
    await traffic("4", 100);
    await look();
    expect(await events()).toEqual([]);
    await traffic("5", 30);
    await look();
    expect(await events()).toMatchObject([{ kind: "error_rate", resolvedAt: null }]);
    await traffic("2", 1_000);
    await look();
    expect(await events()).toMatchObject([{ kind: "error_rate", resolvedAt: expect.any(Number) }]);
    const { data } = await listDeliveries(admin, { limit: 10 });
    expect(data.map(({ event }) => event).toSorted()).toEqual(["alert.fired", "alert.resolved"]);
  });

  test("a target out of service in any process fires for whom it concerns, and is over when it is back", async () => {
    for (const organizationId of ["org_a", "org_b"])
      await createAlert(admin, {
        organizationId,
        name: "Vendors",
        settings: { kind: "ejection", seconds: 10 },
        emails: ["ops@example.com"],
      });
    ejections = [{ target: "openai/gpt", organization: "org_a", reason: "account", durationMs: 60_000 }];
    await look("proc_2");
    await database.begin((sql) => sql`UPDATE ejected_targets SET since = since - 20000`);
    await look("proc_2");
    expect(await events("org_a")).toMatchObject([{ subject: "openai/gpt", resolvedAt: null }]);
    expect(await events("org_b")).toEqual([]);
    ejections = [];
    await database.begin((sql) => sql`UPDATE ejected_targets SET seen_at = 1`);
    await look("proc_2");
    expect(await events("org_a")).toMatchObject([{ resolvedAt: expect.any(Number) }]);
  });

  test("one process watches at a time, and another takes over from one that is gone", async () => {
    expect(await stores.alerts.takeTurn("proc_1", 60_000)).toBe(true);
    expect(await stores.alerts.takeTurn("proc_2", 60_000)).toBe(false);
    expect(await stores.alerts.takeTurn("proc_1", 60_000)).toBe(true);
    await database.begin((sql) => sql`UPDATE alert_turn SET until_time = 1`);
    expect(await stores.alerts.takeTurn("proc_2", 60_000)).toBe(true);
  });

  test("a mail that is refused is sent again later, and given up in the end", async () => {
    await stores.admin.budgets.create(aBudget("budget_1", 100n), BY);
    await spend("budget_1", 100n);
    await createAlert(admin, {
      organizationId: "org_a",
      name: "Money",
      settings: { kind: "budget", percents: [100] },
      emails: ["ops@example.com"],
    });
    await look();
    refusal = 451;
    const state = async () =>
      (await database.read((sql) => sql<MailRow[]>`SELECT status, last_result FROM mails`)).map(
        (row) => `${row.status}: ${row.last_result}`,
      );
    for (let attempt = 1; attempt <= 6; attempt += 1) {
      await database.begin((sql) => sql`UPDATE mails SET next_at = 1`);
      await sendMails();
      expect(await state()).toEqual([expect.stringMatching(attempt < 6 ? /^waiting: .*not now/ : /^failed/)]);
    }
    const ends = [10, 60, 300, 1_200, 3_600].map((seconds) => `is tried again in ${seconds} s`);
    expect(problems).toEqual(
      [...ends, "is given up"].map((end) =>
        expect.stringMatching(new RegExp(`org_a was not sent and ${end}: .*not now`)),
      ),
    );
    refusal = 550;
    await database.begin((sql) => sql`UPDATE mails SET status = 'waiting', next_at = 1, attempts = 0`);
    await sendMails();
    expect(await state()).toEqual([expect.stringMatching(/^failed/)]);
    refusal = null;
    await database.begin((sql) => sql`UPDATE mails SET status = 'waiting', next_at = 1`);
    await sendMails();
    expect(mails).toHaveLength(1);
  });

  test("a mail goes to those who may get it when it is sent, whoever the rule names", async () => {
    allowedDomains = ["ops.example"];
    const make = async (name: string, organizations: string[]) => {
      const fields = { name, email: `${name}@example.com`, role: "viewer", organizations, password: null };
      return (await createMember(admin, fields)).member;
    };
    await make("own", ["org_a"]);
    await make("other", ["org_b"]);
    const left = await make("left", ["org_a"]);
    await stores.admin.budgets.create(aBudget("budget_1", 100n), BY);
    await spend("budget_1", 100n);
    const names = ["own@example.com", "other@example.com", "left@example.com"];
    await createAlert(admin, {
      organizationId: "org_a",
      name: "Money",
      settings: { kind: "budget", percents: [100] },
      emails: [...names, "stranger@elsewhere.example", "anybody@ops.example"],
    });
    await look();
    await updateMember(admin, left.id, { isDisabled: true });
    await sendMails();
    expect(mails.flatMap(({ to }) => to).toSorted()).toEqual(["anybody@ops.example", "own@example.com"]);
    const rows = await database.read(
      (sql) => sql<(MailRow & { recipient: string })[]>`SELECT recipient, status, last_result FROM mails
        WHERE status <> 'sent' ORDER BY recipient`,
    );
    expect(rows).toEqual(
      ["left@example.com", "other@example.com", "stranger@elsewhere.example"].map((recipient) => ({
        recipient,
        status: "failed",
        last_result: expect.stringContaining("mail.allowed_domains"),
      })),
    );
    expect(problems).toEqual(rows.map(() => expect.stringContaining("mail.allowed_domains")));
  });

  test("a rule of the installation watches all organizations, and says where it is and how serious it is", async () => {
    const rule = { name: "All", emails: ["ops@example.com"], usesWebhooks: true };
    await createAlert(admin, { ...rule, settings: { kind: "status", severity: "critical" } });
    await createAlert(admin, { ...rule, emails: [], settings: { kind: "error_rate", minRequests: 10 } });
    await traffic("5", 30);
    const cause = {
      subject: "database",
      organizationId: null,
      since: null,
      code: null,
      figures: {},
      path: "/",
    };
    causes = [
      { ...cause, kind: "part", severity: "critical", message: "The database is unavailable." },
      { ...cause, kind: "slow", severity: "warning", message: "slow" },
      { ...cause, kind: "alert", severity: "critical", message: "an alert is no news" },
    ];
    await look();
    const { data } = await listAlertEvents(admin, {});
    expect(data.map(({ kind, severity, subject }) => [kind, severity, subject]).toSorted()).toEqual([
      ["error_rate", "critical", "requests"],
      ["status", "critical", "database"],
    ]);
    expect(await events()).toEqual([]);
    const byState = data.find(({ kind }) => kind === "status")!;
    expect(byState.notices).toMatchObject([{ way: "mail", to: "ops@example.com", status: "waiting" }]);
    await sendMails();
    expect(mails[0]?.text).toContain("Subject: [gateway.example.com] critical: All");
    expect(mails[0]?.text).toContain("Installation: gateway.example.com");
    expect(mails[0]?.text).toContain("https://gateway.example.com/console/settings/alerts");
    const told = (await listAlertEvents(admin, {})).data.find(({ kind }) => kind === "status");
    expect(told?.notices).toMatchObject([{ status: "delivered", attempts: 1 }]);
    causes = [];
    await look();
    const ended = (await listAlertEvents(admin, { state: "open" })).data;
    expect(ended.map(({ kind }) => kind)).toEqual(["error_rate"]);
  });

  test.each(["disabled", "removed"] as const)(
    "an event ends with its alert that is %s, says so, and cannot begin after that",
    async (endReason) => {
      const rule = { organizationId: "org_a", name: "Errors", settings: { kind: "error_rate" } };
      const { id } = await createAlert(admin, rule);
      const other = await createAlert(admin, { ...rule, name: "Other" });
      const known = (await stores.alerts.rules()).find((each) => each.id === id);
      await traffic("5", 30);
      await look();
      expect((await events()).map((event) => event.resolvedAt)).toEqual([null, null]);
      if (endReason === "disabled") await updateAlert(admin, id, { isDisabled: true });
      else await removeAlert(admin, id);
      // The process that evaluates the rules may have read the rule before the change.
      const late = { condition: "late", subject: "late", message: "late", code: null, figures: {} };
      const condition = { ...late, severity: "warning" } as const;
      await stores.alerts.settle(known!, [condition], Date.now(), { name: "gateway", url: null });
      await look();
      const own = (await events()).filter(({ alertId }) => alertId === id);
      expect(own).toMatchObject([{ subject: "requests", resolvedAt: expect.any(Number), endReason }]);
      const open = (await listAlertEvents(admin, { state: "open" })).data;
      expect(open).toMatchObject([{ alertId: other.id, endReason: null }]);
      if (endReason === "removed") return;
      await updateAlert(admin, id, { isDisabled: false });
      await look();
      expect((await events()).filter((event) => event.resolvedAt === null)).toHaveLength(2);
    },
  );

  test("a rule that tells nobody lists; one of another's budget, or changed meanwhile, is refused", async () => {
    await stores.admin.budgets.create(aBudget("budget_b", 100n, { organizationId: "org_b" }), BY);
    const rule = { organizationId: "org_a", name: "x", settings: { kind: "budget" as const } };
    await removeAlert(admin, (await createAlert(admin, rule)).id);
    const foreign = { ...rule, usesWebhooks: true, settings: { kind: "budget", budgetId: "budget_b" } };
    await expect(createAlert(admin, foreign)).rejects.toMatchObject({ status: 404 });
    const { id, version } = await createAlert(admin, { ...rule, usesWebhooks: true });
    await updateAlert(admin, id, { isDisabled: true, version });
    await expect(updateAlert(admin, id, { isDisabled: false, version })).rejects.toMatchObject({
      status: 409,
    });
    expect(await stores.alerts.rules()).toEqual([]);
    await removeAlert(admin, id);
    await expect(removeAlert(admin, id)).rejects.toMatchObject({ status: 404 });
  });
});
