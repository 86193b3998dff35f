import { expect, test } from "bun:test";
import { readGatewayAddress } from "./other-gateways.ts";

test("another gateway is given by name, base address, key and model", () => {
  expect(readGatewayAddress("lite=http://127.0.0.1:4000/v1,key=sk-a=b,model=openai/mock")).toEqual({
    name: "lite",
    url: "http://127.0.0.1:4000/v1",
    key: "sk-a=b",
    model: "openai/mock",
  });
  expect(readGatewayAddress("nginx=http://127.0.0.1:8080/v1").model).toBe("mock-chat-2026-01-01");
});

test("an address without a name, and an unknown option, are refused", () => {
  expect(() => readGatewayAddress("http://127.0.0.1:4000/v1")).toThrow("is not NAME=URL");
  expect(() => readGatewayAddress("a=http://127.0.0.1:4000/v1,color=red")).toThrow("neither key= nor model=");
});
