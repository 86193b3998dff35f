import type { Row } from "../report.ts";
import type { Sample } from "../measure.ts";
import type { Stage } from "../stage.ts";
import { type Spread, spreadOf } from "../statistics.ts";

/** One benchmark. `run` throws when a server does not respond as expected. */
export interface Workload {
  /** Identifier for the option `--only`, such as `W1`. */
  id: string;
  title: string;
  run(stage: Stage): Promise<Outcome>;
}

export interface Outcome {
  rows: Row[];
  /** Windows at full capacity, from which processor time is computed. */
  cpuSamples: Sample[];
  /** Windows at a rate below the load's capacity, mostly for latency. */
  latencySamples: Sample[];
}

/** Returns the spread of a figure over the rounds, for the baseline server (floor), the gateway and their ratio. */
export function compareRounds(
  rounds: readonly { floor: Sample; gateway: Sample }[],
  figure: (sample: Sample, isGateway: boolean) => number,
): { floor: Spread; gateway: Spread; ratio: Spread } {
  const floors = rounds.map((round) => figure(round.floor, false));
  const gateways = rounds.map((round) => figure(round.gateway, true));
  return {
    floor: spreadOf(floors),
    gateway: spreadOf(gateways),
    ratio: spreadOf(gateways.map((value, index) => value / floors[index]!)),
  };
}

/** Returns the time that the baseline server (floor) and the gateway add to a direct call of the same round. */
export function addedOver(
  rounds: readonly { direct: Sample; floor: Sample; gateway: Sample }[],
  figure: (sample: Sample) => number,
): { floor: Spread; gateway: Spread } {
  return {
    floor: spreadOf(rounds.map((round) => figure(round.floor) - figure(round.direct))),
    gateway: spreadOf(rounds.map((round) => figure(round.gateway) - figure(round.direct))),
  };
}

/** Returns the microseconds of processor time per completed request. */
export function cpuPerRequest(sample: Pick<Sample, "completed" | "cpuMs">): number {
  return (sample.cpuMs * 1000) / sample.completed;
}
