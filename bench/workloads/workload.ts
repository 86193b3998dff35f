import type { Row } from "../report.ts";
import type { Sample } from "../measure.ts";
import type { Stage } from "../stage.ts";
import { type Spread, spreadOf } from "../statistics.ts";

/** One measurement. `run` checks equivalence before it measures and throws on a difference. */
export interface Workload {
  /** As in `--only W1`. */
  id: string;
  title: string;
  run(stage: Stage): Promise<Outcome>;
}

export interface Outcome {
  rows: Row[];
  /** Windows run at capacity, for processor time. */
  cpuSamples: Sample[];
  /** Windows at a rate below the load's capacity, for latency. */
  latencySamples: Sample[];
}

/** Spreads of a figure over the rounds: of the floor, of the gateway, and of their ratio within a round. */
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

/** What floor and gateway add to a direct call in the same round. */
export function addedOver(
  rounds: readonly { direct: Sample; floor: Sample; gateway: Sample }[],
  figure: (sample: Sample) => number,
): { floor: Spread; gateway: Spread } {
  return {
    floor: spreadOf(rounds.map((round) => figure(round.floor) - figure(round.direct))),
    gateway: spreadOf(rounds.map((round) => figure(round.gateway) - figure(round.direct))),
  };
}

/** Processor microseconds per completed request. */
export function cpuPerRequest(sample: Pick<Sample, "completed" | "cpuMs">): number {
  return (sample.cpuMs * 1000) / sample.completed;
}
