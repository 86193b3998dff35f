import type { Output } from "../../api/call.ts";

/** Records of the page of alerts, as the gateway returns them. */
export type Alert = Output<"alerts.list">["data"][number];
export type AlertEventView = Output<"alerts.events">["data"][number];
