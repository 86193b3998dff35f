/**
 * Shows words of the gateway to a caller, or of a vendor, exactly as they were sent. They are never translated, so the
 * label says whose words they are.
 */
export function Quoted({ label, children }: { label: string; children: string }) {
  return (
    <span className="min-w-0 break-words">
      {label} <q lang="en">{children}</q>
    </span>
  );
}
