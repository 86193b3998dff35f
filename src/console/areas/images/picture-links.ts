/**
 * Returns the path of a link to a picture. The origin in the link may differ from the console's, and the console's
 * content security policy allows no pictures of other origins.
 */
export function ownPath(url: string): string {
  const from = url.indexOf("/files/");
  return from < 0 ? url : url.slice(from);
}

/** Returns the name of the file to which a link leads; `picture` for a `data:` URL and for a link without a name. */
export function fileNameOf(url: string): string {
  return url.startsWith("data:") ? "picture" : (/([^/?]+)(?:\?|$)/.exec(url)?.[1] ?? "picture");
}
