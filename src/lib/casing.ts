/** Converts `base_url` to `baseUrl`. */
export function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** Converts `baseUrl` to `base_url`. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/**
 * Returns a name in lower case. Characters that Unicode's simple case folding maps to ASCII become ASCII letters: the
 * long s and the Kelvin sign.
 */
export function foldCase(name: string): string {
  return name.toLowerCase().replaceAll("\u017f", "s");
}
