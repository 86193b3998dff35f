import { describe, expect, test } from "bun:test";
import { fail, process, request, target } from "../../../test/support/failover-process.ts";
import { ClientDisconnected } from "./call.ts";
import { ConcurrencyLimiter } from "./call-bounds.ts";
import { callTargets } from "./failover.ts";

describe("concurrent calls on one channel", () => {
  test("a channel at its max_concurrent is skipped", async () => {
    const shared = process();
    const one = target("small", 1);
    const held = await callTargets(
      shared,
      request([one], () => Promise.resolve("held")),
    );
    const other = await callTargets(
      shared,
      request([one, target("big")], () => Promise.resolve("x")),
    );
    expect(other.target.channel.id).toBe("big");
    await expect(
      callTargets(
        shared,
        request([one], () => Promise.resolve("x")),
      ),
    ).rejects.toMatchObject({ kind: "overloaded" });
    held.release();
    expect(
      (
        await callTargets(
          shared,
          request([one], () => Promise.resolve("free")),
        )
      ).reply,
    ).toBe("free");
  });

  test("a request that no other target can take waits for a slot, organizations by turns", async () => {
    const shared = process();
    const one = target("small", 1);
    const order: string[] = [];
    const call = async (organization: string) => {
      const reply = () => Promise.resolve(order.push(organization)).then(String);
      const { release } = await callTargets(shared, { ...request([one], reply), organization });
      release();
    };
    const held = await callTargets(
      shared,
      request([one], () => Promise.resolve("held")),
    );
    const waiting = ["many", "many", "many", "few"].map(call);
    await Bun.sleep(5);
    held.release();
    await Promise.all(waiting);
    expect(order).toEqual(["many", "few", "many", "many"]);
  });

  test("a client that disconnects while its request waits for a slot ends the wait", async () => {
    const shared = process({ concurrency: new ConcurrencyLimiter(60_000) });
    const one = target("small", 1);
    const held = await callTargets(
      shared,
      request([one], () => Promise.resolve("held")),
    );
    const client = new AbortController();
    const waiting = callTargets(
      shared,
      request([one], () => Promise.resolve("x"), client.signal),
    );
    client.abort();
    await expect(waiting).rejects.toBeInstanceOf(ClientDisconnected);
    held.release();
    const { reply } = await callTargets(
      shared,
      request([one], () => Promise.resolve("next")),
    );
    expect(reply).toBe("next");
  });

  test("a call that fails releases its channel's slot, and one that ends releases it once", async () => {
    const shared = process();
    const one = target("small", 1);
    const failing = request([one], () => fail("rejected"));
    await expect(callTargets(shared, failing)).rejects.toMatchObject({ kind: "rejected" });
    const call = () =>
      callTargets(
        shared,
        request([one], () => Promise.resolve("x")),
      );
    const held = await call();
    held.release();
    held.release();
    await call();
    await expect(call()).rejects.toMatchObject({ kind: "overloaded" });
  });
});
