import { FairSemaphore } from "../lib/semaphore.ts";

/** Pictures decoded or encoded at once; each may take four bytes a pixel. */
const SLOTS = 4;
/** Most slots of one organization, so that its large pictures never take every slot. */
const MAX_SLOTS_PER_ORGANIZATION = SLOTS - 1;

/**
 * Makes the codec slots of a process on a machine with so many processors. One organization leaves a processor to the
 * others: decoding and encoding keep one each busy for seconds.
 */
export function createCodecSlots(processors: number): FairSemaphore {
  const perOrganization = Math.max(1, Math.min(MAX_SLOTS_PER_ORGANIZATION, processors - 1));
  return new FairSemaphore(SLOTS, perOrganization);
}
