/** The page's policy allows pictures of its own origin alone, and a link may begin with another name of it. */
export function ownPath(url: string): string {
  const from = url.indexOf("/files/");
  return from < 0 ? url : url.slice(from);
}

/** The name of the file behind a link. */
export function fileNameOf(url: string): string {
  return url.startsWith("data:") ? "picture" : (/([^/?]+)(?:\?|$)/.exec(url)?.[1] ?? "picture");
}
