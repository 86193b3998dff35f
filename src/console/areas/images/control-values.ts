import type { Output } from "../../api/call.ts";

type Organization = Output<"organizations.get">;
type Settings = Organization["settings"];

/** What the form holds. Fields that are sent as they are have the paths of the interface, where its errors point. */
export interface ControlValues {
  settings: Pick<
    Settings,
    "forceImageUrls" | "nativeImageUrls" | "linkHours" | "callerGone" | "failOverRefusals"
  > & {
    /** Empty for the route's next target. */
    fallbackChannel: string;
  };
  cancelsOnTimeout: boolean;
  fallbackSeconds: number | null;
}

const MS = 1_000;

export function toValues({ settings }: Organization): ControlValues {
  const { fallbackAfterMs, fallbackChannel, promptLogDays: _others, ...rest } = settings;
  return {
    settings: { ...rest, fallbackChannel: fallbackChannel ?? "" },
    cancelsOnTimeout: fallbackAfterMs !== null,
    fallbackSeconds: fallbackAfterMs === null ? null : fallbackAfterMs / MS,
  };
}

export function toSettings({
  settings,
  cancelsOnTimeout,
  fallbackSeconds,
}: ControlValues): Omit<Settings, "promptLogDays"> {
  return {
    ...settings,
    fallbackChannel: settings.fallbackChannel === "" ? null : settings.fallbackChannel,
    fallbackAfterMs: cancelsOnTimeout && fallbackSeconds !== null ? Math.round(fallbackSeconds * MS) : null,
  };
}
