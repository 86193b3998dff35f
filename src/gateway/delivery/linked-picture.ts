import { GatewayError } from "../../domain/gateway-error.ts";
import type { BlobStore, Links, StoredPicture } from "./stored-blobs.ts";

const RETRY_SECONDS = 5;

/**
 * Returns the picture of a link with a valid signature; null when the link or the picture has expired. Throws a 503
 * while the picture may not have arrived yet: after an outage of the object storage another machine still uploads what
 * it has kept.
 */
export async function linkedPicture(
  { links, blobs }: { links: Links; blobs: BlobStore },
  verdict: "valid" | "expired",
  { name, expires }: { name: string; expires: string | null },
): Promise<StoredPicture | null> {
  if (verdict === "expired") return null;
  const picture = await blobs.get(name);
  if (picture || !links.isNew(expires)) return picture;
  throw new GatewayError("dependency_unavailable", "The picture is not here yet. Retry shortly.", {
    retryAfterSeconds: RETRY_SECONDS,
  });
}
