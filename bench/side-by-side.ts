/**
 * Measures this gateway and other gateways with the same mock and the loads of W1 and W2: `npm run bench:side-by-side`.
 * Prints one table.
 */
import { parseArgs } from "node:util";
import manifest from "../package.json";
import { ourContender, plainContender } from "./contender.ts";
import { type Contest, type Result, runContest } from "./contest.ts";
import { type GatewayAddress, readGatewayAddress, runningGateway, startPortkey } from "./other-gateways.ts";
import { describeRun, renderTable } from "./report.ts";
import { type BenchOptions, openStage, type Stage } from "./stage.ts";
import type { Spread } from "./statistics.ts";

/** Columns of the table, in the order of `cellsOf`. */
const HEADING = [
  "Gateway",
  "Response",
  "CPU per request",
  "Over bare Bun",
  "Requests/s, one core",
  "Added p50",
  "Added p99",
  "CPU per frame",
  "Over bare Bun",
  "Added TTFT p99",
  "Memory",
];

const { options, portkeyFolder, addresses } = readOptions();
if (process.platform !== "linux") {
  console.error("The benchmark reads processor time from /proc and runs on Linux only.");
  process.exit(1);
}
const stage = await openStage(options);
try {
  const contest = await compare(stage);
  console.log(`${describeRun(stage)}\n${describeContest(contest)}`);
  console.log(`\n${renderTable([HEADING, ...contest.results.map(cellsOf)])}\n`);
  for (const { name, failed } of contest.results)
    if (failed > 0) console.log(`DOUBTFUL: ${failed} requests through ${name} failed.`);
} finally {
  await stage.close();
}
process.exit(0);

async function compare(stage: Stage): Promise<Contest> {
  const { hostname, port } = stage.mock.address;
  const portkey =
    portkeyFolder === undefined
      ? []
      : [await startPortkey(stage.machine, portkeyFolder, `http://${hostname}:${port}`)];
  try {
    return await runContest(stage, plainContender("mock", stage.mock), [
      plainContender("bare Bun", stage.bareBun),
      ourContender(`this gateway ${manifest.version}`, stage),
      ...portkey,
      ...addresses.map((address) => runningGateway(stage.machine, address)),
    ]);
  } finally {
    for (const { server } of portkey) await server.stop();
  }
}

function describeContest({ rate, loadShare, otherShare }: Contest): string {
  const percent = (share: number): string => `${Math.round(share * 100)} %`;
  return [
    `latency at ${rate} requests/s, mock and load at most ${percent(loadShare)} of their core`,
    `other work on the machine: ${percent(otherShare)} of a core on average`,
  ].join("\n");
}

function cellsOf(result: Result): string[] {
  const ratio = ({ median, min, max }: Spread) =>
    `${median.toFixed(2)} × (${min.toFixed(2)} to ${max.toFixed(2)})`;
  const milliseconds = ({ median }: Spread) => `${median.toFixed(2)} ms`;
  return [
    result.name,
    result.isSameBytes ? "same bytes" : "same content",
    `${result.requestUs.median.toFixed(0)} µs`,
    ratio(result.requestRatio),
    Math.round(result.requestsPerSecond.median).toLocaleString("en"),
    milliseconds(result.addedP50Ms),
    milliseconds(result.addedP99Ms),
    `${result.frameUs.median.toFixed(1)} µs`,
    ratio(result.frameRatio),
    milliseconds(result.addedFirstByteP99Ms),
    `${result.residentMb.toFixed(0)} MB`,
  ];
}

function readOptions(): { options: BenchOptions; portkeyFolder?: string; addresses: GatewayAddress[] } {
  try {
    const { values } = parseArgs({
      options: {
        rounds: { type: "string", default: "5" },
        seconds: { type: "string", default: "1.2" },
        portkey: { type: "string" },
        gateway: { type: "string", multiple: true, default: [] },
        "mock-port": { type: "string", default: "0" },
      },
    });
    const rounds = Number(values.rounds);
    const seconds = Number(values.seconds);
    if (!(rounds >= 1 && seconds > 0)) throw new Error("--rounds and --seconds are numbers above 0");
    return {
      options: { rounds, seconds, mockPort: Number(values["mock-port"]) },
      portkeyFolder: values.portkey,
      addresses: values.gateway.map(readGatewayAddress),
    };
  } catch (error) {
    console.error(String(error));
    console.error(
      "Usage: npm run bench:side-by-side -- [--portkey FOLDER] [--gateway NAME=URL[,key=KEY][,model=MODEL]]... " +
        "[--mock-port PORT] [--rounds 5] [--seconds 1.2]",
    );
    return process.exit(2);
  }
}
