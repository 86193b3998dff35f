import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../support/gateway.ts";
import { makePng } from "../support/pictures.ts";
import { openMatrix, type MatrixFixture, type VendorName } from "../support/text-matrix.ts";
import type { Behaviour } from "../upstreams/behaviour.ts";
import type { Hit } from "../upstreams/simulator.ts";
import type { Installed } from "./install.ts";
import type { Program } from "./programs.table.ts";
import { startRecordingProxy } from "./proxy.ts";
import { readRecipe } from "./recipes.ts";
import { PICTURE, type Scenario, type Step } from "./scenarios.table.ts";
import { callFor, countResults, hasPicture, isMainRequest, offeredTools } from "./tools.ts";

export interface CellResult {
  isGood: boolean;
  /** In few words. */
  text: string;
  /** Requests of the program's main loop that reached the gateway. */
  requests: number;
  /** What the program printed. */
  output: string;
}

const MAX_MS = 60_000;
const LOOPS = new URL("./loops/", import.meta.url).pathname;

/** Runs a program through a gateway of its own, in folders of its own, in front of one vendor. */
export async function runCell(
  program: Program,
  scenario: Scenario,
  { vendor, installed }: { vendor: VendorName; installed: Installed },
): Promise<CellResult> {
  const folder = await mkdtemp(join(tmpdir(), "gateway-client-"));
  const [home, work] = [join(folder, "home"), join(folder, "work")];
  await Promise.all([home, work].map((each) => mkdir(each)));
  await Bun.write(join(work, PICTURE), makePng(32, 32));
  await using fixture = await openMatrix();
  await using proxy = await startRecordingProxy(fixture.gateway.url);
  const sight = { pictures: 0 };
  fixture.vendors[vendor].respondBy(chooseFor(scenario, work, sight));
  const key = scenario.isPoor ? await poorKey(fixture) : fixture.gateway.key;
  try {
    const recipe = readRecipe(program.name, { url: proxy.url, model: vendor });
    for (const [path, text] of Object.entries(recipe.files)) await Bun.write(join(home, path), text);
    const command = program.command ?? (await writeProgram(program, recipe.code, installed));
    const child = Bun.spawn({
      cmd: ["sh", "-c", `${recipe.shell}\n${command}`],
      cwd: work,
      env: {
        ...QUIET,
        ...proxy.env,
        ...installed.env,
        HOME: home,
        GATEWAY_KEY: key,
        PROMPT: promptOf(scenario),
      },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      // A group of its own, so that everything it started ends with it.
      detached: true,
    });
    const printed = Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    const isLate = await Promise.race([child.exited.then(() => false), Bun.sleep(MAX_MS).then(() => true)]);
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has ended with all it started.
    }
    await child.exited;
    const output = (await printed).join("\n");
    const requests = proxy.mainRequests();
    const problem = await problemOf({ scenario, program, work, isLate, output, requests, sight });
    const done = scenario.message ? "shown" : "done";
    return { isGood: problem === null, text: problem ?? done, requests, output };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Switches off what programs send to others, where the page's blocks do not. */
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

/** The page's block and the loop behind it, beside the packages that they import. */
async function writeProgram({ loop = "" }: Program, code: string, { folder }: Installed): Promise<string> {
  const isPython = loop.endsWith(".py");
  const path = join(folder, isPython ? "program.py" : "program.mjs");
  await Bun.write(path, `${code}\n${await Bun.file(join(LOOPS, loop)).text()}`);
  return `${isPython ? "python3" : "node"} ${path}`;
}

/** The vendor's behaviour for each request: the next turn of the task, unless the scenario has a fault for it. */
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
  await until("the budget to be known", async () => {
    const body = { model: "over-chat", messages: [{ role: "user", content: "hi" }] };
    const headers = { authorization: `Bearer ${secret}` };
    const { status } = await gateway.call("/v1/chat/completions", { body, headers });
    return status === 429 ? true : undefined;
  });
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
  if (isLate) return "still running after a minute";
  if (scenario.message) {
    if (!scenario.message.test(output)) return "shows no reason";
    return requests > (program.repeats?.[scenario.name] ?? 1) ? "repeats a final error" : null;
  }
  const files = scenario.turns.flat().flatMap((step) => ("save" in step ? [step.save] : []));
  for (const file of files) {
    const saved = Bun.file(join(work, file));
    if (!(await saved.exists()) || (await saved.text()).trim() !== "hello") return `${file} is missing`;
  }
  const isPicture = scenario.turns.flat().some((step) => "look" in step);
  return isPicture && sight.pictures === 0 ? "the model saw no picture" : null;
}
