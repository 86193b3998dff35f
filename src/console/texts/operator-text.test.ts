import { Glob } from "bun";
import { beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import i18next from "i18next";
import { z } from "zod";
import { operations } from "../../admin/operations.ts";
import { operatorMessage } from "../../domain/operator-message.ts";
import type { UpstreamErrorKind } from "../../domain/upstream-error.ts";
import type { Ejection } from "../../gateway/routing/health.ts";
import { operatorText } from "./operator-text.ts";
import * as zh from "./zh/index.ts";

beforeAll(() =>
  i18next.init({
    lng: "zh",
    ns: ["messages"],
    resources: { zh },
    fallbackLng: false,
    keySeparator: false,
    interpolation: { escapeValue: false },
  }),
);

test("a sentence of the gateway is shown in the reader's language, its amounts and reasons too", () => {
  const figures = { owner: "acme", percent: 100, spent: "1.000400000", amount: "1.00", currency: "USD" };
  expect(operatorText(operatorMessage("finding.budget.spent", { ...figures, period: "month" }))).toBe(
    "acme 的预算已全部用完：本月 US$1.00 / US$1.00。其请求被拒绝。",
  );
  expect(operatorText(operatorMessage("cause.ejection", { target: "a/b", reason: "limited" }))).toBe(
    "a/b 停止服务：达到供应商的限额。",
  );
  expect(operatorText(operatorMessage("part.backlog", { count: 2 }))).toBe("2 条计费记录等待写入账本。");
});

test("an error with several problems is shown as all of them, each after the path of its field", () => {
  const problems = [
    {
      field: "limits.runningJobs",
      ...operatorMessage("input.type", { expected: "int", received: "fraction" }),
    },
    { field: "kind", ...operatorMessage("input.values", { values: '"day", "month"' }) },
    { field: null, message: "is new", code: "input.new" },
  ];
  expect(operatorText({ message: "in English", problems })).toBe(
    'limits.runningJobs 必须是整数，不能是小数；kind 必须是 "day" 或 "month"；is new',
  );
});

test("a suggested name ends the sentence", () => {
  const figures = { noun: "channel", id: "opnai", meant: "openai" };
  expect(operatorMessage("error.missing", figures).message).toBe(
    'there is no channel "opnai"; did you mean "openai"?',
  );
  expect(operatorText(operatorMessage("error.missing", figures))).toBe("没有通道“opnai”；您是否指“openai”？");
});

test("a sentence without a code, or with one of a later version, is shown as the gateway wrote it", () => {
  expect(operatorText({ message: "a new {{sentence}}", code: "part.new", figures: { count: 2 } })).toBe(
    "a new {{sentence}}",
  );
  expect(operatorText({ message: "status 500", code: null })).toBe("status 500");
});

test("names in a sentence stay as they are", () => {
  const target = "a/$t(part.limits) {{reason}}: b";
  const shown = operatorText(operatorMessage("cause.ejection", { target, reason: "new: $t(x)" }));
  expect(shown).toBe(`${target} 停止服务：new: $t(x)。`);
});

/** Paths of texts in responses that need no code, each with the reason. */
const VERBATIM = new Set([
  // A message to a caller, which the console quotes.
  "jobs.*:error.message",
  "requests.*:message",
  "requests.*:request.message",
  // Words of a vendor or of an error in the program, which the console labels as such.
  "requests.*:request.cause",
  // Words of the configuration file, which the console quotes.
  "channels.*:problems",
  "models.*:problems",
  // A code. Each code has a text of its own, as a test below checks.
  "channels.*:health.reason",
  "overview.*:channels.reason",
  // A message to a caller, which the console quotes.
  "routes.explain:refusal.message",
  // Written by the member who made the entry.
  "ledger.*:reason",
  // Shown only by the command line.
  "routes.explain:verdict",
]);

test("every sentence in a response of administration has a code, so that the console can translate it", () => {
  const found = Object.entries(operations).flatMap(([name, { output }]) =>
    sentences(z.toJSONSchema(output, { io: "input", unrepresentable: "any" })).map(
      (path) => `${name}:${path}`,
    ),
  );
  expect(
    [...new Set(found)].filter((path) => !VERBATIM.has(path.replace(/\.\w+:/, ".*:")) && !VERBATIM.has(path)),
  ).toEqual([]);
});

test("every reason of a channel's state has a text", () => {
  const reasons = {
    account: 1,
    limited: 1,
    overload: 1,
    unreachable: 1,
    timeout: 1,
    overloaded: 1,
    broken: 1,
  } satisfies Record<Exclude<UpstreamErrorKind, RequestKind> | EjectionReason, 1>;
  const missing = Object.keys(reasons).filter((reason) => !(`reason.${reason}` in zh.overview));
  expect(missing).toEqual([]);
});

/** Kinds of errors that say nothing about a channel. */
type RequestKind = "refused" | "empty" | "too_long" | "too_large" | "rejected";
type EjectionReason = Ejection["reason"];

type Schema = z.core.JSONSchema.BaseSchema;
const NAMES =
  /^(message|cause|reason|problems?|refusal|verdict|note|notes|warnings?|hint|faults?|result|lastResult)$/;
const isText = (schema: Schema): boolean =>
  [schema.type].flat().includes("string")
    ? schema.enum === undefined
    : [schema.anyOf ?? [], schema.items ?? []]
        .flat()
        .some((part) => typeof part === "object" && isText(part));

/**
 * Returns the paths of the texts without a code. The name of such a text matches `NAMES`, and its object has no
 * figures.
 */
function sentences(schema: Schema, path: readonly string[] = []): string[] {
  const below = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), schema.items ?? []].flat();
  const properties = Object.entries(schema.properties ?? {});
  const hasCode = properties.some(([name]) => /^(figures|\w+Figures)$/.test(name));
  return [
    ...below.flatMap((part) => (typeof part === "object" ? sentences(part, path) : [])),
    ...properties.flatMap(([name, part]) => {
      if (typeof part !== "object") return [];
      const own = [...path.filter((each) => each !== "data"), name];
      return NAMES.test(name) && isText(part) ? (hasCode ? [] : [own.join(".")]) : sentences(part, own);
    }),
  ];
}

/** Number of refusals without a code, by file. The console cannot cause these refusals, or says more than they do. */
const WITHOUT_CODE: Readonly<Record<string, number>> = {
  // Mostly about cursors, formats and ids that only programs write.
  "admin/audit/operations.ts": 1,
  "admin/ledger/ledger.ts": 3,
  "admin/paging.ts": 2,
  "admin/prices/list.ts": 1,
  "admin/exports/exports.ts": 1,
  "server/endpoints/admin-export.ts": 1,
  "server/endpoints/admin-input.ts": 1,
  // About an imported configuration. The console quotes these words.
  "admin/document/money-sections.ts": 3,
  "admin/document/sections.ts": 4,
  // Mostly about unknown names, which members of the console choose from lists.
  "admin/budgets/budgets.ts": 1,
  "admin/channels/channels.ts": 1,
  "admin/channels/test-channel.ts": 1,
  "admin/context.ts": 1,
  "admin/webhooks/webhooks.ts": 1,
  // Errors about missing records. The page has its own text for a missing record.
  "admin/requests/details.ts": 1,
  // Caused by programs, tokens, the command line or the configuration.
  "admin/ledger/upkeep.ts": 1,
  "admin/sign-in/signed-in.ts": 1,
  "admin/tokens/tokens.ts": 1,
  "admin/usage/range.ts": 1,
  "run/reload.ts": 1,
  "server/endpoints/admin-events.ts": 1,
  "server/session-cookie.ts": 1,
  "server/signed-in.ts": 2,
};

test("a refusal that the console can cause has a code", async () => {
  const source = join(import.meta.dir, "../..");
  const found: Record<string, number> = {};
  for await (const file of new Glob("**/*.ts").scan(source)) {
    if (file.endsWith(".test.ts")) continue;
    const text = await Bun.file(join(source, file)).text();
    // Matches a refusal whose message is a literal, without a code.
    const literal = /new AdminError\(\s*\d+,\s*(?:null|"[^"]*"|`[^`]*`|[^,`"]+?),\s*["`]/g;
    const count = text.match(literal)?.length ?? 0;
    if (count > 0) found[file] = count;
  }
  expect(found).toEqual(WITHOUT_CODE);
});
