import { expect, test } from "bun:test";
import type { Target } from "../../domain/channel.ts";
import { UpstreamError } from "../../domain/upstream-error.ts";
import { Health } from "./health.ts";

const TARGET: Target = {
  channel: { id: "channel", provider: "openai", settings: {} },
  upstreamModel: "model",
  weight: 1,
};
const DOWN = new UpstreamError("overloaded", "down");

function healthAt(): { health: Health; pass(milliseconds: number): void } {
  let now = 1_000;
  return {
    health: new Health({ now: () => 0, monotonic: () => now }),
    pass: (milliseconds) => void (now += milliseconds),
  };
}

test("failures of calls that were under way do not lengthen an ejection", () => {
  const { health, pass } = healthAt();
  for (let failure = 0; failure < 50; failure += 1) health.failed(TARGET, DOWN);
  expect(health.waitMs(TARGET)).toBe(1_000);
  pass(1_000);
  expect(health.admits(TARGET)).toBe(true);
  health.failed(TARGET, DOWN);
  expect(health.waitMs(TARGET)).toBe(2_000);
});

test("a target that fails every probe is asked again within half a minute", () => {
  const { health, pass } = healthAt();
  for (let failure = 0; failure < 5; failure += 1) health.failed(TARGET, DOWN);
  for (let probe = 0; probe < 20; probe += 1) {
    pass(health.waitMs(TARGET));
    expect(health.admits(TARGET)).toBe(true);
    expect(health.admits(TARGET)).toBe(false);
    health.failed(TARGET, DOWN);
  }
  expect(health.waitMs(TARGET)).toBe(30_000);
});
