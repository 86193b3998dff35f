const STORED = "gateway.zone";

/** The time zone for shown times and for the days of reports: UTC, or the browser's zone. */
export type Zone = "utc" | "local";

export function currentZone(): Zone {
  return localStorage.getItem(STORED) === "local" ? "local" : "utc";
}

/** Stores the zone and reloads the page, because all its times change. */
export function chooseZone(zone: Zone): void {
  localStorage.setItem(STORED, zone);
  location.reload();
}

/** Returns the name of the chosen zone for `Intl`. */
export function zoneName(): string {
  return currentZone() === "utc" ? "UTC" : Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Returns the day of a time as `2026-06-15`, in the chosen zone. */
export function dayOf(at: number): string {
  const date = new Date(at);
  if (currentZone() === "utc") return date.toISOString().slice(0, 10);
  const parts = [date.getFullYear(), date.getMonth() + 1, date.getDate()];
  return parts.map((part) => String(part).padStart(2, "0")).join("-");
}

/** Returns the start of the day that is `later` days after `day`, in the chosen zone and in Unix milliseconds. */
export function startOfDay(day: string, later = 0): number {
  const [year = 0, month = 1, date = 1] = day.split("-").map(Number);
  return currentZone() === "utc"
    ? Date.UTC(year, month - 1, date + later)
    : new Date(year, month - 1, date + later).getTime();
}
