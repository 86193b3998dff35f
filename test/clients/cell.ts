import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { until } from "../support/gateway.ts";
import { makePng } from "../support/pictures.ts";
import { openMatrix, type MatrixFixture, type VendorName } from "../support/text-matrix.ts";
import type { Behaviour } from "../upstreams/behaviour.ts";
import type { Hit } from "../upstreams/simulator.ts";
import type { Installed } from "./install.ts";
import type { Program } from "./programs.table.ts";
import { startRecordingProxy } from "./proxy.ts";
import { runProgram } from "./processes.ts";
import { readRecipe } from "./recipes.ts";
import { PICTURE, type Scenario, type Step } from "./scenarios.table.ts";
import { callFor, countResults, hasPicture, isMainRequest, offeredTools } from "./tools.ts";

/** One program in one scenario with one vendor. */
export interface Cell {
  program: Program;
  scenario: Scenario;
  vendor: VendorName;
  result: CellResult;
}

export interface CellResult {
  outcome: "done" | "message shown" | "failed";
  reason: string;
  /** Number of requests that the program's main loop sent to the gateway. */
  requests: number;
  /** Log of the requests at the gateway, and the program's output. */
  log: string;
}

const MAX_MS = 300_000;
const LOOPS = new URL("./loops/", import.meta.url).pathname;

/** Runs a program in front of one vendor, with a gateway and folders of its own. */
export async function runCell(
  program: Program,
  scenario: Scenario,
  { vendor, installed, signal }: { vendor: VendorName; installed: Installed; signal: AbortSignal },
): Promise<CellResult> {
  const folder = await mkdtemp(join(tmpdir(), "gateway-client-"));
  const [home, work] = [join(folder, "home"), join(folder, "work")];
  await using ending = new AsyncDisposableStack();
  ending.defer(() => rm(folder, { recursive: true, force: true }));
  await Promise.all([home, work].map((each) => mkdir(each)));
  await Bun.write(join(work, PICTURE), makePng(32, 32));
  const fixture = ending.use(await openMatrix());
  const proxy = ending.use(await startRecordingProxy(fixture.gateway.url));
  const sight = { pictures: 0 };
  fixture.vendors[vendor].respondBy(chooseFor(scenario, work, sight));
  const key = scenario.isPoor ? await poorKey(fixture) : fixture.gateway.key;
  const recipe = readRecipe(program.recipe ?? program.name, { url: proxy.url, model: vendor });
  for (const [path, text] of Object.entries(recipe.files)) await Bun.write(join(home, path), text);
  const loop = program.loop ?? "";
  const path = join(installed.folder, `${basename(folder)}-${loop}`);
  if (loop) {
    // The file must be beside the packages that it imports.
    ending.defer(() => rm(path, { force: true }));
    await Bun.write(path, `${recipe.code}\n${await Bun.file(join(LOOPS, loop)).text()}`);
  }
  const env = { ...QUIET, ...proxy.env, ...installed.env, HOME: home, GATEWAY_KEY: key };
  const { output, isLate } = await runProgram(`${recipe.shell}\n${program.command ?? commandOf(path)}`, {
    cwd: work,
    env: { ...env, PROMPT: promptOf(scenario) },
    mark: folder,
    maxMs: MAX_MS,
    signal,
  });
  const requests = proxy.mainRequests();
  const reason = await problemOf({ scenario, program, work, isLate, output, requests, sight });
  const good = endOf(program, scenario).message ? "message shown" : "done";
  return {
    outcome: reason === null ? good : "failed",
    reason: reason ?? "",
    requests,
    log: [...proxy.log(), output.trim()].join("\n"),
  };
}

function commandOf(path: string): string {
  return `${path.endsWith(".py") ? "python3" : "node"} ${path}`;
}

/**
 * Disables telemetry that the blocks of the documents do not disable, colours, and the download of prices. Sets UTF-8.
 */
const QUIET = {
  DO_NOT_TRACK: "1",
  NO_COLOR: "1",
  LANG: "C.UTF-8",
  LITELLM_LOCAL_MODEL_COST_MAP: "True",
  MASTRA_TELEMETRY_DISABLED: "1",
};

function promptOf({ turns }: Scenario): string {
  const steps = turns.flat().map((step) => ("save" in step ? `save ${step.save}` : `look at ${step.look}`));
  return `Please ${steps.join(" and ")}, each file with the text hello.`;
}

/**
 * Returns a function that chooses the vendor's behaviour for each request: the task's next turn, with the scenario's
 * next fault.
 */
function chooseFor(scenario: Scenario, work: string, sight: { pictures: number }) {
  const faults = [...(scenario.faults ?? [])];
  return (hit: Hit): Behaviour | undefined => {
    if (hit.method !== "POST" || hit.path.includes("count")) return undefined;
    if (scenario.always) return scenario.always;
    const body = hit.json();
    if (!isMainRequest(body)) return { calls: [], text: "A title" };
    if (hasPicture(body)) sight.pictures += 1;
    const results = countResults(body);
    const fault = faults.shift() ?? {};
    const step = (calls: readonly Step[]) =>
      calls.flatMap((each) => callFor(each, offeredTools(body), work) ?? []);
    let seen = 0;
    for (const turn of scenario.turns) {
      if (results <= seen) return { ...fault, calls: step(turn) };
      seen += turn.length;
    }
    return { ...fault, calls: [], text: "All is done." };
  };
}

async function poorKey({ gateway }: MatrixFixture): Promise<string> {
  const { secret, key } = JSON.parse(await gateway.cli("keys", "create", "--name", "poor", "--json"));
  await gateway.cli("budgets", "create", "--key", key.id, "--amount", "0.000001", "--period", "month");
  await until(
    "the budget to be known",
    async () => {
      const body = { model: "over-chat", messages: [{ role: "user", content: "hi" }] };
      const headers = { authorization: `Bearer ${secret}` };
      const { status } = await gateway.call("/v1/chat/completions", { body, headers });
      return status === 429 ? true : undefined;
    },
    60_000,
  );
  return secret;
}

interface Outcome {
  scenario: Scenario;
  program: Program;
  work: string;
  isLate: boolean;
  output: string;
  requests: number;
  sight: { pictures: number };
}

async function problemOf(outcome: Outcome): Promise<string | null> {
  const { scenario, program, work, isLate, output, requests, sight } = outcome;
  if (isLate) return `still running after ${MAX_MS / 1000} s`;
  const { message, requests: most } = endOf(program, scenario);
  if (message) {
    if (!message.test(output)) return "shows no reason";
    return requests > most ? `${requests} requests, ${most} expected` : null;
  }
  const files = scenario.turns.flat().flatMap((step) => ("save" in step ? [step.save] : []));
  for (const file of files) {
    const saved = Bun.file(join(work, file));
    if (!(await saved.exists()) || (await saved.text()).trim() !== "hello") return `${file} is missing`;
  }
  const isPicture = scenario.turns.flat().some((step) => "look" in step);
  return isPicture && sight.pictures === 0 ? "the model saw no picture" : null;
}

/** Returns the required end: a message after at most a number of requests, or the completed task. */
function endOf(
  { ends }: Program,
  { name, message, isFinal }: Scenario,
): { message?: RegExp; requests: number } {
  const own = ends?.[name];
  if (own) return { message: own.message ?? message, requests: own.requests };
  return isFinal ? { message, requests: 1 } : { requests: 0 };
}
