import type { Channel, Route, Target } from "../domain/channel.ts";
import { isPattern } from "../lib/pattern-map.ts";
import { meantBy } from "../lib/suggest.ts";
import type { ShippedModel } from "./catalogue.ts";
import { SANDBOX } from "./channels.ts";
import type { FileModel } from "./file-schema.ts";
import type { ReportShown } from "./problems.ts";
import { operatorMessage, type OperatorMessage } from "../domain/operator-message.ts";

/** The channels that routes may refer to. */
export interface RouteSources {
  channels: ReadonlyMap<string, Channel>;
  /** Disabled channels of the catalogue, each with the channel that serves its models instead. */
  substitutes: ReadonlyMap<string, string>;
  /** Ids of channels that the file or the database declares, including channels that could not be built. */
  declaredChannels: ReadonlySet<string>;
  isSandboxOn: boolean;
}

/** Returns the route that an entry declares. Reports targets whose channel is not declared anywhere. */
export function buildRoute(
  path: string,
  id: string,
  declared: NonNullable<FileModel["route"]>,
  sources: RouteSources,
  report: ReportShown,
): Route {
  const targets: Target[] = [];
  for (const [index, target] of declared.targets.entries()) {
    const channel = sources.channels.get(target.channel);
    if (channel)
      targets.push({
        channel,
        upstreamModel: target.upstream_model ?? (isPattern(id) ? "*" : id),
        weight: target.weight,
        ...(target.reasoning !== undefined && { reasoning: target.reasoning }),
        ...(target.context_window !== undefined && { contextWindow: target.context_window }),
      });
    else if (!sources.declaredChannels.has(target.channel)) {
      report(`${path}.route.targets[${index}].channel`, unknownChannel(target.channel, sources));
    }
  }
  return { strategy: declared.strategy, targets };
}

function unknownChannel(
  channel: string,
  { channels, declaredChannels, isSandboxOn }: RouteSources,
): OperatorMessage {
  if (channel === SANDBOX && !isSandboxOn) return operatorMessage("input.channel.sandbox", { channel });
  const suggestion = meantBy(channel, [...channels.keys(), ...declaredChannels]);
  return suggestion
    ? operatorMessage("input.channel", { channel, ...suggestion })
    : operatorMessage("input.channel.undeclared", { channel });
}

/** Returns the route of the catalogue, limited to the enabled channels. */
export function shippedRoute(
  shipped: ShippedModel | undefined,
  { channels, substitutes }: Pick<RouteSources, "channels" | "substitutes">,
): Route {
  const targets: Target[] = [];
  for (const target of shipped?.targets ?? []) {
    const channel = channels.get(target.channel) ?? channels.get(substitutes.get(target.channel) ?? "");
    // A declared channel with the id of a shipped channel may belong to a vendor that does not serve this model.
    if (channel?.provider === target.provider)
      targets.push({ channel, upstreamModel: target.upstreamModel, weight: 1 });
  }
  return { strategy: "ordered", targets };
}
