import type { Settings } from "./config/index.ts";

/** The running settings, which a reload replaces. `limits` and `timeouts` always give the values of now. */
export class LiveSettings {
  current: Settings;
  readonly limits: Settings["limits"];
  readonly timeouts: Settings["timeouts"];

  constructor(settings: Settings) {
    this.current = settings;
    const now = (): Settings => this.current;
    this.limits = {
      get organization() {
        return now().limits.organization;
      },
      get key() {
        return now().limits.key;
      },
    };
    this.timeouts = {
      get text() {
        return now().timeouts.text;
      },
      get image() {
        return now().timeouts.image;
      },
    };
  }
}
