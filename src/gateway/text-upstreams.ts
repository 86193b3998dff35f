import type { Target } from "../domain/channel.ts";
import type { TextUpstream, Upstreams } from "./ports.ts";

/** A target's ends, one for each protocol that its vendor takes for its model, the one to translate into first. */
export function textUpstreams(
  upstreams: Upstreams,
  { channel, upstreamModel }: Target,
): readonly TextUpstream[] {
  const all = upstreams.text(channel) ?? [];
  return all.filter((each) => each.serves?.(upstreamModel) ?? true);
}
