import type { Output } from "../../api/call.ts";

/** What the page of alerts shows, as the gateway returns it. */
export type Alert = Output<"alerts.list">["data"][number];
export type AlertEvent = Output<"alerts.events">["data"][number];
