/** A placeholder while data is being read. Give it the size of the data, so that nothing moves later. */
export function Skeleton({ className = "h-4 w-full" }: { className?: string }) {
  return <span aria-hidden className={`block animate-pulse rounded-md bg-sunken ${className}`} />;
}
