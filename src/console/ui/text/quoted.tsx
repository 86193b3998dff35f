/**
 * Shows a message of the gateway to a caller, of a vendor, or about the configuration file. The message stays unchanged
 * and is never translated, so the label says whose words the message contains.
 */
export function Quoted({ label, children }: { label: string; children: string }) {
  return (
    <span className="min-w-0 break-words">
      {label} <q lang="en">{children}</q>
    </span>
  );
}
