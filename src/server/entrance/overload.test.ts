import { expect, test } from "bun:test";
import { GatewayError } from "../../domain/gateway-error.ts";
import { Overload, type OverloadSample } from "./overload.ts";

const FINE: OverloadSample = { memoryBytes: 50, freeDiskBytes: 5_000, lagMs: 0 };

function open() {
  const changes: string[] = [];
  const overload = new Overload({
    settings: {
      largeBodyBytes: 1_000,
      memoryBytes: { largeBodies: 100, requests: 200 },
      freeDiskBytes: { largeBodies: 1_000, requests: 100 },
      lagMs: { largeBodies: 500, requests: 2_000 },
    },
    workers: 1,
    dataDirectory: "/tmp",
    onChange: (message, level) => changes.push(`${level} ${message}`),
  });
  const update = (sample: Partial<OverloadSample>, times = 1) => {
    for (let count = 0; count < times; count++) overload.update({ ...FINE, ...sample });
    return overload.step;
  };
  return { overload, update, changes };
}

test.each([
  [{ memoryBytes: 99 }, 0],
  [{ memoryBytes: 100 }, 1],
  [{ memoryBytes: 200 }, 2],
  [{ freeDiskBytes: 1_000 }, 0],
  [{ freeDiskBytes: 999 }, 1],
  [{ freeDiskBytes: 99 }, 2],
  [{ lagMs: 499 }, 0],
  [{ lagMs: 500 }, 1],
  [{ lagMs: 2_000 }, 2],
  [{ memoryBytes: 100, lagMs: 2_000 }, 2],
] as const)("%j is step %i", (sample, step) => {
  expect(open().update(sample)).toBe(step);
});

test("a step ends after five samples in a row that are better than its threshold by a tenth", () => {
  const { update, changes } = open();
  expect(update({ memoryBytes: 250 })).toBe(2);
  expect(update({ memoryBytes: 185 }, 20)).toBe(2);
  expect(update({ memoryBytes: 170 }, 4)).toBe(2);
  expect(update({ memoryBytes: 185 })).toBe(2);
  expect(update({ memoryBytes: 170 }, 4)).toBe(2);
  expect(update({ memoryBytes: 170 })).toBe(1);
  expect(update({ memoryBytes: 95 }, 20)).toBe(1);
  expect(update({ memoryBytes: 89 }, 4)).toBe(1);
  expect(update({ memoryBytes: 89 })).toBe(0);
  expect(update({ memoryBytes: 120 })).toBe(1);
  expect(changes.map((line) => line.replace(/ \(.*/, ""))).toEqual([
    "warn overload: only probes are served",
    "info overload: no new large bodies",
    "info overload: everything is served again",
    "warn overload: no new large bodies",
  ]);
});

test("the first step refuses bodies that are large or of unknown length, the second every request", () => {
  const { overload, update } = open();
  const post = (headers: Record<string, string>) =>
    new Request("http://gateway", { method: "POST", headers });
  const isAdmitted = (request: Request): boolean => {
    try {
      overload.admit(request);
      return true;
    } catch (error) {
      expect(error).toBeInstanceOf(GatewayError);
      expect(error).toMatchObject({ code: "overloaded", status: 503, retryAfterSeconds: 2 });
      return false;
    }
  };
  const requests = [
    post({ "content-length": "1000" }),
    post({ "content-length": "1001" }),
    post({ "transfer-encoding": "chunked" }),
    new Request("http://gateway"),
  ];
  expect(requests.map(isAdmitted)).toEqual([true, true, true, true]);
  update({ memoryBytes: 100 });
  expect(requests.map(isAdmitted)).toEqual([true, false, false, true]);
  update({ memoryBytes: 200 });
  expect(requests.map(isAdmitted)).toEqual([false, false, false, false]);
});
