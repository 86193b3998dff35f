/**
 * Shows words of the gateway to a caller, of a vendor, or about the configuration file, exactly as they are. They are
 * never translated, so the label says whose words they are.
 */
export function Quoted({ label, children }: { label: string; children: string }) {
  return (
    <span className="min-w-0 break-words">
      {label} <q lang="en">{children}</q>
    </span>
  );
}
