/**
 * Returns the processor time of this thread in milliseconds. Unlike wall time, it excludes other threads and programs.
 */
export function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
