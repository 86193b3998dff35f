/** A placeholder while data is read. Give it the final size, so that nothing moves afterwards. */
export function Skeleton({ className = "h-4 w-full" }: { className?: string }) {
  return <span aria-hidden className={`block animate-pulse rounded-md bg-sunken ${className}`} />;
}
