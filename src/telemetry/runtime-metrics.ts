import { readdirSync, readFileSync } from "node:fs";
import { systemClock } from "../lib/clock.ts";
import { COMMIT, VERSION } from "../lib/version.ts";
import { labelsOf } from "./counters.ts";
import { counter, gauge, type MetricFamily } from "./metrics.ts";
import { METRICS } from "./metrics.table.ts";

const MICROSECONDS = 1e6;
const MS = 1_000;

/** Metrics of the program and its process. Prometheus' client libraries also use the names with `process_`. */
export class RuntimeMetrics {
  readonly #startedAt = systemClock.now() / MS - process.uptime();

  families(): MetricFamily[] {
    const { user, system } = process.cpuUsage();
    const program = labelsOf(METRICS.gateway_build_info.labels, [VERSION, COMMIT]);
    return [
      gauge("gateway_build_info", [["", program, 1]]),
      counter("process_cpu_seconds_total", (user + system) / MICROSECONDS),
      gauge("process_start_time_seconds", this.#startedAt),
      gauge("process_resident_memory_bytes", process.memoryUsage.rss()),
      gauge("process_open_fds", openFiles() ?? []),
      gauge("process_max_fds", maxFiles() ?? []),
    ];
  }
}

/** Returns the number of open files; null when the system has no `/proc`. */
function openFiles(): number | null {
  try {
    // One of the listed files is the open folder itself.
    return readdirSync("/proc/self/fd").length - 1;
  } catch {
    return null;
  }
}

function maxFiles(): number | null {
  try {
    const [, limit] = /^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    return limit === undefined ? null : Number(limit);
  } catch {
    return null;
  }
}
