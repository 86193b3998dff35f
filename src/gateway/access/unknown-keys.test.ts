import { expect, test } from "bun:test";
import { GatewayError } from "../../domain/gateway-error.ts";
import { UnknownKeys } from "./authenticate.ts";

function open(limit: number | null) {
  const clock = { time: 0, now: () => 0, monotonic: () => clock.time };
  return { clock, keys: new UnknownKeys(clock, limit) };
}

test("a network has so many lookups a minute, an IPv6 network is one of 64 bits", () => {
  const { clock, keys } = open(2);
  keys.count("10.0.0.1");
  keys.count("10.0.0.1");
  keys.count("2001:db8::1");
  keys.count("2001:db8:0:0:1::2");
  clock.time = 20_500;
  for (const address of ["10.0.0.1", "2001:db8::ffff:1"]) {
    const refused = expect(() => keys.count(address));
    refused.toThrow(GatewayError);
    refused.toThrow(expect.objectContaining({ code: "rate_limit_exceeded", retryAfterSeconds: 40 }));
  }
  keys.count("10.0.0.2");
  keys.count("2001:db8:0:1::1");
  clock.time = 60_000;
  keys.count("10.0.0.1");
});

test("a lookup that found a key does not count", () => {
  const { keys } = open(1);
  for (let index = 0; index < 5; index++) keys.count("10.0.0.1")();
  keys.count("10.0.0.1");
  expect(() => keys.count("10.0.0.1")).toThrow(GatewayError);
});

test("memory is bounded: networks above ten thousand share one count", () => {
  const { keys } = open(1);
  for (let index = 0; index < 10_000; index++) keys.count(`10.0.${index >> 8}.${index & 255}`);
  keys.count("11.0.0.1");
  expect(() => keys.count("11.0.0.2")).toThrow(GatewayError);
});

test("without a limit nothing is refused", () => {
  const { keys } = open(null);
  for (let index = 0; index < 1_000; index++) keys.count("10.0.0.1");
});
