import { FairSemaphore } from "../lib/semaphore.ts";

/** Pictures decoded or encoded at once; each may take four bytes a pixel. */
const SLOTS = 4;
/** Fewer, so that one organization's large pictures never take every slot. */
const MAX_SLOTS_PER_ORGANIZATION = SLOTS - 1;

/**
 * The codec slots of a process on a machine of so many processors. One organization also leaves a processor to all
 * others: decoding and encoding keep one each busy for seconds.
 */
export function createCodecSlots(processors: number): FairSemaphore {
  const perOrganization = Math.max(1, Math.min(MAX_SLOTS_PER_ORGANIZATION, processors - 1));
  return new FairSemaphore(SLOTS, perOrganization);
}
