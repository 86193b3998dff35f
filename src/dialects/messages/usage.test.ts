import { expect, test } from "bun:test";
import { correctedUsage, mergeUsage, readUsage } from "./usage.ts";

const tokens = { input_tokens: 5, output_tokens: 7 };
const used = (server_tool_use: unknown) => ({ ...tokens, server_tool_use });

test("uses of the vendor's tools are read beside the tokens", () => {
  const report = readUsage(used({ web_search_requests: 2, web_fetch_requests: 3 }));
  expect(report).toMatchObject({ tokens: { input: 5, output: 7 }, uses: { web_search: 2, web_fetch: 3 } });
  for (const none of [null, undefined, {}, "2", { web_search_requests: 0 }, { web_search_requests: null }])
    expect(readUsage(used(none))).toEqual({
      tokens: { input: 5, output: 7 },
      hasInput: true,
      hasOutput: true,
      isAnomalous: false,
    });
});

test("with iterations the uses are those of the whole message", () => {
  const iterations = [tokens, tokens];
  expect(readUsage({ ...used({ web_search_requests: 2 }), iterations })).toMatchObject({
    tokens: { input: 10, output: 14 },
    uses: { web_search: 2 },
  });
});

test.each([-1, 0.5, 1e30, "3", {}])("an impossible number of uses (%p) is none, and flagged", (count) => {
  const report = readUsage(used({ web_search_requests: count }));
  expect(report).toMatchObject({ isAnomalous: true });
  expect(report).not.toHaveProperty("uses");
});

test("later events of a stream replace the uses", () => {
  const merged = mergeUsage(used({ web_search_requests: 0 }), used({ web_search_requests: 4 }));
  expect(readUsage(mergeUsage(merged, used(null)))?.uses).toEqual({ web_search: 4 });
});

test("a corrected usage has the billed uses", () => {
  const text = JSON.stringify(used({ web_search_requests: 900, other: 1 }));
  const usage = {
    unit: "token",
    tokens: { input: 5, output: 7 },
    source: "upstream",
    anomalous: true,
  } as const;
  expect(JSON.parse(correctedUsage(text, { ...usage, uses: { web_search: 50 } }))).toMatchObject({
    server_tool_use: { web_search_requests: 50, other: 1 },
  });
  expect(JSON.parse(correctedUsage(text, usage))).toMatchObject({
    server_tool_use: { web_search_requests: 0 },
  });
  expect(JSON.parse(correctedUsage(JSON.stringify(used(null)), usage))).toMatchObject({
    server_tool_use: null,
  });
});
