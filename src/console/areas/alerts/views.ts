import type { Output } from "../../api/call.ts";

/** An alert rule as the gateway returns it. */
export type Alert = Output<"alerts.list">["data"][number];
/** An event of a rule as the gateway returns it. */
export type AlertEventView = Output<"alerts.events">["data"][number];
