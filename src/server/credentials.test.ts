import { describe, expect, test } from "bun:test";
import { parseAddressList } from "../lib/cidr.ts";
import { callerAddress, callerBase, readSecret } from "./http-exchange.ts";

describe("the key of a request", () => {
  test.each([
    ["Bearer gk_a", "gk_a"],
    ["bearer gk_a", "gk_a"],
    ["BEARER   gk_a  ", "gk_a"],
    ["Bearer", null],
    ["Bearer ", null],
    ["", null],
    ["Basic Zm9v", "Basic Zm9v"],
    ["gk_a", "gk_a"],
  ])("of Authorization %p is %p", (authorization, secret) => {
    expect(readSecret(new Headers({ authorization }), [])).toBe(secret);
  });

  test("stands in another header only where the route reads that", () => {
    const headers = new Headers({ "x-api-key": " gk_b " });
    expect(readSecret(headers, [])).toBeNull();
    expect(readSecret(headers, ["x-api-key"])).toBe("gk_b");
    expect(readSecret(new Headers({ "x-api-key": "" }), ["x-api-key"])).toBeNull();
  });

  test("is Authorization's where both are sent, valid or not", () => {
    const headers = new Headers({ authorization: "Bearer nonsense", "x-api-key": "gk_b" });
    expect(readSecret(headers, ["x-api-key"])).toBe("nonsense");
  });
});

describe("behind proxies", () => {
  const trusted = parseAddressList(["10.0.0.0/8"]);
  const from = (address: string) => ({ requestIP: () => ({ address }) }) as never;
  const request = (headers: Record<string, string>) =>
    new Request("http://gateway.test:8080/v1/models", { headers });

  test.each([
    ["203.0.113.9", "1.2.3.4", "203.0.113.9"],
    ["10.0.0.1", "1.2.3.4", "1.2.3.4"],
    ["::ffff:10.0.0.1", "1.2.3.4", "1.2.3.4"],
    ["10.0.0.1", "6.6.6.6, 1.2.3.4, 10.0.0.2", "1.2.3.4"],
    ["10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.1"],
  ])("a peer %s that forwards %p is %s", (peer, forwarded, address) => {
    expect(callerAddress(request({ "x-forwarded-for": forwarded }), from(peer), trusted)).toBe(address);
  });

  test("the base address is the one the caller used", () => {
    const forwarded = request({ "x-forwarded-proto": "https", "x-forwarded-host": "api.example" });
    expect(callerBase(request({}), from("10.0.0.1"), trusted)).toBe("http://gateway.test:8080");
    expect(callerBase(forwarded, from("203.0.113.9"), trusted)).toBe("http://gateway.test:8080");
    expect(callerBase(forwarded, from("10.0.0.1"), trusted)).toBe("https://api.example");
  });

  test.each([
    { "x-forwarded-proto": "javascript", "x-forwarded-host": "api.example" },
    { "x-forwarded-proto": "https", "x-forwarded-host": "api.example/evil?" },
  ])("a forwarded address that is none is not believed: %p", (headers) => {
    expect(callerBase(request(headers), from("10.0.0.1"), trusted)).toBe("http://gateway.test:8080");
  });
});
