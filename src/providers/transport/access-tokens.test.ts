import { expect, test } from "bun:test";
import { createAccessTokens, type GrantedToken } from "./access-tokens.ts";

const never = new AbortController().signal;

/** Returns cached tokens, and a clock that the test moves. */
function setUp(lifetimeSeconds = 3600) {
  const clock = { time: 0, now: () => 0, monotonic: () => clock.time };
  const asked: PromiseWithResolvers<GrantedToken>[] = [];
  const tokens = createAccessTokens(() => {
    const response = Promise.withResolvers<GrantedToken>();
    asked.push(response);
    return response.promise;
  }, clock);
  const grant = async (index: number, token: string) => {
    asked[index]!.resolve({ token, lifetimeSeconds });
    await Bun.sleep(0);
  };
  return { clock, asked, tokens, grant };
}

test("concurrent calls share one request, and later calls its token", async () => {
  const { asked, tokens, grant } = setUp();
  const waiting = [tokens.get(never), tokens.get(never)];
  await grant(0, "one");
  expect(await Promise.all(waiting)).toEqual(["one", "one"]);
  expect(await tokens.get(never)).toBe("one");
  expect(asked).toHaveLength(1);
});

test("a token is renewed five minutes early while it is still used", async () => {
  const { clock, asked, tokens, grant } = setUp();
  const first = tokens.get(never);
  await grant(0, "one");
  await first;
  clock.time = 3_299_999;
  await tokens.get(never);
  expect(asked).toHaveLength(1);
  clock.time = 3_300_000;
  expect(await tokens.get(never)).toBe("one");
  expect(asked).toHaveLength(2);
  await grant(1, "two");
  expect(await tokens.get(never)).toBe("two");
});

test("a failed renewal is retried later, and the old token is used until it expires", async () => {
  const { clock, asked, tokens, grant } = setUp();
  const first = tokens.get(never);
  await grant(0, "one");
  await first;
  clock.time = 3_400_000;
  await tokens.get(never);
  asked[1]!.reject(new Error("down"));
  await Bun.sleep(0);
  expect(await tokens.get(never)).toBe("one");
  expect(asked).toHaveLength(2);
  clock.time += 5_000;
  await tokens.get(never);
  expect(asked).toHaveLength(3);
  clock.time = 3_570_000;
  const late = tokens.get(never);
  asked[2]!.reject(new Error("still down"));
  await expect(late).rejects.toThrow("still down");
});

test("a refused token is replaced, but not its successor", async () => {
  const { asked, tokens, grant } = setUp();
  const first = tokens.get(never);
  await grant(0, "one");
  tokens.drop(await first);
  const second = tokens.get(never);
  await grant(1, "two");
  tokens.drop("one");
  expect(await second).toBe("two");
  expect(await tokens.get(never)).toBe("two");
  expect(asked).toHaveLength(2);
});

test("an aborted call stops waiting and leaves the request to the others", async () => {
  const { tokens, grant } = setUp();
  const caller = new AbortController();
  const gone = tokens.get(caller.signal);
  const other = tokens.get(never);
  const reason = new Error("aborted");
  caller.abort(reason);
  await expect(gone).rejects.toBe(reason);
  await grant(0, "one");
  expect(await other).toBe("one");
});

test("a failure rejects all waiting calls, and the next call requests again", async () => {
  const { asked, tokens, grant } = setUp();
  const waiting = tokens.get(never);
  asked[0]!.reject(new Error("down"));
  await expect(waiting).rejects.toThrow("down");
  await Bun.sleep(0);
  const next = tokens.get(never);
  await grant(1, "one");
  expect(await next).toBe("one");
});
