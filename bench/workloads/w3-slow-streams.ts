import { STREAM_FRAMES } from "../chat-samples.ts";
import { startClosedLoop } from "../load.ts";
import { cpuBetween, readCpu, readResidentMb } from "../machine.ts";
import type { Sample } from "../measure.ts";
import type { ServerProcess } from "../processes.ts";
import { atMostRow, ratioRow } from "../report.ts";
import type { Stage } from "../stage.ts";
import { spreadOf } from "../statistics.ts";
import { checkStreams, streamPlan, type StreamLengths } from "./w2-stream.ts";
import { compareRounds, type Workload } from "./workload.ts";

const STREAMS = 5_000;
/** Interval with which a stream lasts longer than its measurement. */
const PACE_MS = 500;
/** Time in which the streams are opened. The measurement begins when all streams run. */
const OPENING_MS = 10_000;
const WINDOW_MS = 5_000;
const FRAME_BAR = 1.25;
const STREAM_BAR_KB = 40;
/** Memory counts as released when at most this share of the streams' memory is still used. */
const LEFT_SHARE = 0.25;
const RETURN_BAR_S = 60;

/** Thousands of slow streams: memory per stream, processor time per frame, and the time until memory is released. */
export const slowStreamsWorkload: Workload = {
  id: "W3",
  title: `${STREAMS} slow streams`,
  async run(stage) {
    const lengths = await checkStreams(stage);
    // The gateway's first result is discarded, because the runtime still compiles code and grows its heap.
    await hold(stage, stage.gateway);
    const rounds = [{ floor: await hold(stage, stage.bareBun), gateway: await hold(stage, stage.gateway) }];
    const [{ floor, gateway }] = rounds as [(typeof rounds)[number]];
    const names = (figure: string) => ({ workload: "W3", figure });
    return {
      cpuSamples: [],
      latencySamples: [floor.sample, gateway.sample],
      rows: [
        ratioRow(names("CPU per frame"), {
          ...compareRounds([{ floor: floor.sample, gateway: gateway.sample }], perFrame(lengths)),
          unit: "us",
          bar: FRAME_BAR,
        }),
        atMostRow(names("memory of a stream"), {
          floor: spreadOf([floor.streamKb]),
          gateway: spreadOf([gateway.streamKb]),
          unit: "kB",
          bar: STREAM_BAR_KB,
        }),
        atMostRow(names("memory back after"), {
          floor: spreadOf([floor.returnS]),
          gateway: spreadOf([gateway.returnS]),
          unit: "s",
          bar: RETURN_BAR_S,
        }),
      ],
    };
  },
};

interface Held {
  sample: Sample;
  streamKb: number;
  returnS: number;
}

function perFrame(lengths: StreamLengths) {
  return (sample: Sample, isGateway: boolean): number => {
    const frames = (sample.bodyBytes / (isGateway ? lengths.gateway : lengths.floor)) * STREAM_FRAMES;
    return (sample.cpuMs * 1000) / frames;
  };
}

/**
 * Measures streams while all run, ends them, and waits for the release of memory. Throws if a stream is lost during the
 * measurement.
 */
async function hold(stage: Stage, server: ServerProcess): Promise<Held> {
  const idleMb = readResidentMb(server.processId);
  const plan = streamPlan(stage, server, PACE_MS);
  const load = await startClosedLoop({ ...plan, connections: STREAMS, spreadMs: OPENING_MS });
  await Bun.sleep(OPENING_MS + 2 * PACE_MS);
  const before = readCpu([server.processId]);
  const others = readCpu([stage.mock.processId, ...load.processIds]);
  load.openWindow();
  await Bun.sleep(WINDOW_MS);
  const tally = load.closeWindow();
  const cpuMs = cpuBetween(before, readCpu([server.processId]));
  const othersMs = cpuBetween(others, readCpu([stage.mock.processId, ...load.processIds]));
  const tookMb = readResidentMb(server.processId) - idleMb;
  load.stop();
  if (tally.failed > 0) throw new Error(`${server.name} lost ${tally.failed} of ${STREAMS} streams`);
  const sample = { ...tally, cpuMs, loadShare: othersMs / tally.elapsedMs, emptyWindows: 0 };
  return {
    sample,
    streamKb: (tookMb * 1024) / STREAMS,
    returnS: await untilReturned(server, idleMb, tookMb),
  };
}

/** Returns the seconds until most of the memory is released. Stops waiting at twice the bar. */
async function untilReturned({ processId }: ServerProcess, idleMb: number, tookMb: number): Promise<number> {
  const startedAt = performance.now();
  const seconds = (): number => (performance.now() - startedAt) / 1000;
  while (readResidentMb(processId) - idleMb > LEFT_SHARE * tookMb && seconds() < 2 * RETURN_BAR_S)
    await Bun.sleep(500);
  return seconds();
}
