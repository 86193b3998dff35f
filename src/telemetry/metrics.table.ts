/** The declaration of a metric. The samples come from the code that measures it. */
export interface MetricDeclaration {
  type: "counter" | "gauge" | "histogram";
  labels: readonly string[];
  /** Description of the metric for the exposition text and the documents. */
  help: string;
}

/** Every metric of `/metrics`. */
export const METRICS = {
  gateway_requests_total: {
    type: "counter",
    labels: ["route", "outcome"],
    help: "Requests; the outcome is a status or an error code.",
  },
  gateway_model_requests_total: {
    type: "counter",
    labels: ["model", "organization", "outcome"],
    help: "Requests for models that exist; the outcome is a status or an error code.",
  },
  gateway_organization_requests_total: {
    type: "counter",
    labels: ["organization", "outcome"],
    help: "Requests with a key, also those refused before their model was known.",
  },
  gateway_request_duration_seconds: {
    type: "histogram",
    labels: ["route"],
    help: "Time from the request's header to the response's last byte.",
  },
  gateway_first_byte_seconds: {
    type: "histogram",
    labels: ["route", "model"],
    help: "Time from the request's header to a stream's first content.",
  },
  gateway_attempts_total: {
    type: "counter",
    labels: ["channel", "outcome"],
    help: "Calls to vendors.",
  },
  gateway_attempt_duration_seconds: {
    type: "histogram",
    labels: ["channel", "upstream_model"],
    help: "Time of a call to a vendor until its response began to be used, or failed.",
  },
  gateway_tokens_total: {
    type: "counter",
    labels: ["category", "model", "organization"],
    help: "Tokens used.",
  },
  gateway_images_total: {
    type: "counter",
    labels: ["model", "organization"],
    help: "Images delivered.",
  },
  gateway_charged_total: {
    type: "counter",
    labels: ["model", "organization", "channel", "currency"],
    help: "Charged amounts in units of the currency, rounded; the ledger is exact.",
  },
  gateway_metrics_folded_total: {
    type: "counter",
    labels: [],
    help: "Additions to series in which a label is `other`, because a metric had too many series.",
  },
  gateway_requests_running: {
    type: "gauge",
    labels: [],
    help: "Requests that run now, the scrape included.",
  },
  gateway_worker_restarts_total: {
    type: "counter",
    labels: [],
    help: "Restarts of this worker by its supervisor.",
  },
  gateway_revision: {
    type: "gauge",
    labels: [],
    help: "Number of the last administrative change that is in force here.",
  },
  gateway_configuration_reload_ok: {
    type: "gauge",
    labels: [],
    help: "0 while the newest configuration was refused and the one before it runs. Alert on 0.",
  },
  gateway_overload_step: {
    type: "gauge",
    labels: [],
    help: "0 serves everything, 1 no large bodies, 2 only probes. Alert above 0.",
  },
  gateway_free_disk_bytes: {
    type: "gauge",
    labels: [],
    help: "Free space for the data folder.",
  },
  gateway_event_loop_lag_seconds: {
    type: "gauge",
    labels: [],
    help: "Lateness of timers, the smallest of the last three samples.",
  },
  gateway_closed_connections_total: {
    type: "counter",
    labels: [],
    help: "Connections without a request that were closed to stay within limits.",
  },
  gateway_log_lines_lost_total: {
    type: "counter",
    labels: [],
    help: "Lines of the log that standard output did not take. Alert when it grows.",
  },
  gateway_ledger_backlog: {
    type: "gauge",
    labels: [],
    help: "Charges not yet posted to the ledger. Alert when it grows.",
  },
  gateway_ledger_export_lag_seconds: {
    type: "gauge",
    labels: [],
    help: "Time since the moment up to which the ledger is in files for a warehouse; 0 without an export.",
  },
  gateway_ledger_export_failures_total: {
    type: "counter",
    labels: [],
    help: "Files of ledger entries that could not be written; each is tried again within a minute.",
  },
  gateway_recovered_charges_total: {
    type: "counter",
    labels: [],
    help: "Charges in the journals of processes that had ended.",
  },
  gateway_restored_charges_total: {
    type: "counter",
    labels: [],
    help: "Charges posted again because the database had gone back in time. Alert above 0.",
  },
  gateway_journal_quarantined_files: {
    type: "gauge",
    labels: [],
    help: "Journal files that cannot be read, in `journal/quarantine`. Alert above 0.",
  },
  gateway_journal_writable: {
    type: "gauge",
    labels: [],
    help: "0 while the disk refuses charges: new requests are refused. Alert at 0.",
  },
  gateway_live_processes: {
    type: "gauge",
    labels: [],
    help: "Live gateway processes on the database, of all machines.",
  },
  gateway_database_up: {
    type: "gauge",
    labels: [],
    help: "0 while the database is unavailable or damaged.",
  },
  gateway_object_storage_up: {
    type: "gauge",
    labels: [],
    help: "0 while object storage is configured and unavailable.",
  },
  gateway_pending_images: {
    type: "gauge",
    labels: [],
    help: "Images on the local disk that wait for the object storage.",
  },
  gateway_ledger_refused_entries: {
    type: "gauge",
    labels: [],
    help: "Charges that the database has refused for good, in `journal/refused.log`. Alert above 0.",
  },
  gateway_ledger_differences: {
    type: "gauge",
    labels: [],
    help: "Differences between ledger and budgets found by the last `ledger verify`. Alert above 0.",
  },
  gateway_ledger_verified_timestamp_seconds: {
    type: "gauge",
    labels: [],
    help: "Unix time of the last `ledger verify`; 0 is never.",
  },
  gateway_ejected_targets: {
    type: "gauge",
    labels: [],
    help: "Targets out of service.",
  },
  gateway_unusable_channels: {
    type: "gauge",
    labels: [],
    help: "Channels of the database that cannot be used here. Alert above 0.",
  },
  gateway_limits_degraded: {
    type: "gauge",
    labels: [],
    help: "1 while Redis is configured and unavailable: each process counts limits by itself.",
  },
  gateway_snapshot_age_seconds: {
    type: "gauge",
    labels: [],
    help: "Time since the database last answered; above 900 requests are refused.",
  },
  gateway_target_up: {
    type: "gauge",
    labels: ["channel", "upstream_model"],
    help: "0 while the target is out of service for everyone in this process.",
  },
  gateway_channel_calls_running: {
    type: "gauge",
    labels: ["channel"],
    help: "Running calls of a channel that has `max_concurrent`.",
  },
  gateway_channel_calls_max: {
    type: "gauge",
    labels: ["channel"],
    help: "The channel's `max_concurrent`.",
  },
  gateway_limit: {
    type: "gauge",
    labels: ["organization", "limit"],
    help: "Limits a minute in force: `requests_per_minute`, `tokens_per_minute`, `images_per_minute`.",
  },
  gateway_budget_left: {
    type: "gauge",
    labels: ["budget", "organization", "currency"],
    help: "What is left of the budget in its period, in units of the currency, not below 0. Of the 1,000 budgets that are spent most, at most 10 s old.",
  },
  gateway_budget_amount: {
    type: "gauge",
    labels: ["budget", "organization", "currency"],
    help: "The budget's amount in units of the currency, of the same budgets.",
  },
  gateway_database_call_seconds: {
    type: "histogram",
    labels: ["operation"],
    help: "Time of a call to the database with its wait for a connection: `read`, `transaction`, `insert`, `persist`; `post` adds charges to the ledger.",
  },
  gateway_redis_call_seconds: {
    type: "histogram",
    labels: [],
    help: "Time of a call to Redis.",
  },
  gateway_webhooks_total: {
    type: "counter",
    labels: ["outcome"],
    help: "Attempts at webhooks: `delivered`, `retried`, `given_up`.",
  },
  gateway_mails_total: {
    type: "counter",
    labels: ["outcome"],
    help: "Attempts at mails: `delivered`, `retried`, `given_up`.",
  },
  gateway_jobs_queued: {
    type: "gauge",
    labels: ["organization"],
    help: "Jobs that wait, in the whole database.",
  },
  gateway_jobs_running: {
    type: "gauge",
    labels: ["organization"],
    help: "Jobs that run, in the whole database.",
  },
  gateway_jobs_oldest_seconds: {
    type: "gauge",
    labels: ["organization"],
    help: "Age of the oldest job that waits.",
  },
  gateway_jobs_ended_total: {
    type: "counter",
    labels: ["status", "type"],
    help: "Jobs that ended in this process; `type` is that of the error.",
  },
  gateway_job_pickup_seconds: {
    type: "histogram",
    labels: [],
    help: "Time from a job's submission to its first claim.",
  },
  gateway_request_log_dropped_total: {
    type: "counter",
    labels: [],
    help: "Requests left out of the request log to stay within its bounds.",
  },
  gateway_telemetry_dropped_total: {
    type: "counter",
    labels: [],
    help: "Records and spans that the OpenTelemetry collector did not get.",
  },
  gateway_build_info: {
    type: "gauge",
    labels: ["version", "commit"],
    help: "Always 1; its labels name the version and commit of the program.",
  },
  process_cpu_seconds_total: {
    type: "counter",
    labels: [],
    help: "Processor time of all threads.",
  },
  process_start_time_seconds: {
    type: "gauge",
    labels: [],
    help: "Start of the process, Unix time.",
  },
  process_resident_memory_bytes: {
    type: "gauge",
    labels: [],
    help: "Resident memory.",
  },
  process_open_fds: {
    type: "gauge",
    labels: [],
    help: "Open files and connections (Linux).",
  },
  process_max_fds: {
    type: "gauge",
    labels: [],
    help: "The most files and connections that may be open (Linux).",
  },
} as const satisfies Record<string, MetricDeclaration>;

export type MetricName = keyof typeof METRICS;

/** Names of the metrics of one type. */
export type MetricsOfType<Type extends MetricDeclaration["type"]> = {
  [Name in MetricName]: (typeof METRICS)[Name]["type"] extends Type ? Name : never;
}[MetricName];
