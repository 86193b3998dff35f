const STORED = "gateway.zone";

/** The zone that times of day are shown in: UTC, or that of the browser. Days of reports are UTC days in both. */
export type Zone = "utc" | "local";

export function currentZone(): Zone {
  return localStorage.getItem(STORED) === "local" ? "local" : "utc";
}

/** Loads the page again, as every time on it is another text. */
export function chooseZone(zone: Zone): void {
  localStorage.setItem(STORED, zone);
  location.reload();
}

/** The name of the chosen zone, as `Intl` takes it. */
export function zoneName(): string {
  return currentZone() === "utc" ? "UTC" : Intl.DateTimeFormat().resolvedOptions().timeZone;
}
