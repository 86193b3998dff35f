import { expect, test } from "bun:test";
import { join } from "node:path";
import { ERROR_CODES } from "../../src/domain/error-codes.table.ts";
import { METRICS } from "../../src/telemetry/metrics.table.ts";
import { QUESTIONS } from "./questions.ts";
import { DEPLOY, panels, rules } from "./shipped.ts";

/*
 * Compares the shipped board and alert rules with documents and code. `npm run watch:check` runs both on real scrapes.
 */
const PROMTOOL = Bun.which("promtool");
const ROOT = join(import.meta.dir, "../..");
const page = await Bun.file(join(ROOT, "docs/run/prometheus.md")).text();

test.skipIf(PROMTOOL === null)("each alert rule fires once in its test", () => {
  const directory = join(DEPLOY, "prometheus");
  for (const args of [
    ["check", "rules", "alerts.yaml"],
    ["test", "rules", "alerts.test.yaml"],
  ]) {
    const { exitCode, stdout, stderr } = Bun.spawnSync([PROMTOOL ?? "", ...args], { cwd: directory });
    expect(`${stdout}${stderr}`).toContain("SUCCESS");
    expect(exitCode).toBe(0);
  }
});

test("each alert rule has a test", async () => {
  const tests = await Bun.file(join(DEPLOY, "prometheus/alerts.test.yaml")).text();
  const tested = [...tests.matchAll(/alertname: (\w+)/g)].map(([, name]) => name ?? "");
  const names = rules.map(({ alert }) => alert);
  expect(names.length).toBeGreaterThan(20);
  expect(tested).toEqual(names);
});

test("the questions in the documents have the panels and queries of the board", () => {
  const listed = [...page.matchAll(/^- ([^`]+): `(.+)`$/gm)].map(([, title = "", query = ""]) => ({
    title,
    query,
  }));
  const shown = panels.map(({ title, query }) => ({ title, query }));
  expect(shown.length).toBeGreaterThan(20);
  expect(listed).toEqual(shown);
});

test("the table of questions in the documents names the panels that answer them in the played week", () => {
  const [, table = ""] = page.split("| Question");
  const listed = [...table.matchAll(/^\| (?!-)(.+?) +\| (.+?) +\|/gm)].map(([, text, titles]) => [
    text,
    titles,
  ]);
  const asked = QUESTIONS.map(({ text, panels: answers }) => [text, Object.keys(answers).join("; ")]);
  expect(listed.slice(0, asked.length)).toEqual(asked);
  const answering = QUESTIONS.flatMap(({ panels: answers }) => Object.keys(answers));
  expect(answering).toEqual(panels.map(({ title }) => title));
});

test("rules and panels ask for metrics that the gateway has", () => {
  const queries = [...rules.map(({ expr }) => expr), ...panels.map(({ query }) => query)].join("\n");
  const names = new Set(
    [...queries.matchAll(/\b((?:gateway|process)_[a-z_]+)/g)].map(([, name = ""]) =>
      name.replace(/_bucket$/, ""),
    ),
  );
  expect(names.size).toBeGreaterThan(30);
  expect([...names].filter((name) => !(name in METRICS))).toEqual([]);
});

test("the rule about failing requests counts every code of a server's fault", () => {
  const [, codes = ""] =
    /outcome=~"([\w|]+)"/.exec(rules.find(({ alert }) => alert === "GatewayRequestsFail")?.expr ?? "") ?? [];
  const faults = Object.entries(ERROR_CODES).filter(([, { status }]) => status >= 500);
  expect(codes.split("|").toSorted()).toEqual(faults.map(([code]) => code).toSorted());
});
