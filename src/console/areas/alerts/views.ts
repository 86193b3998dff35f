import type { Output } from "../../api/call.ts";

/** An alert rule and an event of a rule, as the gateway returns them. */
export type Alert = Output<"alerts.list">["data"][number];
export type AlertEventView = Output<"alerts.events">["data"][number];
