import { expect, test } from "bun:test";
import { openai } from "../openai.ts";
import { compatibleProvider } from "./compatible-provider.ts";
import { VENDORS } from "./vendors.ts";

const traitsAt = (baseUrl?: string) =>
  openai.text?.(openai.settings.parse({ apiKey: "k", ...(baseUrl && { baseUrl }) }))[0]?.traits;

test("OpenAI takes a maximum as max_completion_tokens, compatible vendors as max_tokens", () => {
  expect(traitsAt()?.maxTokensField).toBe("max_completion_tokens");
  expect(traitsAt("https://vendor.example/v1")?.maxTokensField).toBeUndefined();
});

test("a vendor is known by its address, and an unknown one is not taken for OpenAI", () => {
  expect(traitsAt()?.refuses).toBeUndefined();
  expect(traitsAt("https://api.deepseek.com/v1")).toBe(VENDORS.deepseek.traits);
  expect(traitsAt("https://dashscope-intl.aliyuncs.com/compatible-mode/v1")).toBe(VENDORS.dashscope.traits);
  expect(traitsAt("http://127.0.0.1:8000/v1")?.refuses).toEqual([
    "allowed_tools",
    "custom_tools",
    "verbosity",
  ]);
});

test.each([
  [{}, ["chat", "messages"]],
  [{ baseUrl: "https://proxy.example/v1" }, ["chat"]],
  [
    { baseUrl: "https://proxy.example/v1", messagesBaseUrl: "https://proxy.example/messages" },
    ["chat", "messages"],
  ],
])("a vendor with two protocols at %o speaks %o", (more, dialects) => {
  const provider = compatibleProvider(VENDORS.deepseek);
  const upstreams = provider.text?.(provider.settings.parse({ apiKey: "k", ...more })) ?? [];
  expect(upstreams.map(({ dialect }) => dialect as string)).toEqual(dialects);
});

test("every vendor has an https address, but servers of the operator's own", () => {
  for (const vendor of Object.values(VENDORS)) {
    const { protocol, hostname } = new URL(vendor.baseUrl);
    expect([vendor.name, protocol, hostname === "127.0.0.1"]).toEqual(
      "isOwnServer" in vendor ? [vendor.name, "http:", true] : [vendor.name, "https:", false],
    );
    expect(vendor.baseUrl).not.toEndWith("/");
  }
});
