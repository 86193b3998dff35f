import type { AdminContext } from "./context.ts";

/**
 * Signs links to results with a new secret from now on. Links made before stay valid until they expire, or become
 * invalid at once. Returns how many older secrets still verify links.
 */
export async function rotateLinkSecret(
  { store, by, clock }: AdminContext,
  { isImmediate }: { isImmediate: boolean },
): Promise<{ kept: number }> {
  return await store.linkSecrets.rotate({ at: clock.now(), keepsOld: !isImmediate }, by);
}
