import manifest from "../../package.json" with { type: "json" };

/** Of this program, as in its package manifest. */
export const VERSION: string = manifest.version;
