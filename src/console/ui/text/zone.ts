const STORED = "gateway.zone";

/** The time zone of shown times: UTC, or the browser's. Days of reports are UTC days in both cases. */
export type Zone = "utc" | "local";

export function currentZone(): Zone {
  return localStorage.getItem(STORED) === "local" ? "local" : "utc";
}

/** Stores the zone and loads the page again, because all its times change. */
export function chooseZone(zone: Zone): void {
  localStorage.setItem(STORED, zone);
  location.reload();
}

/** Returns the name of the chosen zone for `Intl`. */
export function zoneName(): string {
  return currentZone() === "utc" ? "UTC" : Intl.DateTimeFormat().resolvedOptions().timeZone;
}
